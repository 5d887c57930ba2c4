import type { KubeObject } from '@crosstie/kube'

/** An index over many objects. `forget` removes the entries of one object. */
export interface ObjectIndex {
  forget(uid: string): void
}

/**
 * Owns the in-memory state of objects. `drop` removes the state of an object and its entries in every index.
 * Controllers call it when an object no longer exists, regardless of its finalizers.
 */
export class ObjectMemory<State> {
  readonly #states = new Map<string, State>()
  readonly #create: () => State
  readonly #indexes: readonly ObjectIndex[]

  constructor(create: () => State, indexes: readonly (ObjectIndex | undefined)[] = []) {
    this.#create = create
    this.#indexes = indexes.filter((index) => index !== undefined)
  }

  /** Returns the state of the object. Creates it on first use. */
  of({ metadata: { uid = '' } }: KubeObject): State {
    let state = this.#states.get(uid)
    if (state === undefined) {
      state = this.#create()
      this.#states.set(uid, state)
    }
    return state
  }

  states(): Iterable<State> {
    return this.#states.values()
  }

  drop(uid: string): void {
    this.#states.delete(uid)
    for (const index of this.#indexes) index.forget(uid)
  }

  get size(): number {
    return this.#states.size
  }
}
