import {
  type ApplyOptions,
  type ApplyTarget,
  alreadyExists,
  type Client,
  type DeleteOptions,
  equal,
  groupResource,
  ignoring,
  isNotFound,
  type KubeList,
  type KubeObject,
  type ListOptions,
  notFound,
  type ObjectKey,
  type Patch,
  parseLabelSelector,
  type ResourceType,
  StatusError,
  type WriteOptions,
} from '@crosstie/kube'
import { applyMergePatch } from '@crosstie/kube/patch'

/** A planned write. */
export interface ImaginedWrite {
  readonly type: ResourceType
  readonly before: KubeObject | undefined
  /** The object after the write. Undefined if it would be deleted. */
  readonly after: KubeObject | undefined
  readonly fieldManager: string | undefined
  readonly status: boolean
}

/**
 * The planned state of the cluster. Reads go to the real API, overlaid with planned writes. Writes change only the
 * planned state. Only reads and dry runs are sent to the server, so nothing is changed there.
 */
export class Imagination {
  readonly #real: Client
  readonly #impersonates: boolean
  /** The planned objects, by kind and key. Null marks a deleted object. */
  readonly #objects: Map<string, Map<string, KubeObject | null>>
  #uids = 0

  /**
   * @param options.impersonates Whether reads in the name of another user are sent as that user, as the controllers
   * do. By default, the plan is computed with the rights of the client alone.
   */
  constructor(real: Client, options: { readonly impersonates?: boolean } = {}, objects = new Map()) {
    this.#real = real
    this.#impersonates = options.impersonates === true
    this.#objects = objects
  }

  /** Returns the same planned state with the rights of another user. */
  as(user: string): Imagination {
    if (!this.#impersonates) return this
    return new Imagination(this.#real.as(user), { impersonates: true }, this.#objects)
  }

  /** Sets an object in the planned state. */
  imagine(type: ResourceType, object: KubeObject): KubeObject {
    const imagined = this.#born(object)
    this.#of(type).set(keyOf(object.metadata), imagined)
    return imagined
  }

  /** Marks an object as deleted in the planned state. It is removed once it has no finalizers. */
  imagineDeleted(type: ResourceType, object: KubeObject, now: string): void {
    const metadata = { ...object.metadata, deletionTimestamp: object.metadata.deletionTimestamp ?? now }
    this.#of(type).set(keyOf(metadata), { ...object, metadata })
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: object): Promise<T> {
    const imagined = this.#of(type).get(keyOf(key))
    if (imagined === null) throw notFound(type, key.name)
    return (imagined as T | undefined) ?? (await this.#real.get<T>(type, key, options))
  }

  async find(type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    return await this.get(type, key).catch(ignoring(isNotFound))
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    const listed = await this.#real.list<T>(type, options)
    const imagined = this.#of(type)
    if (imagined.size === 0) return listed
    const selector = options.labelSelector ? parseLabelSelector(options.labelSelector) : undefined
    const wanted = [...imagined.values()].filter(
      (object): object is T =>
        object !== null &&
        (!options.namespace || object.metadata.namespace === options.namespace) &&
        (!selector || selector.matches(object.metadata.labels ?? {})),
    )
    const items = [...listed.items.filter(({ metadata }) => !imagined.has(keyOf(metadata))), ...wanted]
    return { ...listed, items: items.sort((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1)) }
  }

  #born(object: KubeObject): KubeObject {
    const { uid = `imagined-${++this.#uids}`, generation = 1 } = object.metadata
    return { ...object, metadata: { ...object.metadata, uid, generation } }
  }

  /** Reverts planned writes. */
  undo(writes: readonly ImaginedWrite[]): void {
    for (const { type, before, after } of writes.toReversed()) {
      const key = keyOf((after ?? before!).metadata)
      if (before) this.#of(type).set(key, before)
      else this.#of(type).delete(key)
    }
  }

  /** Returns a client whose writes change the planned state. It reports each of them. */
  client(wrote: (write: ImaginedWrite) => void): Client {
    return new ImaginedClient(this, this.#real, wrote, (type, before, after, options) => {
      const stored = after && settled(before, before ? after : this.#born(after))
      this.#of(type).set(keyOf((stored ?? before!).metadata), stored ?? null)
      const { fieldManager, subresource } = options
      wrote({ type, before, after: stored, fieldManager, status: subresource === 'status' })
      return stored ?? after ?? before!
    })
  }

  #of(type: ResourceType): Map<string, KubeObject | null> {
    const name = groupResource(type)
    let objects = this.#objects.get(name)
    if (!objects) {
      objects = new Map()
      this.#objects.set(name, objects)
    }
    return objects
  }
}

type Write = (
  type: ResourceType,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  options: WriteOptions,
) => KubeObject

class ImaginedClient implements Client {
  readonly get: Client['get']
  readonly list: Client['list']
  readonly discover: Client['discover']

