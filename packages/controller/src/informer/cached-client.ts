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

/** How long a written object counts as current while the watch has not delivered it. */
const TRUSTED_MS = 10_000

interface UnobservedWrite {
  readonly object: KubeObject
  readonly trustedUntil: number
}

/**
 * A Client that serves reads of watched kinds from the informers' caches, and everything else from the server. A
 * read that must be at least as new as a revision goes to the server if the cache is older.
 * An object written through this client is readable immediately, before the watch delivers it. Writes based on an
 * old state still fail with a conflict. If a watch lags for long, written objects are read from the server: a
 * controller that acts on the old state would repeat its work, get conflicts, and add load to a server that is
 * already behind.
 */
export class CachedClient implements Client {
  readonly #client: Client
  readonly #informers: Informers
  readonly #clock: Clock
  /** Written objects that the informer has not seen yet, by informer and key. */
  readonly #unobserved = new WeakMap<Informer, Map<string, UnobservedWrite>>()

  constructor(client: Client, informers: Informers, clock: Clock = steadyClock) {
    this.#client = client
    this.#informers = informers
    this.#clock = clock
  }

  /** Not cached: the cache holds objects that the other user may not be allowed to read. */
  as(user: string): Client {
    return this.#client.as(user)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<T> {
    const informer = this.#informers.known(type)
    const { resourceVersion: since, ...rest } = options ?? {}
    // The current state is never too old, and the server does not have to wait for a revision.
    if (!informer?.isSynced || (since && !informer.knows(since))) return await this.#client.get(type, key, rest)
    const written = this.#writtenAhead(informer)?.get(keyText(key))
    if (written && !this.#isTrusted(written)) return await this.#readFromServer(informer, type, key, rest)
    const known = written?.object ?? informer.cache.get(key)
    if (!known) throw notFound(type, key.name)
    return known as T
  }

  /** Reads from the server. If the object is gone, the watch will never deliver the written state, so it is dropped. */
  async #readFromServer<T extends KubeObject>(
    informer: Informer,
    type: ResourceType,
    key: ObjectKey,
    options: CallOptions,
  ): Promise<T> {
    try {
      return this.#wrote(type, await this.#client.get<T>(type, key, options), undefined)
    } catch (error) {
      if (isNotFound(error)) this.#unobserved.get(informer)?.delete(keyText(key))
      throw error
    }
  }

  async list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>> {
    const { labelSelector = '', namespace, signal: _, ...rest } = options ?? {}
    const informer = this.#informers.known(type)
    // Paging, revisions and field selectors are served by the server.
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

  /** Lists in the server's order, so that taking the first of several objects is deterministic. */
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
    // An object without finalizers that is being deleted no longer exists.
    if (deletionTimestamp && finalizers.length === 0) return object
    const key = keyTextOf(object)
    const seen = informer.cache.get(object.metadata as ObjectKey)
    if (seen && !isOlder(seen, object)) return object
    const ahead = this.#aheadOf(informer)
    ahead.delete(key)
    ahead.set(key, { object, trustedUntil: this.#clock.now() + TRUSTED_MS })
    return object
  }

  #isTrusted({ trustedUntil }: UnobservedWrite): boolean {
    return this.#clock.now() < trustedUntil
  }

  /** Drops entries that the informer has caught up with. Entries are in the order of writing, so these come first. */
  #writtenAhead(informer: Informer): Map<string, UnobservedWrite> | undefined {
    const ahead = this.#unobserved.get(informer)
    if (!ahead || ahead.size === 0) return undefined
    for (const [key, { object }] of ahead) {
      if (!informer.knows(object.metadata.resourceVersion ?? '')) break
      ahead.delete(key)
    }
    return ahead
  }

  #aheadOf(informer: Informer): Map<string, UnobservedWrite> {
    const known = this.#unobserved.get(informer)
    if (known) return known
    const ahead = new Map<string, UnobservedWrite>()
    this.#unobserved.set(informer, ahead)
    informer.subscribe(({ object }) => {
      if (ahead.size === 0) return
      const key = keyTextOf(object)
      const written = ahead.get(key)?.object
      if (written && !isOlder(object, written)) ahead.delete(key)
    })
    return ahead
  }
}
