import {
  alreadyExists,
  type Client,
  conflict,
  groupResource,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type Patch,
  type ResourceType,
  StatusError,
  type WatchEvent,
  type WatchOptions,
} from '@crosstie/kube'
import { keyText, keyTextOf } from '../key.js'

interface Recorded {
  readonly resource: string
  readonly revision: number
  readonly event: WatchEvent
}

/** An in-memory API server with the features that these tests need and fault injection. */
export class MemoryApi implements Client {
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #history: Recorded[] = []
  readonly #waiting = new Set<() => void>()
  #revision = 100
  #compactedRevision = 0
  #ended = 0
  #held = false
  gets = 0
  lists = 0
  watches = 0
  /** Errors thrown by the next calls, one each. */
  readonly faults: unknown[] = []

  /** Users are not implemented. */
  as(): Client {
    return this
  }

  /** Discards the history: watches from older revisions fail with "too old resource version". */
  compact(): void {
    this.#compactedRevision = this.#revision
  }

  /** Suspends the delivery of watch events until `release`. */
  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    this.#wake()
  }

  /** Ends all watches. */
  interrupt(): void {
    this.#ended++
    this.#wake()
  }

  async discover(): Promise<readonly ResourceType[]> {
    return []
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T> {
    this.#fault()
    this.gets++
    const object = this.#of(type).get(keyText(key))
    if (!object) throw notFound(type, key.name)
    return object as T
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    this.#fault()
    this.lists++
    const [label, value] = options.labelSelector?.split('=') ?? []
    const items = [...this.#of(type).values()].filter(({ metadata }) => !label || metadata.labels?.[label] === value)
    const metadata = { resourceVersion: String(this.#revision) }
    return { apiVersion: 'v1', kind: 'List', metadata, items: items as unknown as T[] }
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    this.#fault()
    this.watches++
    const ended = this.#ended
    let from = Number(options.resourceVersion ?? 0)
    if (options.sendInitialEvents) {
      for (const object of [...this.#of(type).values()]) yield { type: 'ADDED', object: object as T }
      from = this.#revision
      const metadata = { resourceVersion: String(from), annotations: { 'k8s.io/initial-events-end': 'true' } }
      yield { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: type.kind, metadata } }
    }
    while (!options.signal?.aborted && this.#ended === ended) {
      if (from < this.#compactedRevision) throw new StatusError(410, 'Expired', 'too old resource version')
      const next = this.#history.find(({ resource, revision }) => resource === groupResource(type) && revision > from)
      if (next && !this.#held) {
        from = next.revision
        yield next.event as WatchEvent<T>
      } else await this.#nextChange(options.signal)
    }
  }

  async create<T extends KubeObject>(type: ResourceType, object: T): Promise<T> {
    this.#fault()
    const key = keyTextOf(object)
    if (this.#of(type).has(key)) throw alreadyExists(type, object.metadata.name!)
    return this.#put(type, 'ADDED', { ...object, metadata: { uid: `uid-${this.#revision}`, ...object.metadata } })
  }

  async update<T extends KubeObject>(type: ResourceType, object: T): Promise<T> {
    this.#fault()
    const stored = this.#of(type).get(keyTextOf(object))
    if (!stored) throw notFound(type, object.metadata.name!)
    const { resourceVersion } = object.metadata
    if (resourceVersion && resourceVersion !== stored.metadata.resourceVersion) {
      throw conflict(type, object.metadata.name!, 'the object has been modified')
    }
    return this.#put(type, 'MODIFIED', object)
  }

  async patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Patch): Promise<T> {
    const stored = await this.get<T>(type, key)
    return this.#put(type, 'MODIFIED', { ...stored, ...(patch.type === 'json' ? {} : (patch.patch as object)) })
  }

  apply<T extends KubeObject>(): Promise<T> {
    throw new Error('apply is not implemented')
  }

  async delete(type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    this.#fault()
    const stored = this.#of(type).get(keyText(key))
    if (!stored) throw notFound(type, key.name)
    this.#put(type, 'DELETED', stored)
    return stored
  }

  async deleteCollection(type: ResourceType): Promise<void> {
    for (const object of this.#of(type).values()) this.#put(type, 'DELETED', object)
  }

  #put<T extends KubeObject>(type: ResourceType, event: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): T {
    const revision = ++this.#revision
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
    if (event === 'DELETED') this.#of(type).delete(keyTextOf(object))
    else this.#of(type).set(keyTextOf(object), stored)
    this.#history.push({ resource: groupResource(type), revision, event: { type: event, object: stored } })
    this.#wake()
    return stored
  }

  #of(type: ResourceType): Map<string, KubeObject> {
    const name = groupResource(type)
    const objects = this.#objects.get(name) ?? new Map<string, KubeObject>()
    this.#objects.set(name, objects)
    return objects
  }

  #fault(): void {
    if (this.faults.length > 0) throw this.faults.shift()
  }

  #nextChange(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}

/** The resource type of the test kind Thing. */
export const THINGS: ResourceType = {
  group: 'example.org',
  version: 'v1',
  kind: 'Thing',
  resource: 'things',
  namespaced: false,
}

/** Creates a Thing. */
export function thing(name: string, more: object = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name, ...metadata }, ...more }
}

/** Polls until the condition holds. Throws after `withinMs`. */
export async function until(condition: () => boolean, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
