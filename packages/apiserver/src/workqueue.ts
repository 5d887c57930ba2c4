import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 30_000

/** Waits; tests put their own in its place. Ends early, without an error, when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>

export const sleep: Sleep = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}

/**
 * Keys that wait to be worked on, one after the other, each as long as it is
 * asked for again; one that fails is tried again later, ever later.
 */
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
    setMaxListeners(0, this.#stopping.signal) // Every key that waits listens.
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

  /** Resolves when the key that is worked on is done; no other is begun. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    // Whoever woke us is in the middle of publishing a batch.
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
