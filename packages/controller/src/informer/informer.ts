import {
  type Client,
  type Clock,
  findInChain,
  groupResource,
  isExpired,
  isNotFound,
  type KubeObject,
  type ListOptions,
  type ResourceType,
  StatusError,
  steadyClock,
  type WatchEvent,
} from '@crosstie/kube'
import { keyTextOf } from '../key.js'
import { type Log, silentLog } from '../log.js'
import { isEarlier } from '../revision.js'
import { sleep } from '../sleep.js'
import { backoffMs } from '../workqueue/backoff.js'
import { Cache, type IndexBy } from './cache.js'

/** What happened to an object, as far as the informer can tell: states in between may have been missed. */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: 'added'; readonly object: T; readonly initial: boolean }
  | { readonly type: 'changed'; readonly object: T; readonly before: T }
  | { readonly type: 'removed'; readonly object: T }

/** Gets every change in order. It must not throw and must not wait. */
export type Handler<T extends KubeObject = KubeObject> = (change: Change<T>) => void

export interface InformerOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Ask for the initial state as a stream of events; servers that cannot are asked for a list. */
  readonly watchList?: boolean
  /** How many objects a page of the initial list holds; absent: all in one. */
  readonly pageSize?: number
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Log
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'
const RETRY = { baseMs: 200, maxMs: 30_000 }
/** A watch that lived less long than this ended for no good reason: do not ask again at once. */
const SHORT_LIFE_MS = 1_000
/** A kind may be served a moment later than its definition says: so many refusals at the start are not news. */
const REFUSALS_AT_START = 3
/** Watches end after five to ten minutes, so that connections spread over servers again. */
const WATCH_SECONDS = 300

