import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 30_000

/** Keys that wait to be worked on, each once; one that fails is tried again later, ever later. */
export class Work {
  readonly #pending = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #process: (key: string) => Promise<void>
  readonly #report: (key: string, error: unknown) => void
  #running: Promise<void> | undefined
  #stopped = false

  constructor(process: (key: string) => Promise<void>, report: (key: string, error: unknown) => void) {
    this.#process = process
    this.#report = report
  }

  add(key: string): void {
    if (this.#stopped) return
    this.#pending.add(key)
    this.#running ??= this.#run()
  }

  addAfter(key: string, milliseconds: number): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.add(key)
    }, milliseconds)
    timer.unref()
    this.#timers.add(timer)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#pending.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    await sleep(0) // Whoever woke us is in the middle of publishing a batch.
    for (const key of this.#pending) {
      if (this.#stopped) break
      this.#pending.delete(key)
      try {
        await this.#process(key)
        this.#failures.delete(key)
      } catch (error) {
        const failures = (this.#failures.get(key) ?? 0) + 1
        this.#failures.set(key, failures)
        this.#report(key, error)
        this.addAfter(key, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures))
      }
    }
    this.#running = undefined
    if (this.#pending.size > 0 && !this.#stopped) this.#running = this.#run()
  }
}
