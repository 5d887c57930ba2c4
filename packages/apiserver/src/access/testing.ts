import type { KubeObject } from '@crosstie/kube'
import type { Change, Stored, StoredPage } from '../store/store.js'

/** The reading half of a store, in memory, for tests of what only reads and follows changes. */
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
