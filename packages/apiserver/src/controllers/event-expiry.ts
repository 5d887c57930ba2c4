import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { PreconditionError, type Stored } from '../store/store.js'

const PREFIX = '//events/'
const SWEEP_MS = 60_000
const BATCH = 500

/** Events are news: after their time they go, an hour by default as in Kubernetes. */
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
        // One of them was just counted again: it and its batch wait for the next sweep.
        if (!(error instanceof PreconditionError)) throw error
      }
    }
  }

  /**
   * Those whose time is over. What was written later tells of later news, so looking ends after a whole batch that is
   * still news: there may be very many, and reading them all would be most of the work of a server at rest.
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
 * When it was last told. Clocks differ a little, but a stamp that is further ahead than an event lives is nobody's time:
 * it would keep the event for years, and those that are written after it with it.
 */
function lastNews(event: KubeObject, ahead: number): number {
  const { lastTimestamp, eventTime, series, metadata } = event as KubeObject & {
    lastTimestamp?: string
    eventTime?: string
    series?: { lastObservedTime?: string }
  }
  const at = (time: string | undefined) => (time ? Date.parse(time) || 0 : 0)
  const told = [lastTimestamp, eventTime, series?.lastObservedTime].map(at)
  return Math.max(at(metadata.creationTimestamp), ...told.filter((time) => time <= ahead))
}
