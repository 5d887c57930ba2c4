import { getEventListeners } from 'node:events'

/** Limit of pooled controllers; more are in use only during bursts. */
const POOL_MAX = 512

/**
 * A pool of AbortControllers. Reconciling an object that is in sync is cheaper than allocating a signal, which V8
 * promotes to the old generation before it can be collected. Controllers that did not abort are therefore reused.
 */
export class AbortControllerPool {
  readonly #pooled: AbortController[] = []

  take(): AbortController {
    return this.#pooled.pop() ?? new AbortController()
  }

  /** Returns a controller to the pool if it has not aborted and has no listeners. */
  giveBack(abort: AbortController): void {
    const { signal } = abort
    if (signal.aborted || this.#pooled.length >= POOL_MAX) return
    if (getEventListeners(signal, 'abort').length === 0) this.#pooled.push(abort)
  }
}
