import {
  alreadyExists,
  type Client,
  conflict,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
} from '@crosstie/kube'
import type { Change, Stored, StoredPage } from '../store/store.js'

/** The read methods of a store, in memory, for tests. */
export class FakeObjects {
  readonly #objects = new Map<string, Stored>()
  readonly #listeners = new Set<(changes: readonly Change[]) => void>()
  #revision = 0

  get(key: string): Stored | undefined {
    return this.#objects.get(key)
  }

  list(prefix: string): StoredPage {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort()
    return { items: keys.map((key) => this.#objects.get(key)!), revision: this.#revision, remaining: 0 }
  }

  subscribe(listener: (changes: readonly Change[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  put(key: string, object: object): KubeObject {
    const revision = ++this.#revision
    const before = this.#objects.get(key)
    const now = { key, revision, object: object as KubeObject, bytes: new Uint8Array() }
    this.#objects.set(key, now)
    this.#tell({ type: before ? 'MODIFIED' : 'ADDED', key, revision, now, before })
    return now.object
  }

  remove(key: string): void {
    const before = this.#objects.get(key)
    if (!before) return
    this.#objects.delete(key)
    this.#tell({ type: 'DELETED', key, revision: ++this.#revision, now: before, before })
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener([change])
  }
}

interface Watcher {
  readonly resource: string
  readonly matches: (object: KubeObject) => boolean
  readonly events: WatchEvent[]
  wake: () => void
}

/** An API behind the Client port for tests of controllers, without admission and with two field selectors only. */
export class FakeClient {
  readonly #objects = new Map<string, KubeObject>()
  readonly #watchers = new Set<Watcher>()
  readonly #history: { readonly revision: number; readonly resource: string; readonly event: WatchEvent }[] = []
  readonly log: string[] = []
  #revision = 0

  /** The Client for the controllers under test. */
  get port(): Client {
    return this as unknown as Client
  }

  find(type: ResourceType, name: string, namespace?: string): KubeObject | undefined {
    return this.#objects.get(pathOf(type, { namespace, name }))
  }

  async get(type: ResourceType, key: ObjectKey): Promise<KubeObject> {
    const object = this.#objects.get(pathOf(type, key))
    if (!object) throw notFound(type, key.name)
    return object
  }

  async list(type: ResourceType, { fieldSelector }: ListOptions = {}): Promise<KubeList> {
    const all = [...this.#objects].filter(([path]) => path.startsWith(`${type.resource}/`)).map(([, object]) => object)
    const items = all.filter(matcher(fieldSelector))
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: String(this.#revision) }, items }
  }

  async *watch(
    type: ResourceType,
    { fieldSelector, signal, resourceVersion }: WatchOptions,
  ): AsyncGenerator<WatchEvent> {
    const matches = matcher(fieldSelector)
    const events = this.#history
      .filter(({ revision, resource }) => revision > Number(resourceVersion) && resource === type.resource)
      .map(({ event }) => event)
      .filter(({ object }) => matches(object))
    const watcher: Watcher = { resource: type.resource, matches, events, wake: () => {} }
    this.#watchers.add(watcher)
    signal?.addEventListener('abort', () => watcher.wake(), { once: true })
    try {
      while (!signal?.aborted) {
        const event = watcher.events.shift()
        if (event) yield event
        else await new Promise<void>((resolve) => (watcher.wake = resolve))
      }
    } finally {
      this.#watchers.delete(watcher)
    }
  }

  async create(type: ResourceType, object: KubeObject): Promise<KubeObject> {
    const path = pathOf(type, object.metadata as ObjectKey)
    if (this.#objects.has(path)) throw alreadyExists(type, object.metadata.name!)
    this.log.push(`create ${path}`)
    return this.#put('ADDED', type, path, {
      ...object,
      metadata: { ...object.metadata, uid: `uid-${++this.#revision}` },
    })
  }

  async update(type: ResourceType, object: KubeObject): Promise<KubeObject> {
    const path = pathOf(type, object.metadata as ObjectKey)
    const current = this.#objects.get(path)
    if (!current) throw notFound(type, object.metadata.name!)
    if (current.metadata.resourceVersion !== object.metadata.resourceVersion) {
      throw conflict(type, object.metadata.name!, 'the object has been modified')
    }
    this.log.push(`update ${path}`)
    return this.#put('MODIFIED', type, path, object)
  }

  async apply(type: ResourceType, object: KubeObject): Promise<KubeObject> {
    const path = pathOf(type, object.metadata as ObjectKey)
    const current = this.#objects.get(path)
    this.log.push(`apply ${path}`)
    return this.#put('MODIFIED', type, path, {
      ...current,
      ...object,
      metadata: { ...current?.metadata, ...object.metadata },
    })
  }

  async delete(type: ResourceType, key: ObjectKey): Promise<void> {
    const path = pathOf(type, key)
    const object = this.#objects.get(path)
    if (!object) throw notFound(type, key.name)
    this.log.push(`delete ${path}`)
    this.#objects.delete(path)
    this.#tell('DELETED', type, object)
  }

  #put(event: 'ADDED' | 'MODIFIED', type: ResourceType, path: string, object: KubeObject): KubeObject {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) }
    const stored = { ...object, metadata }
    this.#objects.set(path, stored)
    this.#tell(event, type, stored)
    return stored
  }

  #tell(what: 'ADDED' | 'MODIFIED' | 'DELETED', type: ResourceType, object: KubeObject): void {
    const event: WatchEvent = { type: what, object }
    this.#history.push({ revision: ++this.#revision, resource: type.resource, event })
    for (const watcher of this.#watchers) {
      if (watcher.resource !== type.resource || !watcher.matches(object)) continue
      watcher.events.push(event)
      watcher.wake()
    }
  }
}

function pathOf(type: ResourceType, { namespace, name }: ObjectKey): string {
  return namespace ? `${type.resource}/${namespace}/${name}` : `${type.resource}/${name}`
}

function matcher(fieldSelector: string | undefined): (object: KubeObject) => boolean {
  const [field, value] = fieldSelector?.split('=') ?? []
  if (!field) return () => true
  return (object) => (field === 'metadata.name' ? object.metadata.name : object[field]) === value
}
