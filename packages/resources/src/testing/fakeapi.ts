import {
  type ApplyOptions,
  type ApplyTarget,
  alreadyExists,
  apiVersionOf,
  type Client,
  clone,
  conflict,
  type DeleteOptions,
  equal,
  getOwn,
  isObject,
  type Json,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type Patch,
  type ResourceType,
  StatusError,
  setOwn,
  type WatchEvent,
  type WriteOptions,
} from '@crosstie/kube'

/** The verbs of the fake API. */
export type FakeVerb = 'get' | 'list' | 'create' | 'update' | 'updateStatus' | 'patch' | 'apply' | 'delete'

/** A request to the fake API. For writes, it includes the resulting object. */
export interface FakeRequest {
  readonly verb: FakeVerb
  readonly type: ResourceType
  readonly name: string
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
  readonly fieldManager: string | undefined
}

/** The options of the fake API. */
export interface FakeApiOptions {
  readonly now?: () => number
  /** Called before a request takes effect. Throw to make it fail. */
  readonly before?: (request: FakeRequest) => void | Promise<void>
  /** Called after a request took effect, before the response. Throw to lose the response. */
  readonly after?: (request: FakeRequest) => void | Promise<void>
}

/**
 * An in-memory Kubernetes API for reconcilers, with resource versions, generations, the status subresource and
 * finalizers. It has no schemas, and an apply is a forced merge. Use it in tests that inject faults. Other tests
 * use the embedded server.
 */
export class FakeApi implements Client {
  readonly #objects = new Map<string, KubeObject>()
  readonly #options: FakeApiOptions
  #revision = 0
  #uids = 0

  constructor(options: FakeApiOptions = {}) {
    this.#options = options
  }

