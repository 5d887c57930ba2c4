import { Informer, isOlder, keyText, keyTextOf, parseKey, sharedAbortController, sleep } from '@crosstie/controller'
import {
  apiVersionOf,
  type Client,
  groupResource,
  ignoring,
  isNotFound,
  type KubeObject,
  type ObjectKey,
  parseApiVersion,
  type ResourceType,
} from '@crosstie/kube'

/** An object of a cluster. */
export interface Target {
  readonly type: ResourceType
  readonly key: ObjectKey
}

/** A missing kind is looked up again after this time, in milliseconds. */
const DISCOVERY_MS = 3_000
/** The timeout of the first list. After it, objects are read individually. */
const SYNC_MS = 30_000
const SYNC_STEP_MS = 20

/**
 * A client of one Kubernetes API. Followed objects are read from memory: each kind is listed and watched once per
 * namespace. If that is not permitted or fails, objects are read individually.
 */
export class Cluster {
  readonly #kinds = new Map<string, { readonly at: number; readonly found: Promise<readonly ResourceType[]> }>()
  readonly #places = new Map<string, Place>()
  /** The result of the last dry run, by object and revision. */
  readonly verified = new Map<string, string>()

  constructor(readonly client: Client) {}

  /** Returns the kind as the cluster serves it. Throws if it does not. */
  async typeOf(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ResourceType> {
    const where = parseApiVersion(apiVersion)
    if (!where) throw new Error(`"${apiVersion}" is no apiVersion: it looks like v1 or apps/v1`)
    let known = this.#kinds.get(apiVersion)
    const inKnown = async () => (await known?.found)?.find((type) => type.kind === kind)
    const found = await inKnown()
    if (found) return found
    if (!known || Date.now() - known.at > DISCOVERY_MS) {
      const asked = this.client.discover(where, signal ? { signal } : {})
      known = { at: Date.now(), found: asked }
      this.#kinds.set(apiVersion, known)
      asked.catch(() => this.#kinds.delete(apiVersion))
    }
    const served = await inKnown()
    if (served) return served
    throw new Error(
      `the cluster does not serve the kind ${kind} of ${apiVersion}: install its CustomResourceDefinition, or correct apiVersion and kind`,
    )
  }

  /** Subscribes to changes of one object, except for those of this process. Returns a function that unsubscribes. */
  watch({ type, key }: Target, changed: () => void): () => void {
    const name = placeName(type, key)
    let place = this.#places.get(name)
    if (!place) {
      place = new Place(this.client, type, key.namespace)
      this.#places.set(name, place)
    }
    const end = place.follow(keyText(key), changed)
    return () => {
      end()
      if (!place.isFollowed && this.#places.get(name) === place) {
        place.stop()
        this.#places.delete(name)
      }
    }
  }

  /** Returns the object, or undefined if it does not exist. */
  async read({ type, key }: Target, signal?: AbortSignal): Promise<KubeObject | undefined> {
    const place = this.#places.get(placeName(type, key))
    if (await place?.knows(keyText(key))) return place!.cached(key)
    return await this.client.get(type, key, signal ? { signal } : {}).catch(ignoring(isNotFound))
  }

  /**
   * Records a write. Older states in the cache are ignored from then on. Without a revision, the object was
   * deleted.
   */
  wrote({ type, key }: Target, written: KubeObject | undefined): void {
    this.#places.get(placeName(type, key))?.wrote(keyText(key), written)
  }
}

const placeName = (type: ResourceType, { namespace }: ObjectKey): string =>
  `${apiVersionOf(type)} ${groupResource(type)} ${namespace ?? ''}`

/** All objects of a kind in one namespace, or in the cluster. */
class Place {
  readonly #informer: Informer
  readonly #stop = sharedAbortController()
  readonly #followers = new Map<string, Set<() => void>>()
  /** Writes of this process that the watch has not confirmed yet. */
  readonly #ahead = new Map<string, KubeObject | undefined>()
  readonly #settled: Promise<void>

  constructor(client: Client, type: ResourceType, namespace: string | undefined) {
    this.#informer = new Informer(client, type, {
      watchList: true,
      background: true,
      ...(namespace ? { namespace } : {}),
    })
    this.#informer.subscribe((change) => {
      // Readers wait for the first list.
      if (change.type === 'added' && change.initial) return
      this.#tell(change.object)
    })
    void this.#informer.run(this.#stop.signal)
    this.#settled = this.#settle()
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0
  }

  follow(key: string, changed: () => void): () => void {
    const followers = this.#followers.get(key) ?? new Set()
    this.#followers.set(key, followers.add(changed))
    return () => {
      followers.delete(changed)
      if (followers.size === 0 && this.#followers.get(key) === followers) this.#followers.delete(key)
    }
  }

  /** Reports whether the cache is current for the object. */
  async knows(key: string): Promise<boolean> {
    await this.#settled
    if (!this.#informer.isSynced || this.#informer.problem !== undefined) return false
    if (!this.#ahead.has(key)) return true
    const written = this.#ahead.get(key)
    const cached = this.cached(parseKey(key))
    const caughtUp = written ? cached !== undefined && !isOlder(cached, written) : cached === undefined
    if (caughtUp) this.#ahead.delete(key)
    return caughtUp
  }

  cached(key: ObjectKey): KubeObject | undefined {
    return this.#informer.cache.get(key)
  }

  wrote(key: string, written: KubeObject | undefined): void {
    this.#ahead.set(key, written)
  }

  stop(): void {
    this.#stop.abort()
  }

  #tell(object: KubeObject): void {
    const key = keyTextOf(object)
    if (this.#ahead.get(key)?.metadata.resourceVersion === object.metadata.resourceVersion) return
    for (const changed of this.#followers.get(key) ?? []) changed()
  }

  /** Resolves when the first list is complete, or is late. */
  async #settle(): Promise<void> {
    const { signal } = this.#stop
    for (let waited = 0; waited < SYNC_MS && !signal.aborted; waited += SYNC_STEP_MS) {
      if (this.#informer.isSynced || this.#informer.problem !== undefined) return
      await sleep(SYNC_STEP_MS, signal)
    }
  }
}
