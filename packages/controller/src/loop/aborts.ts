import { getEventListeners } from 'node:events'

/** So many are kept for the next run; more are in use at once only in a rush. */
const SPARE_MAX = 512

/**
 * What runs are aborted with. A look at a settled object takes less work than
 * making and collecting a signal, which V8 lets grow old before it sees that
 * nobody needs it: so those that did not have to abort anything are used again.
 */
export class Aborts {
  readonly #spare: AbortController[] = []

  take(): AbortController {
    return this.#spare.pop() ?? new AbortController()
  }

  /** The run is over. A signal that has not aborted and that nobody listens to any more is as good as new. */
  giveBack(abort: AbortController): void {
    const { signal } = abort
    if (signal.aborted || this.#spare.length >= SPARE_MAX) return
    if (getEventListeners(signal, 'abort').length === 0) this.#spare.push(abort)
  }
}
