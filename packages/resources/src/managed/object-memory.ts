import type { KubeObject } from '@crosstie/kube'
import type { Unresolved } from './runtime.js'
import type { Corrections } from './update/update-loop.js'

/** The memory of one process for one object beside what is stored. All of it may be lost at any time. */
export interface ObjectState {
  /** How many creates are under way in this process, or were cut off. */
  creating: number
  /** How often a create was refused while an earlier one was in doubt. */
  refused: number
  /** When this process last changed the external resource: older lists do not show it. */
  touched: number
  /** Set while a reference cannot be resolved: what would be news to the object. */
  unresolved: Unresolved | undefined
  /** Digests of the sensitive values that the provider received last, by field. */
  sent: ReadonlyMap<string, string> | undefined
  /** The name of the external resource when it was last known to exist. */
  externalName: string
  /** The updates that were sent for the difference that was seen last. */
  corrections: Corrections | undefined
}

/** An index over many objects, which drops what it holds for one of them. */
export interface ObjectIndex {
  forget(uid: string): void
}

/**
 * The one owner of per-object memory. `drop` removes the state of an object and its entries in every index. It is called when
 * the object is gone, whatever its finalizers were.
 */
export class ObjectMemory {
  readonly #states = new Map<string, ObjectState>()
  readonly #indexes: readonly ObjectIndex[]

  constructor(indexes: readonly (ObjectIndex | undefined)[] = []) {
    this.#indexes = indexes.filter((index) => index !== undefined)
  }

  /** The state of the object, created when it is first asked for. */
  of({ metadata: { uid = '' } }: KubeObject): ObjectState {
    let state = this.#states.get(uid)
    if (!state) {
      state = {
        creating: 0,
        refused: 0,
        touched: 0,
        unresolved: undefined,
        sent: undefined,
        externalName: '',
        corrections: undefined,
      }
      this.#states.set(uid, state)
    }
    return state
  }

  *unresolved(): Iterable<Unresolved> {
    for (const { unresolved } of this.#states.values()) if (unresolved) yield unresolved
  }

  drop(uid: string): void {
    this.#states.delete(uid)
    for (const index of this.#indexes) index.forget(uid)
  }

  get size(): number {
    return this.#states.size
  }
}

/** External names that objects of this process are about to use: two objects must not take the same one. */
export class ReservedNames implements ObjectIndex {
  readonly #uids = new Map<string, string>()

  isFree(name: string, uid: string): boolean {
    return (this.#uids.get(name) ?? uid) === uid
  }

  reserve(name: string, uid: string): void {
    this.#uids.set(name, uid)
  }

  forget(uid: string): void {
    for (const [name, holder] of this.#uids) if (holder === uid) this.#uids.delete(name)
  }

  get size(): number {
    return this.#uids.size
  }
}