  constructor(
    private readonly world: Imagination,
    private readonly real: Client,
    private readonly wrote: (write: ImaginedWrite) => void,
    private readonly write: Write,
  ) {
    this.get = (type, key, options) => world.get(type, key, options)
    this.list = (type, options) => world.list(type, options)
    this.discover = (where, options) => real.discover(where, options)
  }

  as(user: string): Client {
    return this.world.as(user).client(this.wrote)
  }

  // biome-ignore lint/correctness/useYield: what is imagined does not change by itself.
  async *watch(): AsyncIterable<never> {
    throw new StatusError(405, 'MethodNotAllowed', 'an imagined world cannot be watched')
  }

  async create<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    if (options.dryRun) return await this.real.create(type, object, options)
    const held = await this.world.find(type, object.metadata as ObjectKey)
    if (held) throw alreadyExists(type, object.metadata.name!)
    return this.write(type, undefined, object, options) as T
  }

  async update<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    if (options.dryRun) return await this.real.update(type, object, options)
    return (await this.#change(type, object.metadata as ObjectKey, options, () => object)) as T
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    if (options.dryRun) return await this.real.patch(type, key, patch, options)
    if (patch.type !== 'merge') throw new StatusError(415, 'UnsupportedMediaType', 'only merge patches can be imagined')
    return (await this.#change(type, key, options, (held) => merged(held, patch.patch))) as T
  }

  async apply<T extends KubeObject>(
    type: ResourceType,
    object: Partial<T> & ApplyTarget,
    options: ApplyOptions,
  ): Promise<T> {
    if (options.dryRun) return await this.real.apply(type, object, options)
    return (await this.#change(type, object.metadata, options, (held) => merged(held, object))) as T
  }

  async delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<KubeObject | undefined> {
    if (options?.dryRun) return await this.real.delete(type, key, options)
    return this.write(type, await this.world.get(type, key), undefined, {})
  }

  async deleteCollection(): Promise<void> {
    throw new StatusError(405, 'MethodNotAllowed', 'only one object at a time can be imagined to go')
  }

  async #change(
    type: ResourceType,
    key: ObjectKey,
    options: WriteOptions,
    change: (held: KubeObject) => KubeObject,
  ): Promise<KubeObject> {
    const held = await this.world.get(type, key)
    const wanted = change(held)
    const { status } = held
    const after = options.subresource === 'status' ? { ...held, status: wanted['status'] } : { ...wanted, status }
    return this.write(type, held, after, options)
  }
}

const merged = (held: KubeObject, patch: unknown): KubeObject => applyMergePatch(held, patch) as KubeObject

/**
 * Returns the object as a server would store it. A change of the spec increments the generation. A deleted object
 * without finalizers is removed.
 */
function settled(before: KubeObject | undefined, after: KubeObject): KubeObject | undefined {
  const { deletionTimestamp, finalizers = [] } = after.metadata
  if (deletionTimestamp && finalizers.length === 0) return undefined
  const grown = before && !equal(before['spec'], after['spec']) ? 1 : 0
  const { uid, resourceVersion } = before?.metadata ?? {}
  const metadata = {
    ...after.metadata,
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(before?.metadata.generation ? { generation: before.metadata.generation + grown } : {}),
  }
  return { ...after, metadata }
}

const keyOf = ({ namespace = '', name = '' }: { namespace?: string; name?: string }): string => `${namespace}/${name}`
