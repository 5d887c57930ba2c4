import {
  type Client,
  equal,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './bootstrap-roles.js'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, ROLE_BINDINGS, ROLES } from './kinds.js'

const SYSTEM_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'] as const

/** The field manager that kube-apiserver uses for its own objects. */
const FIELD_MANAGER = 'kube-apiserver'
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

/**
 * Creates the system namespaces and the default roles and bindings. Existing objects keep what they have: missing
 * rules, subjects, labels and annotations are added unless the object has
 * `rbac.authorization.kubernetes.io/autoupdate: "false"`.
 */
export async function bootstrap(client: Client, signal?: AbortSignal): Promise<void> {
  await Promise.all(SYSTEM_NAMESPACES.map((name) => ensureNamespace(client, name, signal)))
  // Bindings name roles, so the roles come first.
  await Promise.all([ensure(client, CLUSTER_ROLES, clusterRoles, signal), ensure(client, ROLES, roles, signal)])
  await Promise.all([
    ensure(client, CLUSTER_ROLE_BINDINGS, clusterRoleBindings, signal),
    ensure(client, ROLE_BINDINGS, roleBindings, signal),
  ])
}

async function ensureNamespace(client: Client, name: string, signal?: AbortSignal): Promise<void> {
  const found = await client.get(NAMESPACES, { name }, { signal }).catch(ignoring(isNotFound))
  if (!found) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    await client.create(NAMESPACES, object, { fieldManager: FIELD_MANAGER, signal }).catch(ignoring(isAlreadyExists))
  }
}

async function ensure(
  client: Client,
  type: ResourceType,
  wanted: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<void> {
  const { items } = await client.list(type, { signal })
  const known = new Map(items.map((item) => [nameOf(item), item]))
  const write = { fieldManager: FIELD_MANAGER, signal }
  await Promise.all(
    wanted.map(async (object) => {
      const current = known.get(nameOf(object))
      if (!current) {
        await client.create(type, object, write).catch(ignoring(isAlreadyExists))
        return
      }
      const step = reconciled(current, object)
      if (step === 'keep') return
      if (step === 'replace') {
        await client.delete(type, object.metadata as { name: string }, { signal })
        await client.create(type, object, write)
      } else {
        // Another client writes it at this moment. The next start checks it again.
        await client.update(type, step, write).catch(ignoring(isConflict))
      }
    }),
  )
}

/**
 * Returns what to do with an existing object: leave it, replace it (the role of a binding is immutable) or write
 * the returned object.
 */
export function reconciled(current: KubeObject, wanted: KubeObject): 'keep' | 'replace' | KubeObject {
  if (current.metadata.annotations?.[AUTO_UPDATE] === 'false') return 'keep'
  if (!equal(current['roleRef'], wanted['roleRef'])) return 'replace'
  const next = {
    ...current,
    metadata: {
      ...current.metadata,
      labels: { ...wanted.metadata.labels, ...current.metadata.labels },
      annotations: { ...wanted.metadata.annotations, ...current.metadata.annotations },
    },
    // The rules of an aggregated role belong to the aggregation controller.
    ...(wanted['aggregationRule'] ? withAggregation(current, wanted) : union('rules', current, wanted)),
    ...union('subjects', current, wanted),
  }
  return equal(next, current) ? 'keep' : next
}

function withAggregation(current: KubeObject, wanted: KubeObject): object {
  const listed = (role: KubeObject): readonly unknown[] => {
    const rule = role['aggregationRule'] as { clusterRoleSelectors?: unknown[] } | undefined
    return rule?.clusterRoleSelectors ?? []
  }
  const missing = listed(wanted).filter((selector) => !listed(current).some((known) => equal(known, selector)))
  return { aggregationRule: { clusterRoleSelectors: [...listed(current), ...missing] } }
}

function union(field: 'rules' | 'subjects', current: KubeObject, wanted: KubeObject): object {
  const want = wanted[field] as readonly unknown[] | undefined
  if (!want) return {}
  const have = (current[field] as readonly unknown[] | undefined) ?? []
  const missing = want.filter((item) => !have.some((known) => equal(known, item)))
  return missing.length === 0 ? {} : { [field]: [...have, ...missing] }
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`
