import { isConflict, isNotFound, type OwnerReference, parseApiVersion } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'
import type { Served } from '../serving/served.js'
import type { Change, Stored } from '../store/store.js'
import { FOREGROUND, ORPHAN, remove } from '../verbs/delete.js'
import { controller, systemRequest } from '../verbs/system.js'
import { modify } from '../verbs/write-path.js'
import { WorkQueue } from '../workqueue.js'

const writer = controller('generic-garbage-collector')

const noOwners: ReadonlySet<string> = new Set()

type State = 'there' | 'going' | 'absent' | 'unknown'

/**
 * Implements `kubectl delete --cascade`: dependents are deleted after their owner (background), before it
 * (foreground), or stay (orphan). Dependents are indexed by the uid of the owner.
 */
export class GarbageCollector {
  readonly #engine: Engine
  readonly #dependents = new Map<string, Set<string>>()
  readonly #owners = new Map<string, ReadonlySet<string>>()
  readonly #work: WorkQueue
  #unsubscribe: () => void = () => {}

  constructor(engine: Engine, report: (key: string, error: unknown) => void) {
    this.#engine = engine
    this.#work = new WorkQueue((key) => this.#collect(key), report)
  }

  start(): void {
    const { store } = this.#engine
    this.#unsubscribe = store.subscribe((changes) => {
      for (const change of changes) this.#learn(change)
    })
    // Most objects have no owner and no dependents. Their JSON shows this without parsing.
    for (const stored of store.list('').items) if (mattersToUs(stored)) this.#know(stored)
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#work.stop()
  }

  #learn(change: Change): void {
    const { key, now, before } = change
    if (change.type !== 'DELETED') {
      if (now.object.metadata.ownerReferences || this.#owners.has(key) || now.object.metadata.deletionTimestamp)
        this.#know(now)
      return
    }
    for (const owner of this.#forget(key)) this.#wakeOwner(owner)
    const uid = (before ?? now).object.metadata.uid
    if (uid) this.#waiting.delete(uid)
    for (const dependent of this.#dependents.get(uid ?? '') ?? []) this.#work.add(dependent)
  }

  #know({ key, object }: Stored): void {
    const { ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata
    const owners = new Set(ownerReferences.map(({ uid }) => uid))
    for (const owner of this.#forget(key)) if (!owners.has(owner)) this.#wakeOwner(owner)
    if (owners.size > 0) {
      this.#owners.set(key, owners)
      for (const owner of owners) {
        const dependents = this.#dependents.get(owner) ?? new Set()
        this.#dependents.set(owner, dependents.add(key))
      }
      this.#work.add(key)
    }
    if (deletionTimestamp && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN))) this.#work.add(key)
  }

  #forget(key: string): ReadonlySet<string> {
    const owners = this.#owners.get(key) ?? noOwners
    this.#owners.delete(key)
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner)
      dependents?.delete(key)
      if (dependents?.size === 0) this.#dependents.delete(owner)
    }
    return owners
  }

  /** Checks again an owner that waits for its dependents. */
  #wakeOwner(uid: string): void {
    const key = this.#waiting.get(uid)
    if (key) this.#work.add(key)
  }

  readonly #waiting = new Map<string, string>()

  async #collect(key: string): Promise<void> {
    const stored = this.#engine.store.get(key)
    if (!stored) return
    const request = this.#requestFor(stored)
    if (!request) return
    const { deletionTimestamp, finalizers = [] } = stored.object.metadata
    try {
      if (deletionTimestamp && finalizers.includes(ORPHAN)) return await this.#orphan(request, stored)
      if (deletionTimestamp && finalizers.includes(FOREGROUND)) return await this.#deleteDependents(request, stored)
      if (!deletionTimestamp) await this.#judge(request, stored)
    } catch (error) {
      if (isConflict(error)) this.#work.add(key)
      else if (!isNotFound(error)) throw error
    }
  }

  async #orphan(request: WriteRequest, { object }: Stored): Promise<void> {
    const { uid = '' } = object.metadata
    for (const key of [...(this.#dependents.get(uid) ?? [])]) {
      const dependent = this.#engine.store.get(key)
      const about = dependent && this.#requestFor(dependent)
      if (about) await this.#dropOwners(about, new Set([uid]))
    }
    await this.#dropFinalizer(request, ORPHAN)
  }

  async #deleteDependents(request: WriteRequest, { key, object }: Stored): Promise<void> {
    const { uid = '' } = object.metadata
    const dependents = [...(this.#dependents.get(uid) ?? [])].filter((name) => this.#engine.store.get(name))
    this.#waiting.set(uid, key)
    for (const dependent of dependents) this.#work.add(dependent)
    if (dependents.some((name) => this.#blocks(name, uid))) return
    await this.#dropFinalizer(request, FOREGROUND)
    this.#waiting.delete(uid)
  }

  #blocks(key: string, owner: string): boolean {
    const references = this.#engine.store.get(key)?.object.metadata.ownerReferences ?? []
    return references.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true)
  }

  /**
   * Keeps an object while it has a live owner, removes references to deleted owners, and deletes the object with
   * the last one.
   */
  async #judge(request: WriteRequest, { object }: Stored): Promise<void> {
    const { ownerReferences = [], namespace = '', uid = '', resourceVersion } = object.metadata
    if (ownerReferences.length === 0) return
    const states = ownerReferences.map((reference) => this.#stateOf(reference, namespace))
    if (states.includes('unknown')) return
    const gone = ownerReferences.filter((_, i) => states[i] !== 'there')
    if (gone.length === 0) return
    if (gone.length < ownerReferences.length) {
      await this.#dropOwners(request, new Set(gone.map((reference) => reference.uid)))
      return
    }
    const owning = (this.#dependents.get(uid)?.size ?? 0) > 0
    const foreground = states.includes('going') && owning
    const finalizers = object.metadata.finalizers ?? []
    const propagationPolicy = foreground
      ? 'Foreground'
      : finalizers.includes(ORPHAN)
        ? 'Orphan'
        : finalizers.includes(FOREGROUND)
          ? 'Foreground'
          : 'Background'
    await remove(this.#engine, request, { propagationPolicy, preconditions: { uid, resourceVersion } })
  }

  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): State {
    const version = parseApiVersion(apiVersion)
    const served = version && this.#engine.registry.byKind(version.group, version.version, kind)
    // A kind that is not served now may be served later, so its dependents are kept.
    if (!served) return 'unknown'
    const owner = this.#engine.store.get(served.key(namespace, name))?.object
    if (owner?.metadata.uid !== uid) return 'absent'
    const { deletionTimestamp, finalizers = [] } = owner.metadata
    return deletionTimestamp && finalizers.includes(FOREGROUND) ? 'going' : 'there'
  }

  async #dropOwners(request: WriteRequest, uids: ReadonlySet<string>): Promise<void> {
    await modify(this.#engine, request, (live) => {
      const kept = (live.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid))
      const { ownerReferences: _, ...metadata } = live.metadata
      return { object: { ...live, metadata: kept.length > 0 ? { ...metadata, ownerReferences: kept } : metadata } }
    })
  }

  async #dropFinalizer(request: WriteRequest, finalizer: string): Promise<void> {
    await modify(this.#engine, request, (live) => {
      const kept = (live.metadata.finalizers ?? []).filter((name) => name !== finalizer)
      const { finalizers: _, ...metadata } = live.metadata
      return { object: { ...live, metadata: kept.length > 0 ? { ...metadata, finalizers: kept } : metadata } }
    })
  }

  #requestFor({ key, object }: Stored): WriteRequest | undefined {
    const served = servedAt(this.#engine, key)
    return served && systemRequest(writer, served, object.metadata)
  }
}

/** Returns the kind of the objects at a key, in the storage version. */
function servedAt({ registry }: Engine, key: string): Served | undefined {
  const [, group = '', plural = ''] = key.split('/', 3)
  const definition = registry.definition(group, plural)
  return definition && registry.storage(definition)
}

const marks = ['"ownerReferences":', '"deletionTimestamp":'].map((text) => Buffer.from(text))

function mattersToUs({ bytes }: Stored): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return marks.some((mark) => text.includes(mark))
}
