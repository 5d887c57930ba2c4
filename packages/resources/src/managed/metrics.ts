import type { Condition, Metrics } from '@crosstie/kube'
import type { ManagedKind } from '../definition/define.js'
import type { ManagedMetrics } from './kit.js'

/** Counts about managed resources, in Prometheus' words. */
export function managedMetrics(metrics: Metrics): ManagedMetrics {
  const reconciles = metrics.counter(
    'crosstie_managed_reconciles_total',
    'Reconciles of managed resources, by how they ended.',
    ['group', 'kind', 'outcome'],
  )
  const observed = metrics.gauge(
    'crosstie_managed_observed',
    'Distinct managed resources whose external resource was observed since the start.',
    ['group', 'kind'],
  )
  const calls = metrics.counter(
    'crosstie_external_calls_total',
    'Calls to providers, by what was called and whether it failed.',
    ['group', 'kind', 'call', 'failed'],
  )
  const ready = metrics.histogram(
    'crosstie_managed_ready_seconds',
    'From the creation of a managed resource until it was ready.',
    ['group', 'kind'],
    [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
  )
  const drift = metrics.counter(
    'crosstie_managed_drift_seconds_total',
    'For how long external resources differed from what was wanted, counted when it ends.',
    ['group', 'kind'],
  )
  const differing = metrics.gauge(
    'crosstie_managed_drifted',
    'Managed resources whose external resource differs from what is wanted, by why it is not corrected.',
    ['group', 'kind', 'decision'],
  )
  const awaiting = metrics.gauge(
    'crosstie_managed_awaiting_approval',
    'Managed resources that wait for somebody to approve their plan, by whether an approval went stale.',
    ['group', 'kind', 'reason'],
  )
  const drifts = new States((kind, reason, by) => differing.with(kind.type.group, kind.type.kind, reason).inc(by))
  const approvals = new States((kind, reason, by) => awaiting.with(kind.type.group, kind.type.kind, reason).inc(by))
  const seen = new Map<string, Set<string>>()
  return {
    reconciled: ({ type: { group, kind } }, outcome) => reconciles.with(group, kind, outcome).inc(),
    observed({ type: { group, kind } }, uid) {
      let uids = seen.get(kind)
      if (!uids) {
        uids = new Set()
        seen.set(kind, uids)
      }
      const before = uids.size
      if (uids.add(uid).size > before) observed.with(group, kind).inc()
    },
    called: ({ type: { group, kind } }, call, failed) => calls.with(group, kind, call, String(failed)).inc(),
    ready: ({ type: { group, kind } }, seconds) => ready.with(group, kind).observe(seconds),
    drifted: ({ type: { group, kind } }, seconds) => drift.with(group, kind).inc(seconds),
    state(kind, uid, conditions) {
      drifts.set(kind, uid, reasonOf(conditions, 'Drifted', 'True'))
      approvals.set(kind, uid, reasonOf(conditions, 'Approved', 'False'))
    },
    forget(kind, uid) {
      drifts.set(kind, uid, undefined)
      approvals.set(kind, uid, undefined)
    },
  }
}

function reasonOf(conditions: readonly Condition[], type: string, status: string): string | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === status)?.reason
}

/** Which objects are in which of several states, counted. */
class States {
  readonly #reasons = new Map<string, string>()

  constructor(private readonly count: (kind: ManagedKind, reason: string, by: number) => void) {}

  set(kind: ManagedKind, uid: string, reason: string | undefined): void {
    const held = this.#reasons.get(uid)
    if (held === reason) return
    if (held !== undefined) this.count(kind, held, -1)
    if (reason === undefined) this.#reasons.delete(uid)
    else {
      this.#reasons.set(uid, reason)
      this.count(kind, reason, 1)
    }
  }
}
