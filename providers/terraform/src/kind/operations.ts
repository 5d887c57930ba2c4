import type { KubeObject } from '@crosstie/kube'
import { UncertainError } from '@crosstie/resources/provider'

/**
 * Changes in progress, one at most for each object. A provider may take longer than a reconcile: the change goes on when
 * the reconcile ends, and later reconciles wait for it. To cancel it would leave a resource in an unknown state.
 */
export class Operations {
  readonly #running = new Map<string, Promise<unknown>>()

  /** Runs a change to its end, however long the caller waits. Throws an UncertainError when the caller gives up first. */
  async run<T>(managed: KubeObject, signal: AbortSignal, change: () => Promise<T>): Promise<T> {
    await this.idle(managed, signal)
    const uid = managed.metadata.uid ?? ''
    const running = change().finally(() => {
      if (this.#running.get(uid) === running) this.#running.delete(uid)
    })
    this.#running.set(uid, running)
    // A later reconcile reads the result from the stored state, so a failure without a waiting caller is not lost.
    running.catch(() => {})
    return await waiting(running, signal)
  }

  /** Resolves when no change of the object is in progress. */
  async idle(managed: KubeObject, signal: AbortSignal): Promise<void> {
    const running = this.#running.get(managed.metadata.uid ?? '')
    if (running)
      await waiting(
        running.catch(() => {}),
        signal,
      )
  }
}

async function waiting<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(new UncertainError('the provider is still at work on the last change'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    stop = () => signal.removeEventListener('abort', abort)
  })
  try {
    return await Promise.race([running, aborted])
  } finally {
    stop()
  }
}
