import {
  type ApplyOptions,
  type ApplyTarget,
  apiVersionOf,
  type CallOptions,
  type Client,
  type Clock,
  type DeleteOptions,
  type GetOptions,
  type GroupVersion,
  isNotFound,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type Patch,
  parseLabelSelector,
  type ResourceType,
  steadyClock,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '@crosstie/kube'
import { keyText, keyTextOf } from '../key.js'
import { isOlder } from '../revision.js'
import type { Informer } from './informer.js'
import type { Informers } from './informers.js'

/** So long what we wrote is taken for the newest there is while the watch is behind it. */
const TRUSTED_MS = 10_000

interface Ahead {
  readonly object: KubeObject
  readonly trustedUntil: number
}

/**
 * A Client that reads objects and whole lists of watched kinds from memory, and
 * asks the server for all else, also for an object that must be at least as new
 * as a revision that is not known here yet. What was written through it is read back at once, even
 * before the watch tells of it; writes from an old state still fail, by their
 * revision. Where a watch stays behind for long, the server is asked for what was written: whoever went on from memory
 * would do again what is done, be refused, and keep the server from ever catching up.
 */
export class CachedClient implements Client {
  readonly #client: Client
  readonly #informers: Informers
  readonly #clock: Clock
  /** What we wrote and the informer has not seen yet, by informer and key. */
  readonly #ahead = new Map<Informer, Map<string, Ahead>>()

  constructor(client: Client, informers: Informers, clock: Clock = steadyClock) {
    this.#client = client
    this.#informers = informers
    this.#clock = clock
  }

  /** Not from memory: the cache holds objects that the other user may not read. */
  as(user: string): Client {
    return this.#client.as(user)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<T> {
    const informer = this.#informers.known(type)
    const { resourceVersion: since, ...rest } = options ?? {}
    // As it is now is never too old, and the server need not wait for anything.
    if (!informer?.isSynced || (since && !informer.knows(since))) return await this.#client.get(type, key, rest)
    const written = this.#writtenAhead(informer)?.get(keyText(key))
    if (written && !this.#isTrusted(written)) return await this.#askAgain(informer, type, key, rest)
    const known = written?.object ?? informer.cache.get(key)
    if (!known) throw notFound(type, key.name)
    return known as T
  }

  /** It may be gone by now, even before our write was answered: then no watch will ever tell of what we wrote. */
  async #askAgain<T extends KubeObject>(
    informer: Informer,
    type: ResourceType,
    key: ObjectKey,
    options: CallOptions,
  ): Promise<T> {
    try {
      return this.#wrote(type, await this.#client.get<T>(type, key, options), undefined)
    } catch (error) {
      if (isNotFound(error)) this.#ahead.get(informer)?.delete(keyText(key))
      throw error
    }
  }

  async list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>> {
    const { labelSelector = '', namespace, signal: _, ...rest } = options ?? {}
    const informer = this.#informers.known(type)
    // Pages, revisions and fields are the server's business.
    if (!informer?.isSynced || Object.values(rest).some((given) => given !== undefined)) {
      return await this.#client.list(type, options)
    }
    const selector = parseLabelSelector(labelSelector)
    const items = this.#inOrder<T>(informer).filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        (selector.empty || selector.matches(metadata.labels)),
    )
    return { apiVersion: apiVersionOf(type), kind: `${type.kind}List`, metadata: {}, items }
  }

  /** As the server would list them: whoever takes the first of several takes the same one every time. */
  #inOrder<T extends KubeObject>(informer: Informer): T[] {
    const known = [...informer.cache.inOrder()] as T[]
    const ahead = this.#writtenAhead(informer)
    if (!ahead || ahead.size === 0) return known
    const newest = new Map(known.map((object) => [keyTextOf(object), object]))
    for (const [key, written] of ahead) if (this.#isTrusted(written)) newest.set(key, written.object as T)
    const keys = [...newest.keys()]
    if (newest.size > known.length) keys.sort()
    return keys.map((key) => newest.get(key)!)
  }

  watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return this.#client.watch(type, options)
  }

  async create<T extends KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    return this.#wrote(type, await this.#client.create(type, object, options), options)
  }

  async update<T extends KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    return this.#wrote(type, await this.#client.update(type, object, options), options)
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#wrote(type, await this.#client.patch<T>(type, key, patch, options), options)
  }

  async apply<T extends KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T> {
    return this.#wrote(type, await this.#client.apply<T>(type, object, options), options)
  }

  async delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<KubeObject | undefined> {
    return await this.#client.delete(type, key, options)
  }

  async deleteCollection(type: ResourceType, options?: ListOptions & DeleteOptions): Promise<void> {
    await this.#client.deleteCollection(type, options)
  }

  async discover(where: GroupVersion, options?: CallOptions): Promise<readonly ResourceType[]> {
    return await this.#client.discover(where, options)
  }

  #wrote<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions | undefined): T {
    const informer = this.#informers.known(type)
    if (!informer || options?.dryRun || object.kind !== type.kind) return object
    const { deletionTimestamp, finalizers = [] } = object.metadata
    // Whose last finalizer was taken away is gone by now.
    if (deletionTimestamp && finalizers.length === 0) return object
    const key = keyTextOf(object)
    const seen = informer.cache.get(object.metadata as ObjectKey)
    if (seen && !isOlder(seen, object)) return object
    const ahead = this.#aheadOf(informer)
    ahead.delete(key)
    ahead.set(key, { object, trustedUntil: this.#clock.now() + TRUSTED_MS })
    return object
  }

  #isTrusted({ trustedUntil }: Ahead): boolean {
    return this.#clock.now() < trustedUntil
  }

  /** Without what the informer has caught up with, which comes first: entries are in the order of writing. */
  #writtenAhead(informer: Informer): Map<string, Ahead> | undefined {
    const ahead = this.#ahead.get(informer)
    if (!ahead || ahead.size === 0) return undefined
    for (const [key, { object }] of ahead) {
      if (!informer.knows(object.metadata.resourceVersion ?? '')) break
      ahead.delete(key)
    }
    return ahead
  }

  #aheadOf(informer: Informer): Map<string, Ahead> {
    const known = this.#ahead.get(informer)
    if (known) return known
    const ahead = new Map<string, Ahead>()
    this.#ahead.set(informer, ahead)
    informer.subscribe(({ object }) => {
      if (ahead.size === 0) return
      const key = keyTextOf(object)
      const written = ahead.get(key)?.object
      if (written && !isOlder(object, written)) ahead.delete(key)
    })
    return ahead
  }
}
