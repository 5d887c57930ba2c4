import { type Client, equal, isObject, type KubeObject, type LabelSelector, selectorOf } from '@crosstie/kube'
import { type Sleep, WorkQueue } from '../workqueue.js'
import { Followed } from './follow.js'
import { CLUSTER_ROLES } from './kinds.js'

const FIELD_MANAGER = 'clusterrole-aggregation-controller'

/** Returns the rules that the aggregationRule of a ClusterRole selects. Undefined when the role has none. */
export function aggregatedRules(role: KubeObject, all: Iterable<KubeObject>): readonly unknown[] | undefined {
  const aggregation = role['aggregationRule']
  if (!isObject(aggregation)) return undefined
  const selectors = Array.isArray(aggregation['clusterRoleSelectors']) ? aggregation['clusterRoleSelectors'] : []
  const candidates = [...all]
    .filter((candidate) => candidate.metadata.name !== role.metadata.name)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const rules: unknown[] = []
  for (const selector of selectors) {
    const selected = selectorOf(selector as LabelSelector)
    for (const candidate of candidates) {
      if (!selected.matches(candidate.metadata.labels ?? {})) continue
      for (const rule of rulesIn(candidate)) {
        if (!rules.some((known) => equal(known, rule))) rules.push(rule)
      }
    }
  }
  return rules
}

function rulesIn(role: KubeObject): readonly unknown[] {
  return Array.isArray(role['rules']) ? role['rules'] : []
}

/** Dependencies of a controller of the server. */
export interface ControllerOptions {
  readonly client: Client
  /** Called for a failure that will be retried. */
  readonly failed: (what: string, error: unknown) => void
  readonly sleep?: Sleep
}

/** Keeps the rules of aggregated ClusterRoles in sync with the roles that they select. Runs until the signal aborts. */
export async function runAggregation({ client, failed, sleep }: ControllerOptions, signal: AbortSignal): Promise<void> {
  const roles = new Followed()
  const reconcile = async (name: string) => {
    const role = roles.get(undefined, name)
    if (!role || role.metadata.deletionTimestamp) return
    const rules = aggregatedRules(role, roles.values())
    if (!rules || equal(rules, rulesIn(role))) return
    const applied = { apiVersion: role.apiVersion, kind: role.kind, metadata: { name }, rules }
    await client.apply(CLUSTER_ROLES, applied, { fieldManager: FIELD_MANAGER, force: true, signal })
  }
  const work = new WorkQueue(reconcile, (name, error) => failed(`aggregate ClusterRole ${name}`, error), {
    signal,
    pause: sleep,
  })
  // Any aggregated role may select the changed one. There are few of them, and the decision is cheap.
  const changed = () => {
    for (const role of roles.values()) if (role['aggregationRule']) work.add(role.metadata.name!)
  }
  await roles.run(client, CLUSTER_ROLES, {}, changed, signal, sleep)
}
