import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { PreconditionError, type Stored } from '../store/store.js'

const PREFIX = '//events/'
const SWEEP_MS = 60_000
const BATCH = 500

/** Deletes events after their time to live, by default an hour as in Kubernetes. */
export class EventExpiry {
  readonly #engine: Engine
  readonly #ttlMs: number
  readonly #report: (key: string, error: unknown) => void
  #timer: NodeJS.Timeout | undefined

  constructor(engine: Engine, ttlMs: number, report: (key: string, error: unknown) => void) {
    this.#engine = engine
    this.#ttlMs = ttlMs
    this.#report = report
  }

  start(): void {
    this.#timer = setInterval(
      () => {
        this.sweep().catch((error: unknown) => this.#report('events', error))
      },
      Math.min(SWEEP_MS, this.#ttlMs),
    )
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
  }

  async sweep(): Promise<void> {
    const { store } = this.#engine
    const expired = this.#expired()
    for (let i = 0; i < expired.length; i += BATCH) {
      const batch = expired.slice(i, i + BATCH)
      try {
        await store.write(batch.map(({ key, revision }) => ({ do: 'delete', key, expect: revision })))
      } catch (error) {
        // An event of the batch was just updated. The batch waits for the next sweep.
        if (!(error instanceof PreconditionError)) throw error
      }
    }
  }

  /**
   * Returns expired events. They are read in the order of their writes, so the search stops after a whole batch of
   * events that are not expired. Reading all events would be most of the work of an idle server.
   */
  #expired(): readonly Stored[] {
    const { store, clock } = this.#engine
    const now = clock.now()
    const oldest = now - this.#ttlMs
    const ahead = now + this.#ttlMs
    const events = [...store.list(PREFIX).items].sort((a, b) => a.revision - b.revision)
    const expired: Stored[] = []
    for (let i = 0; i < events.length; i += BATCH) {
      const before = expired.length
      for (const event of events.slice(i, i + BATCH)) if (lastNews(event.object, ahead) < oldest) expired.push(event)
      if (expired.length === before) break
    }
    return expired
  }
}

/**
 * Returns the time of the last occurrence. A timestamp that is further ahead than the time to live is ignored,
 * because it would keep this event and those written after it for years.
 */
function lastNews(event: KubeObject, ahead: number): number {
  const { lastTimestamp, eventTime, series, metadata } = event as KubeObject & {
    lastTimestamp?: string
    eventTime?: string
    series?: { lastObservedTime?: string }
  }
  const at = (time: string | undefined) => (time ? Date.parse(time) || 0 : 0)
  const reported = [lastTimestamp, eventTime, series?.lastObservedTime].map(at)
  return Math.max(at(metadata.creationTimestamp), ...reported.filter((time) => time <= ahead))
}