/**
 * Knows all objects of a kind: lists them once, then watches, from where it
 * left off after every interruption, and from a new list when the server no
 * longer remembers that far back.
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType
  readonly cache = new Cache<T>()
  readonly #client: Client
  readonly #options: InformerOptions
  readonly #log: Log
  readonly #clock: Clock
  readonly #random: () => number
  readonly #handlers = new Set<Handler<T>>()
  readonly #synced: Promise<void>
  #markSynced: () => void = () => {}
  #isSynced = false
  #watchList: boolean
  /** Where the next watch starts; absent: from a new list. */
  #revision: string | undefined
  #failures = 0
  #problem: unknown

  constructor(client: Client, type: ResourceType, options: InformerOptions = {}) {
    this.type = type
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? steadyClock
    this.#random = options.random ?? Math.random
    this.#log = (options.log ?? silentLog).with({ resource: groupResource(type) })
    this.#watchList = options.watchList ?? false
    this.#synced = new Promise((resolve) => {
      this.#markSynced = resolve
    })
  }

  /** Resolves once the cache holds all that was there when the informer started. */
  get synced(): Promise<void> {
    return this.#synced
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Is all in the cache that happened up to this revision? Often it is and nobody told yet: then the answer is no. */
  knows(revision: string): boolean {
    return this.#isSynced && this.#revision !== undefined && !isEarlier(this.#revision, revision)
  }

  /** Why the cache may be old: what listing or watching failed with last. Undefined while there is news. */
  get problem(): unknown {
    return this.#problem
  }

  index(name: string, by: IndexBy<T>): void {
    this.cache.index(name, by)
  }

  /** Calls back for all objects that are known already, then for every change. Returns how to stop that. */
  subscribe(handler: Handler<T>): () => void {
    for (const object of this.cache.values()) handler({ type: 'added', object, initial: true })
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Lists and watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = this.#clock.now()
      try {
        await this.#listAndWatch(signal)
        this.#failures = this.#clock.now() - began < SHORT_LIFE_MS ? this.#failures + 1 : 0
      } catch (error) {
        if (signal.aborted) return
        this.#noteFailure(error)
      }
      if (this.#failures > 0) {
        await sleep(backoffMs(this.#failures, { ...RETRY, random: this.#random }), signal)
      }
    }
  }

  #noteFailure(error: unknown): void {
    if (isExpired(error)) {
      this.#log.debug('the revision to watch from is gone, listing again')
      // At once the first time: that is how things go. A server that says it again and again is another matter.
      if (this.#revision === undefined) this.#failures++
      this.#revision = undefined
      return
    }
    this.#failures++
    this.#problem = error
    const starting = !this.#isSynced && isNotFound(error) && this.#failures <= REFUSALS_AT_START
    this.#log[starting ? 'debug' : 'warn']('cannot list and watch', { error, failures: this.#failures })
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#revision === undefined && this.#watchList) {
      try {
        return await this.#watch(signal, true)
      } catch (error) {
        if (!refusesInitialEvents(error)) throw error
        this.#watchList = false
      }
    }
    if (this.#revision === undefined) await this.#list(signal)
    await this.#watch(signal, false)
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, pageSize } = this.#options
    const items: T[] = []
    let page: ListOptions = { namespace, labelSelector, fieldSelector, limit: pageSize, signal }
    for (;;) {
      const { metadata, items: some } = await this.#client.list<T>(this.type, page)
      for (const item of some) items.push(item)
      if (!metadata.continue) {
        this.#replace(items, metadata.resourceVersion)
        return
      }
      page = { ...page, continue: metadata.continue }
      // A server in the same process answers without a pause; others want a turn too.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #watch(signal: AbortSignal, initialEvents: boolean): Promise<void> {
    const { namespace, labelSelector, fieldSelector } = this.#options
    const options = {
      namespace,
      labelSelector,
      fieldSelector,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(WATCH_SECONDS * (1 + this.#random())),
      ...(initialEvents ? { sendInitialEvents: true } : { resourceVersion: this.#revision }),
      signal,
    }
    let initial: Map<string, T> | undefined = initialEvents ? new Map() : undefined
    for await (const event of this.#client.watch<T>(this.type, options)) {
      if (!initial) this.#take(event)
      else if (event.type === 'DELETED') initial.delete(keyTextOf(event.object))
      else if (event.type !== 'BOOKMARK') initial.set(keyTextOf(event.object), event.object)
      else if (event.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true') {
        this.#replace([...initial.values()], event.object.metadata.resourceVersion)
        initial = undefined
      }
    }
  }

  #take(event: WatchEvent<T>): void {
    this.#failures = 0
    this.#problem = undefined
    this.#revision = event.object.metadata.resourceVersion ?? this.#revision
    if (event.type === 'BOOKMARK') return
    if (event.type === 'DELETED') {
      const known = this.cache.remove(keyTextOf(event.object))
      if (known) this.#tell({ type: 'removed', object: event.object })
      return
    }
    this.#put(event.object, false)
  }

  /** The whole state anew: tells of what differs from what was known. */
  #replace(items: readonly T[], revision: string | undefined): void {
    const initial = !this.#isSynced
    const gone = new Map(this.cache.entries())
    for (const object of items) {
      gone.delete(keyTextOf(object))
      this.#put(object, initial)
    }
    for (const [key, object] of gone) {
      this.cache.remove(key)
      this.#tell({ type: 'removed', object })
    }
    this.#revision = revision
    this.#failures = 0
    this.#problem = undefined
    if (!initial) return
    this.#isSynced = true
    this.#markSynced()
  }

  #put(object: T, initial: boolean): void {
    const before = this.cache.put(object)
    if (!before) this.#tell({ type: 'added', object, initial })
    else if (before.metadata.uid !== object.metadata.uid) {
      // Deleted and made again while we did not look: two lives, not one change.
      this.#tell({ type: 'removed', object: before })
      this.#tell({ type: 'added', object, initial })
    } else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#tell({ type: 'changed', object, before })
    }
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) handler(change)
  }
}

function refusesInitialEvents(error: unknown): boolean {
  const code = findInChain(error, StatusError)?.code
  return code === 400 || code === 422
}
