import type { KubeObject } from '@crosstie/kube'

/**
 * The object that an event is about. A copy of the reference, because the object itself would stay in memory as
 * long as the event is remembered.
 */
export interface InvolvedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** Returns the reference of an object for its events. */
export function involvedObject({ apiVersion, kind, metadata }: KubeObject): InvolvedObject {
  const { name = '', namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, name, ...(namespace ? { namespace } : {}), uid, resourceVersion }
}

/** Something that happened to an object and is to be reported as an Event. */
export interface EventOccurrence {
  readonly object: InvolvedObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** One Event object. Repeated occurrences increase its count. */
export interface ReportedEvent extends EventOccurrence {
  readonly name: string
  count: number
  readonly first: number
  last: number
}

/** This number of events that differ only in their message within the interval is combined into one. */
const SIMILAR_MAX = 10
const SIMILAR_MS = 600_000
/** An object may emit this number of events at once, then one per refill interval. */
const BURST = 25
const REFILL_MS = 300_000
const LRU_SIZE = 4096

interface Similar {
  messages: Set<string>
  since: number
}

interface TokenBucket {
  tokens: number
  filled: number
}

/** Aggregates repeated events and limits their rate per object, with the limits of the Kubernetes event recorder. */
export class Correlator {
  readonly #reported = new LruMap<ReportedEvent>(LRU_SIZE)
  readonly #similar = new LruMap<Similar>(LRU_SIZE)
  readonly #buckets = new LruMap<TokenBucket>(LRU_SIZE)
  #sequence = 0

  /** Returns the Event to create or update; undefined if the rate limit is exceeded. */
  correlate(occurrence: EventOccurrence, now: number): ReportedEvent | undefined {
    const { object, type, reason } = occurrence
    const objectId = `${object.kind} ${object.uid ?? `${object.namespace}/${object.name}`}`
    if (!this.#allows(objectId, now)) return undefined
    const group = `${objectId}\n${type}\n${reason}`
    const combined = this.#combines(group, occurrence.message, now)
    const message = combined ? `(combined from similar events): ${occurrence.message}` : occurrence.message
    const key = combined ? group : `${group}\n${occurrence.message}`
    const known = this.#reported.get(key)
    if (known && now - known.last < SIMILAR_MS) {
      known.count++
      known.last = now
      if (known.message === message) return known
      const renewed = { ...known, message }
      this.#reported.set(key, renewed)
      return renewed
    }
    const fresh: ReportedEvent = {
      ...occurrence,
      message,
      name: this.#name(object, now),
      count: 1,
      first: now,
      last: now,
    }
    this.#reported.set(key, fresh)
    return fresh
  }

  /** The object's name and the time in hexadecimal, as Kubernetes names events. */
  #name({ name }: InvolvedObject, now: number): string {
    this.#sequence = (this.#sequence + 1) % 0x100000
    return `${name}.${Math.floor(now).toString(16)}${this.#sequence.toString(16).padStart(5, '0')}`
  }

  #allows(objectId: string, now: number): boolean {
    const bucket = this.#buckets.get(objectId) ?? { tokens: BURST, filled: now }
    bucket.tokens = Math.min(BURST, bucket.tokens + (now - bucket.filled) / REFILL_MS)
    bucket.filled = now
    this.#buckets.set(objectId, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  #combines(group: string, message: string, now: number): boolean {
    const known = this.#similar.get(group)
    if (!known || now - known.since > SIMILAR_MS) {
      this.#similar.set(group, { messages: new Set([message]), since: now })
      return false
    }
    known.since = now
    if (known.messages.size < SIMILAR_MAX) known.messages.add(message)
    return known.messages.size >= SIMILAR_MAX
  }
}

/** A map with a size limit that evicts the least recently used entry. */
class LruMap<T> {
  readonly #limit: number
  readonly #values = new Map<string, T>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#limit) this.#values.delete(this.#values.keys().next().value!)
  }
}
