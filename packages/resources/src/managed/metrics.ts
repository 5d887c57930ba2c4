import { type Condition, conditionsOf, groupResource, type KubeObject, type Metrics, type Series } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import type { ManagedMetrics } from './runtime.js'

/** The metrics of a process survive a second term as leader. */
const counted = new WeakMap<Metrics, ManagedMetrics>()

/** Registers the Prometheus metrics of managed resources, once for each registry. */
export function managedMetrics(metrics: Metrics): ManagedMetrics {
  const known = counted.get(metrics)
  if (known) return known
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
  // Every reconcile increments a counter. A lookup of the series by labels would cost more than the increment.
  const ends = new Bound((outcome, { group, kind }) => reconciles.with(group, kind, outcome))
  const done = new Bound((call, { group, kind }) => calls.with(group, kind, call, 'false'))
  const failures = new Bound((call, { group, kind }) => calls.with(group, kind, call, 'true'))
  const seen = new Map<string, Set<string>>()
  const managed: ManagedMetrics = {
    reconciled: (kind, outcome) => ends.of(kind, outcome).inc(),
    observed({ type }, uid) {
      const { group, kind } = type
      let uids = seen.get(groupResource(type))
      if (!uids) {
        uids = new Set()
        seen.set(groupResource(type), uids)
      }
      const before = uids.size
      if (uids.add(uid).size > before) observed.with(group, kind).inc()
    },
    gone: ({ type }, uid) => void seen.get(groupResource(type))?.delete(uid),
    called: (kind, call, failed) => (failed ? failures : done).of(kind, call).inc(),
    ready: ({ type: { group, kind } }, seconds) => ready.with(group, kind).observe(seconds),
    drifted: ({ type: { group, kind } }, seconds) => drift.with(group, kind).inc(seconds),
  }
  counted.set(metrics, managed)
  return managed
}

/** Caches the series of a kind by one label value. */
class Bound {
  readonly #series = new WeakMap<ManagedKind, Map<string, Series>>()

  constructor(private readonly find: (word: string, type: ManagedKind['type']) => Series) {}

  of(kind: ManagedKind, word: string): Series {
    const known = this.#series.get(kind)?.get(word)
    if (known) return known
    const series = this.find(word, kind.type)
    this.#series.set(kind, (this.#series.get(kind) ?? new Map<string, Series>()).set(word, series))
    return series
  }
}

function reasonOf(conditions: readonly Condition[], type: string, status: string): string | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === status)?.reason
}

/**
 * Reports gauges from the conditions of managed resources on each collection. Returns a function that stops the
 * reporting and clears the gauges.
 */
export function countStates(metrics: Metrics, objects: () => Iterable<readonly [ManagedKind, KubeObject]>): () => void {
  const drifted = metrics.gauge(
    'crosstie_managed_drifted',
    'Managed resources whose external resource differs from what is wanted, by why it is not corrected.',
    ['group', 'kind', 'decision'],
  )
  const awaiting = metrics.gauge(
    'crosstie_managed_awaiting_approval',
    'Managed resources that wait for somebody to approve their plan, by whether an approval went stale.',
    ['group', 'kind', 'reason'],
  )
  const clear = () => {
    drifted.clear()
    awaiting.clear()
  }
  const stop = metrics.onCollect(() => {
    clear()
    for (const [{ type }, object] of objects()) {
      const conditions = conditionsOf(object)
      const drift = reasonOf(conditions, 'Drifted', 'True')
      if (drift) drifted.with(type.group, type.kind, drift).inc()
      const approval = reasonOf(conditions, 'Approved', 'False')
      if (approval) awaiting.with(type.group, type.kind, approval).inc()
    }
  })
  return () => {
    stop()
    clear()
  }
}
