import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 30_000

/** Waits. Tests replace it. Resolves early, without an error, when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Waits with a timer that does not keep the process alive. */
export const sleep: Sleep = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}

/** A work queue with per-key deduplication and exponential back-off. Keys are processed one at a time. */
export class WorkQueue {
  readonly #pending = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #process: (key: string) => Promise<void>
  readonly #report: (key: string, error: unknown) => void
  readonly #pause: Sleep
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(
    process: (key: string) => Promise<void>,
    report: (key: string, error: unknown) => void,
    { signal, pause = sleep }: { readonly signal?: AbortSignal; readonly pause?: Sleep } = {},
  ) {
    this.#process = process
    this.#report = report
    this.#pause = pause
    setMaxListeners(0, this.#stopping.signal) // Every waiting key adds a listener.
    if (signal?.aborted) this.#stopping.abort()
    signal?.addEventListener('abort', () => this.#stopping.abort(), { once: true })
  }

  add(key: string): void {
    if (this.#stopped) return
    this.#pending.add(key)
    this.#running ??= this.#run()
  }

  addAfter(key: string, milliseconds: number): void {
    if (this.#stopped) return
    void this.#pause(milliseconds, this.#stopping.signal).then(() => this.add(key))
  }

  /** Resolves when the current key is done. No other key is started. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    // The caller is publishing a batch, so the work starts in the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    for (const key of this.#pending) {
      if (this.#stopped) break
      this.#pending.delete(key)
      try {
        await this.#process(key)
        this.#failures.delete(key)
      } catch (error) {
        if (!this.#stopped) this.#retry(key, error)
      }
    }
    this.#running = undefined
  }

  #retry(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#report(key, error)
    this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS))
  }
}
