import {
  type Client,
  type Clock,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  Metrics,
  type ResourceType,
  type Series,
  StatusError,
  systemClock,
  timestamp,
} from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import { sharedAbortController, sleep } from '../sleep.js'
import { Correlator, involvedObject, type ReportedEvent } from './correlate.js'

const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }

/** Options of EventRecorder. */
export interface RecorderOptions {
  readonly client: Client
  /** The reporting component, such as `crosstie`. */
  readonly component: string
  readonly clock?: Clock
  readonly metrics?: Metrics
  readonly log?: Log
}

/** Events waiting to be written. Further events are dropped and counted. */
const BACKLOG_MAX = 8_192
const CONCURRENT_WRITES = 32
const ATTEMPTS = 4
const RETRY_MS = 1_000
const NAME_MAX = 253

/**
 * Writes Events in the background. `event` never blocks and never fails: events are best effort and must not delay
 * a reconciliation.
 */
export class EventRecorder {
  readonly #client: Client
  readonly #component: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #dropped: Series
  readonly #correlator = new Correlator()
  /** By name, so that repetitions before the first write become a single write. */
  readonly #backlog = new Map<string, ReportedEvent>()
  readonly #stop = sharedAbortController()
  #writing = 0
  #scheduled = false
  #idle: () => void = () => {}

  constructor(options: RecorderOptions) {
    this.#client = options.client
    this.#component = options.component
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
    const metrics = options.metrics ?? new Metrics()
    this.#dropped = metrics.counter('crosstie_events_dropped_total', 'Events that were dropped and not written.').with()
  }

  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.#stop.signal.aborted) return
    const reported = this.#correlator.correlate(
      { object: involvedObject(object), type, reason, message },
      this.#clock.now(),
    )
    if (!reported || (this.#backlog.size >= BACKLOG_MAX && !this.#backlog.has(reported.name))) {
      this.#dropped.inc()
      return
    }
    this.#backlog.set(reported.name, reported)
    this.#schedule()
  }

  /** Writes waiting events within the grace period and accepts no more. */
  async stop(graceMs = 2_000): Promise<void> {
    const grace = new AbortController()
    if (this.#backlog.size > 0 || this.#writing > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#idle = resolve
      })
      await Promise.race([idle, sleep(graceMs, grace.signal)])
      grace.abort()
    }
    this.#stop.abort()
    this.#backlog.clear()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#writing < CONCURRENT_WRITES) {
        const [first] = this.#backlog
        if (!first) break
        this.#backlog.delete(first[0])
        void this.#deliver(first[1])
      }
    })
  }

  async #deliver(reported: ReportedEvent): Promise<void> {
    this.#writing++
    for (let attempt = 1; attempt <= ATTEMPTS && !this.#stop.signal.aborted; attempt++) {
      try {
        await this.#write(reported)
        break
      } catch (error) {
        if (isFinal(error) || attempt === ATTEMPTS) {
          this.#dropped.inc()
          this.#log.debug('cannot write an event', { reason: reported.reason, object: reported.object.name, error })
          break
        }
        await sleep(RETRY_MS * attempt, this.#stop.signal)
      }
    }
    this.#writing--
    if (this.#backlog.size > 0) this.#schedule()
    else if (this.#writing === 0) this.#idle()
  }

  async #write(reported: ReportedEvent): Promise<void> {
    const { signal } = this.#stop
    const namespace = reported.object.namespace ?? 'default'
    if (reported.count > 1) {
      const patch = { count: reported.count, lastTimestamp: timestamp(reported.last), message: reported.message }
      try {
        const key = { namespace, name: nameOf(reported) }
        await this.#client.patch(EVENTS, key, { type: 'merge', patch }, { signal })
        return
      } catch (error) {
        // The Event expired or was never written. Create it again.
        if (!isNotFound(error)) throw error
      }
    }
    try {
      await this.#client.create(EVENTS, this.#eventOf(reported, namespace), { signal })
    } catch (error) {
      // An earlier attempt succeeded, but its response was lost.
      if (!isAlreadyExists(error)) throw error
    }
  }

  #eventOf(reported: ReportedEvent, namespace: string): KubeObject {
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: nameOf(reported), namespace },
      involvedObject: reported.object,
      type: reported.type,
      reason: reported.reason,
      message: reported.message,
      count: reported.count,
      firstTimestamp: timestamp(reported.first),
      lastTimestamp: timestamp(reported.last),
      source: { component: this.#component },
      reportingComponent: this.#component,
      reportingInstance: '',
    }
  }
}

function nameOf({ name }: ReportedEvent): string {
  return name.length <= NAME_MAX ? name : name.slice(name.length - NAME_MAX).replace(/^[^a-z0-9]+/, '')
}

/** Whether a retry cannot succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof StatusError && error.code >= 400 && error.code < 500 && error.code !== 429
}
