import type { Log } from '@crosstie/controller'
import {
  type Client,
  equal,
  ignoring,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false }
const ROLES: ResourceType = { ...rbac, kind: 'ClusterRole', resource: 'clusterroles' }
const BINDINGS: ResourceType = { ...rbac, kind: 'ClusterRoleBinding', resource: 'clusterrolebindings' }
const FIELD_MANAGER = 'crosstie'

/**
 * Installs a ClusterRole, or updates one that differs. A ClusterRoleBinding is
 * only created: its subjects are for administrators to change.
 */
export async function installRole(client: Client, role: KubeObject, log: Log, signal: AbortSignal): Promise<void> {
  const name = role.metadata.name!
  if (role.kind === BINDINGS.kind) {
    const created = await client.create(BINDINGS, role, { signal }).catch(ignoring(isAlreadyExists))
    if (created) log.info('installed a role binding', { binding: name })
    return
  }
  const found = await client.get(ROLES, { name }, { signal }).catch(ignoring(isNotFound))
  const labels = Object.entries(role.metadata.labels ?? {})
  const same =
    found &&
    labels.every(([label, value]) => found.metadata.labels?.[label] === value) &&
    // The rules of one that aggregates are the server's to write.
    (role['rules'] ? equal(found['rules'], role['rules']) : equal(found['aggregationRule'], role['aggregationRule']))
  if (same) return
  const { apiVersion: _, kind: __, ...rest } = role
  const object = { ...rest, metadata: { ...role.metadata, name } }
  await client.apply(ROLES, object, { fieldManager: FIELD_MANAGER, force: true, signal })
  log.info(found ? 'changed a role' : 'installed a role', { role: name })
}
