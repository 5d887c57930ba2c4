import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../engine.js'
import { PreconditionError } from '../store/store.js'

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
    const { store, clock } = this.#engine
    const oldest = clock.now() - this.#ttlMs
    const expired = store.list(PREFIX).items.filter(({ object }) => lastNews(object) < oldest)
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
}

function lastNews(event: KubeObject): number {
  const { lastTimestamp, eventTime, series, metadata } = event as KubeObject & {
    lastTimestamp?: string
    eventTime?: string
    series?: { lastObservedTime?: string }
  }
  const times = [lastTimestamp, eventTime, series?.lastObservedTime, metadata.creationTimestamp]
  return Math.max(0, ...times.map((time) => (time ? Date.parse(time) || 0 : 0)))
}
