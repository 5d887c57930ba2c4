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

/** A change of an object between two states that the informer observed. States in between may be missing. */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: 'added'; readonly object: T; readonly initial: boolean }
  | { readonly type: 'changed'; readonly object: T; readonly before: T }
  | { readonly type: 'removed'; readonly object: T }

/** Receives every change in order. It must neither throw nor block. */
export type Handler<T extends KubeObject = KubeObject> = (change: Change<T>) => void

/** Options of an Informer. */
export interface InformerOptions {
  /** Retries do not keep the process alive. */
  readonly background?: boolean
  /** Defaults to all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Request the initial state as watch events. Falls back to a list if the server does not support it. */
  readonly watchList?: boolean
  /** Number of objects per page of the initial list. Defaults to a single page. */
  readonly pageSize?: number
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Log
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'
const RETRY = { baseMs: 200, maxMs: 30_000 }
/** A watch that ended sooner than this counts as failed and is retried with back-off. */
const SHORT_WATCH_MS = 1_000
/**
 * A kind may be served slightly later than its CRD reports. This number of failures at the start is not logged as a
 * warning.
 */
const SILENT_FAILURES_AT_START = 3
/** Watches are renewed after five to ten minutes, so that connections are balanced over servers. */
const WATCH_SECONDS = 300

/**
 * Keeps a cache of all objects of a kind by list and watch. Resumes the watch after an interruption, and lists
 * again if the server has compacted the revision.
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType
  readonly cache = new Cache<T>()
  readonly #client: Client
  readonly #options: InformerOptions
  readonly #log: Log
  readonly #clock: Clock
  readonly #background: boolean
  readonly #random: () => number
  readonly #handlers = new Set<Handler<T>>()
  readonly #synced: Promise<void>
  #markSynced: () => void = () => {}
  #isSynced = false
  #watchList: boolean
  /** The revision from which the next watch starts; undefined requests a new list. */
  #revision: string | undefined
  #failures = 0
  #problem: unknown

  constructor(client: Client, type: ResourceType, options: InformerOptions = {}) {
    this.type = type
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? steadyClock
    this.#background = options.background ?? false
    this.#random = options.random ?? Math.random
    this.#log = (options.log ?? silentLog).with({ resource: groupResource(type) })
    this.#watchList = options.watchList ?? false
    this.#synced = new Promise((resolve) => {
      this.#markSynced = resolve
    })
  }

  /** Resolves once the cache holds all objects that existed when the informer started. */
  get synced(): Promise<void> {
    return this.#synced
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /**
   * Whether the cache contains every change up to this revision. May be false although it does, until the watch
   * delivers an event or a bookmark.
   */
  knows(revision: string): boolean {
    return this.#isSynced && this.#revision !== undefined && !isEarlier(this.#revision, revision)
  }

  /** The last error of list or watch, while the cache may be stale. Undefined while the watch works. */
  get problem(): unknown {
    return this.#problem
  }

  index(name: string, by: IndexBy<T>): void {
    this.cache.index(name, by)
  }

  /** Calls the handler for all known objects, then for every change. Returns a function that ends the subscription. */
  subscribe(handler: Handler<T>): () => void {
    for (const object of this.cache.values()) handler({ type: 'added', object, initial: true })
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Lists and watches until the signal aborts. Retries failures with back-off. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = this.#clock.now()
      try {
        await this.#listAndWatch(signal)
        this.#failures = this.#clock.now() - began < SHORT_WATCH_MS ? this.#failures + 1 : 0
      } catch (error) {
        if (signal.aborted) return
        this.#noteFailure(error)
      }
      if (this.#failures > 0) {
        await sleep(backoffMs(this.#failures, { ...RETRY, random: this.#random }), signal, this.#background)
      }
    }
  }

  #noteFailure(error: unknown): void {
    if (isExpired(error)) {
      this.#log.debug('the watch revision was compacted; listing again')
      // The first time is normal and retried at once. Repetitions count as failures and back off.
      if (this.#revision === undefined) this.#failures++
      this.#revision = undefined
      return
    }
    this.#failures++
    this.#problem = error
    const starting = !this.#isSynced && isNotFound(error) && this.#failures <= SILENT_FAILURES_AT_START
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
      // An embedded server responds without I/O. Yield so that other work can run.
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
      if (known) this.#notify({ type: 'removed', object: event.object })
      return
    }
    this.#put(event.object, false)
  }

  /** Replaces the whole state and reports the differences. */
  #replace(items: readonly T[], revision: string | undefined): void {
    const initial = !this.#isSynced
    const gone = new Map(this.cache.entries())
    for (const object of items) {
      gone.delete(keyTextOf(object))
      this.#put(object, initial)
    }
    for (const [key, object] of gone) {
      this.cache.remove(key)
      this.#notify({ type: 'removed', object })
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
    if (!before) this.#notify({ type: 'added', object, initial })
    else if (before.metadata.uid !== object.metadata.uid) {
      // Deleted and created again in between: two objects, not a change of one.
      this.#notify({ type: 'removed', object: before })
      this.#notify({ type: 'added', object, initial })
    } else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#notify({ type: 'changed', object, before })
    }
  }

  #notify(change: Change<T>): void {
    for (const handler of this.#handlers) handler(change)
  }
}

function refusesInitialEvents(error: unknown): boolean {
  const code = findInChain(error, StatusError)?.code
  return code === 400 || code === 422
}