  /** Stores an object unchanged, without any checks. */
  seed(type: ResourceType, object: KubeObject): KubeObject {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } }
    this.#objects.set(keyOf(type, object.metadata as ObjectKey), stored)
    return stored
  }

  /** Returns the current object without a request. */
  peek(type: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(keyOf(type, key))
  }

  /** Returns all objects without a request. */
  all(): readonly KubeObject[] {
    return [...this.#objects.values()]
  }

  remove(type: ResourceType, key: ObjectKey): void {
    this.#objects.delete(keyOf(type, key))
  }

  /** Returns the same client, since the fake API has no users. */
  as(): Client {
    return this
  }

  async discover(): Promise<readonly ResourceType[]> {
    return []
  }

  async get<T extends KubeObject = KubeObject>(type: ResourceType, key: ObjectKey): Promise<T> {
    return await this.#run('get', type, key, undefined, () => {
      const found = this.peek(type, key)
      if (!found) throw notFound(type, key.name)
      return found as T
    })
  }

  async list<T extends KubeObject = KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    return await this.#run('list', type, { name: '' }, undefined, () => {
      const prefix = `${type.group}/${type.resource}/${options.namespace ? `${options.namespace}/` : ''}`
      const wanted = (options.labelSelector ?? '')
        .split(',')
        .filter(Boolean)
        .map((label) => label.split('='))
      const items = [...this.#objects]
        .filter(([key, { metadata }]) => {
          return key.startsWith(prefix) && wanted.every(([name, value]) => metadata.labels?.[name!] === value)
        })
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => object as T)
      return { apiVersion: apiVersionOf(type), kind: `${type.kind}List`, metadata: {}, items }
    })
  }

  // biome-ignore lint/correctness/useYield: nothing here needs watches; the controller kit has its own tests.
  async *watch<T extends KubeObject = KubeObject>(): AsyncIterable<WatchEvent<T>> {
    throw new StatusError(405, 'MethodNotAllowed', 'the fake API has no watches')
  }

  async create<T extends KubeObject = KubeObject>(type: ResourceType, object: T): Promise<T> {
    const key = object.metadata as ObjectKey
    const metadata = {
      creationTimestamp: new Date(this.#now()).toISOString(),
      ...object.metadata,
      uid: object.metadata.uid ?? `uid-${++this.#uids}`,
      generation: 1,
    }
    return await this.#run('create', type, key, { ...object, metadata }, (wanted) => {
      if (this.peek(type, key)) throw alreadyExists(type, key.name)
      return this.#store(type, key, wanted!) as T
    })
  }

  async update<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const key = object.metadata as ObjectKey
    return (await this.#write(
      options.subresource === 'status' ? 'updateStatus' : 'update',
      type,
      key,
      options,
      () => object,
    )) as T
  }

  async patch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    if (patch.type !== 'merge')
      throw new StatusError(415, 'UnsupportedMediaType', 'the fake API knows merge patches only')
    return (await this.#write('patch', type, key, options, (held) => mergePatch(held, patch.patch) as KubeObject)) as T
  }

  async apply<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T> {
    const write = (held: KubeObject) => mergePatch(held, object as unknown as Json) as KubeObject
    return (await this.#write('apply', type, object.metadata, options, write)) as T
  }

  async delete(type: ResourceType, key: ObjectKey, _options?: DeleteOptions): Promise<KubeObject | undefined> {
    return await this.#run('delete', type, key, undefined, () => {
      const held = this.peek(type, key)
      if (!held) throw notFound(type, key.name)
      const { metadata } = held
      if ((metadata.finalizers ?? []).length === 0) {
        this.remove(type, key)
        return held
      }
      if (metadata.deletionTimestamp) return held
      const deletionTimestamp = new Date(this.#now()).toISOString()
      const generation = (metadata.generation ?? 0) + 1
      return this.#store(type, key, { ...held, metadata: { ...metadata, deletionTimestamp, generation } })
    })
  }

  async deleteCollection(): Promise<void> {
    throw new StatusError(405, 'MethodNotAllowed', 'the fake API deletes one object at a time')
  }

  async #write(
    verb: FakeVerb,
    type: ResourceType,
    key: ObjectKey,
    options: WriteOptions,
    change: (held: KubeObject) => KubeObject,
  ): Promise<KubeObject> {
    const held = this.peek(type, key)
    if (!held) throw notFound(type, key.name)
    const wanted = (of: KubeObject) => admitted(of, change(of), options.subresource === 'status')
    return await this.#run(
      verb,
      type,
      key,
      wanted(held),
      (before) => {
        const now = this.peek(type, key)
        if (!now) throw notFound(type, key.name)
        // The object may have changed during the request. Those changes are kept.
        const after = now === held ? before : wanted(now)
        const expected = change(now).metadata.resourceVersion
        if (expected && expected !== now.metadata.resourceVersion) {
          throw conflict(
            type,
            key.name,
            'the object has been modified; please apply your changes to the latest version and try again',
          )
        }
        if (options.dryRun) return after!
        if (equal(after, now)) return now
        const { metadata } = after!
        if (metadata.deletionTimestamp && (metadata.finalizers ?? []).length === 0) {
          this.remove(type, key)
          return after!
        }
        return this.#store(type, key, after!)
      },
      options.fieldManager,
    )
  }

  async #run<T>(
    verb: FakeVerb,
    type: ResourceType,
    key: ObjectKey,
    after: KubeObject | undefined,
    run: (after: KubeObject | undefined) => T,
    fieldManager?: string,
  ): Promise<T> {
    const before = verb === 'list' ? undefined : this.peek(type, key)
    const request: FakeRequest = { verb, type, name: key.name, before, after, fieldManager }
    await this.#options.before?.(request)
    const answer = run(after)
    await this.#options.after?.(request)
    return answer
  }

  #store(type: ResourceType, key: ObjectKey, object: KubeObject): KubeObject {
    const stored = clone({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } })
    this.#objects.set(keyOf(type, key), stored)
    return stored
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }
}

function keyOf(type: ResourceType, { namespace = '', name }: ObjectKey): string {
  return `${type.group}/${type.resource}/${namespace}/${name}`
}

/**
 * Returns the object to store. An update keeps the stored status, and a status update keeps everything else. A
 * change of the spec increments the generation.
 */
function admitted(held: KubeObject, wanted: KubeObject, status: boolean): KubeObject {
  if (status) return { ...held, status: wanted['status'] }
  const { resourceVersion, uid, creationTimestamp, deletionTimestamp } = held.metadata
  const grown = equal(held['spec'], wanted['spec']) ? 0 : 1
  return {
    ...wanted,
    ...(held['status'] === undefined ? {} : { status: held['status'] }),
    metadata: {
      ...wanted.metadata,
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(uid ? { uid } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
      generation: (held.metadata.generation ?? 0) + grown,
    },
  }
}

/** Applies a JSON merge patch (RFC 7386). */
export function mergePatch(held: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(held) ? { ...held } : {}
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || patch[key] === undefined) delete merged[key]
    else setOwn(merged, key, mergePatch(getOwn(merged, key), patch[key]))
  }
  return merged
}
