import { type Family, groupResource, Metrics, type Series } from '@crosstie/kube'
import type { Informers } from '../informer/informers.js'
import type { WorkQueue } from '../workqueue/queue.js'

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60]

/** Metrics of the reconciliation loops. */
export class LoopMetrics {
  readonly #seconds: Family
  readonly #failures: Family
  readonly #series = new Map<string, { seconds: Series; failures: Series }>()

  /** Unregisters the collection, so that stopped controllers are not referenced. */
  readonly close: () => void

  constructor(metrics: Metrics = new Metrics(), queue: WorkQueue, informers: Informers) {
    this.#seconds = metrics.histogram(
      'crosstie_reconcile_duration_seconds',
      'Duration of reconciliations.',
      ['controller'],
      SECONDS,
    )
    this.#failures = metrics.counter('crosstie_reconcile_failures_total', 'Reconciliations that threw an error.', [
      'controller',
    ])
    const depth = metrics.gauge('crosstie_queue_depth', 'Objects in the queue, by state.', ['controller', 'state'])
    const watched = metrics.gauge('crosstie_watched_objects', 'Objects in the caches of informers.', ['resource'])
    const stop = metrics.onCollect(() => {
      depth.clear()
      watched.clear()
      for (const name of this.#series.keys()) {
        for (const [state, count] of Object.entries(queue.depth(name))) depth.with(name, state).set(count)
      }
      for (const { type, cache } of informers.all()) watched.with(groupResource(type)).set(cache.size)
    })
    this.close = () => {
      stop()
      depth.clear()
      watched.clear()
    }
  }

  describe(controller: string): void {
    this.#series.set(controller, {
      seconds: this.#seconds.with(controller),
      failures: this.#failures.with(controller),
    })
  }

  forget(controller: string): void {
    this.#series.delete(controller)
  }

  reconciled(controller: string, seconds: number): void {
    this.#series.get(controller)?.seconds.observe(seconds)
  }

  failed(controller: string): void {
    this.#series.get(controller)?.failures.inc()
  }
}
