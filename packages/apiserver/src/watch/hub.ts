import type { Change, Store } from '../store/store.js'

/** Receives every durable change of one kind in order. It must neither throw nor block. */
export type Listener = (change: Change) => void

/** Delivers durable changes to the watchers of each kind. */
export class Hub {
  readonly #store: Store
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #unsubscribe: () => void

  constructor(store: Store) {
    this.#store = store
    this.#unsubscribe = store.subscribe((changes) => {
      for (const change of changes) this.#publish(change)
    })
  }

  /**
   * Calls the listener with all changes of the kind after the revision: past ones at once, later ones when they
   * become durable. No change is missed, because both happen in one turn of the event loop. Throws CompactedError.
   * Returns the function that unsubscribes.
   */
  follow(prefix: string, after: number, listener: Listener): () => void {
    for (const change of this.#store.changesSince(after, prefix)) listener(change)
    let listeners = this.#listeners.get(prefix)
    if (!listeners) {
      listeners = new Set()
      this.#listeners.set(prefix, listeners)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(prefix) === listeners) this.#listeners.delete(prefix)
    }
  }

  get watchers(): number {
    let count = 0
    for (const listeners of this.#listeners.values()) count += listeners.size
    return count
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
  }

  #publish(change: Change): void {
    // Keys have the form `/group/resource/...`. The third slash ends the prefix of the kind.
    const end = change.key.indexOf('/', change.key.indexOf('/', 1) + 1)
    const listeners = this.#listeners.get(change.key.slice(0, end + 1))
    if (listeners) for (const listener of listeners) listener(change)
  }
}
