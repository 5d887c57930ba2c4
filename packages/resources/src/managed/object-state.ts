import type { ObjectIndex } from '../memory/object-memory.js'
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

export const newObjectState = (): ObjectState => ({
  creating: 0,
  refused: 0,
  touched: 0,
  unresolved: undefined,
  sent: undefined,
  externalName: '',
  corrections: undefined,
})

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
