import {
  type ApplyOptions,
  type ApplyTarget,
  apiVersionOf,
  type CallOptions,
  type Client,
  type DeleteOptions,
  everything,
  type GetOptions,
  type GroupVersion,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type Patch,
  parseLabelSelector,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '@crosstie/kube'
import { keyText, keyTextOf } from '../key.js'
import type { Informer } from './informer.js'
import type { Informers } from './informers.js'

/**
 * A Client that reads objects and whole lists of watched kinds from memory, and
 * asks the server for all else. What was written through it is read back at once, even
 * before the watch tells of it; writes from an old state still fail, by their
 * revision.
 */
export class CachedClient implements Client {
  readonly #client: Client
  readonly #informers: Informers
  /** What we wrote and the informer has not seen yet, by informer and key. */
  readonly #ahead = new Map<Informer, Map<string, KubeObject>>()

  constructor(client: Client, informers: Informers) {
    this.#client = client
    this.#informers = informers
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: GetOptions): Promise<T> {
    const informer = this.#informers.known(type)
    if (!informer?.isSynced || options?.resourceVersion !== undefined) return await this.#client.get(type, key, options)
    const known = this.#ahead.get(informer)?.get(keyText(key)) ?? informer.cache.get(key)
    if (!known) throw notFound(type, key.name)
    return known as T
  }

  async list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>> {
    const { labelSelector = '', namespace, signal: _, ...rest } = options ?? {}
    const informer = this.#informers.known(type)
    // Pages, revisions and fields are the server's business.
    if (!informer?.isSynced || Object.values(rest).some((given) => given !== undefined)) {
      return await this.#client.list(type, options)
    }
    const { matches } = labelSelector ? parseLabelSelector(labelSelector) : everything
    const found: [key: string, object: T][] = []
    for (const [key, object] of this.#known<T>(informer)) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue
      if (matches(object.metadata.labels ?? {})) found.push([key, object])
    }
    // As the server would: whoever takes the first of several takes the same one every time.
    found.sort(([a], [b]) => (a < b ? -1 : 1))
    const items = found.map(([, object]) => object)
    return { apiVersion: apiVersionOf(type), kind: `${type.kind}List`, metadata: {}, items }
  }

  *#known<T extends KubeObject>(informer: Informer): Generator<[key: string, object: T]> {
    const ahead = this.#ahead.get(informer)
    for (const [key, object] of informer.cache.entries()) yield [key, (ahead?.get(key) ?? object) as T]
    for (const [key, object] of ahead ?? []) if (!informer.cache.has(key)) yield [key, object as T]
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
    this.#aheadOf(informer).set(key, object)
    return object
  }

  #aheadOf(informer: Informer): Map<string, KubeObject> {
    const known = this.#ahead.get(informer)
    if (known) return known
    const ahead = new Map<string, KubeObject>()
    this.#ahead.set(informer, ahead)
    informer.subscribe(({ object }) => {
      if (ahead.size === 0) return
      const key = keyTextOf(object)
      const written = ahead.get(key)
      if (written && !isOlder(object, written)) ahead.delete(key)
    })
    return ahead
  }
}

/** Revisions of one server are numbers that grow. */
export function isOlder({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  const [x = '', y = ''] = [a.resourceVersion, b.resourceVersion]
  return x.length === y.length ? x < y : x.length < y.length
}
