import type { ObjectIndex } from '../memory/object-memory.js'
import type { Unresolved } from './runtime.js'
import type { Corrections } from './update/update-loop.js'

/** The in-memory state of one object. All of it may be lost at any time. */
export interface ObjectState {
  /** The number of creates in this process that are in progress or have an unknown result. */
  creating: number
  /** The number of creates that were refused while an earlier one was in doubt. */
  refused: number
  /** Lists that started before this time may not show the last change by this process. */
  touched: number
  /** Set while a reference cannot be resolved. */
  unresolved: Unresolved | undefined
  /** Digests of the sensitive values that the provider received last, by field. */
  sent: ReadonlyMap<string, string> | undefined
  /** The name of the external resource when it was last known to exist. */
  externalName: string
  /** The updates that were sent for the last observed difference. */
  corrections: Corrections | undefined
}

/** Returns the state of an object about which nothing is known. */
export const newObjectState = (): ObjectState => ({
  creating: 0,
  refused: 0,
  touched: 0,
  unresolved: undefined,
  sent: undefined,
  externalName: '',
  corrections: undefined,
})

/** External names that objects of this process are about to use. It prevents two objects from using the same one. */
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
