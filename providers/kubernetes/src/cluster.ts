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

/** An object of a cluster, by what a reference says of it. */
export interface Target {
  readonly type: ResourceType
  readonly key: ObjectKey
}

/** A kind that was missing may be installed any moment; asking more often than this tells nothing. */
const DISCOVERY_MS = 3_000
/** So long the first list may take before objects are asked for one by one. */
const SYNC_MS = 30_000
const SYNC_STEP_MS = 20

/**
 * One Kubernetes API. Objects that somebody follows are read from memory: each
 * kind is listed and watched once in each namespace, whoever asks. Where that
 * is not allowed or not working, objects are asked for one by one.
 */
export class Cluster {
  readonly #kinds = new Map<string, { readonly at: number; readonly found: Promise<readonly ResourceType[]> }>()
  readonly #places = new Map<string, Place>()
  /** What a dry run said of an object at a revision, by object. */
  readonly verified = new Map<string, string>()

  constructor(readonly client: Client) {}

  /** The kind as the cluster serves it. */
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

  /** Hears of every change of one object, but not of those that we made. */
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

  /** The object as it is; undefined when there is none. */
  async read({ type, key }: Target, signal?: AbortSignal): Promise<KubeObject | undefined> {
    const place = this.#places.get(placeName(type, key))
    if (await place?.knows(keyText(key))) return place!.cached(key)
    return await this.client.get(type, key, signal ? { signal } : {}).catch(ignoring(isNotFound))
  }

  /** From now on only what is at least as new as this counts; without a revision, only that it is gone. */
  wrote({ type, key }: Target, written: KubeObject | undefined): void {
    this.#places.get(placeName(type, key))?.wrote(keyText(key), written)
  }
}

const placeName = (type: ResourceType, { namespace }: ObjectKey): string =>
  `${apiVersionOf(type)} ${groupResource(type)} ${namespace ?? ''}`

/** All objects of a kind in one namespace, or of the cluster when it has none. */
class Place {
  readonly #informer: Informer
  readonly #stop = sharedAbortController()
  readonly #followers = new Map<string, Set<() => void>>()
  /** What we wrote and may not have heard of yet. */
  readonly #ahead = new Map<string, KubeObject | undefined>()
  readonly #settled: Promise<void>

  constructor(client: Client, type: ResourceType, namespace: string | undefined) {
    this.#informer = new Informer(client, type, {
      watchList: true,
      background: true,
      ...(namespace ? { namespace } : {}),
    })
    this.#informer.subscribe((change) => {
      // Whoever looks waits for the first list.
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

  /** Is what the cache holds of the object good enough to go by? */
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

  /** Resolves when the first list is there, or will not be soon. */
  async #settle(): Promise<void> {
    const { signal } = this.#stop
    for (let waited = 0; waited < SYNC_MS && !signal.aborted; waited += SYNC_STEP_MS) {
      if (this.#informer.isSynced || this.#informer.problem !== undefined) return
      await sleep(SYNC_STEP_MS, signal)
    }
  }
}
