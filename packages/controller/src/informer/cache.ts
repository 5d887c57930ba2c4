import type { KubeObject, ObjectKey } from '@crosstie/kube'
import { keyText, keyTextOf } from '../key.js'

/** Returns the values under which an index finds an object; an empty list leaves it out of the index. */
export type IndexBy<T extends KubeObject = KubeObject> = (object: T) => readonly string[]

/** The last known state of all objects of a kind. Returned objects are shared and must not be modified. */
export class Cache<T extends KubeObject = KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #indexes = new Map<string, Index<T>>()

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key))
  }

  /** Sorted keys, in the order of the server's lists. Computed on demand. */
  #order: readonly string[] | undefined

  /** `key` is in the form of `keyText`. */
  has(key: string): boolean {
    return this.#objects.has(key)
  }

  /** Iterates in the order of the server's lists: by namespace and name. */
  *inOrder(): Generator<T> {
    this.#order ??= [...this.#objects.keys()].sort()
    for (const key of this.#order) yield this.#objects.get(key)!
  }

  values(): IterableIterator<T> {
    return this.#objects.values()
  }

  entries(): IterableIterator<[string, T]> {
    return this.#objects.entries()
  }

  /** Iterates over the objects that the named index holds under the value. Throws if the index does not exist. */
  *find(index: string, value: string): Generator<T> {
    const keys = this.#index(index).keys.get(value)
    if (keys) for (const key of keys) yield this.#objects.get(key)!
  }

  /** Adds an index, which covers existing objects too. Does nothing if the name is taken. */
  index(name: string, by: IndexBy<T>): void {
    if (this.#indexes.has(name)) return
    const index = new Index(by)
    for (const [key, object] of this.#objects) index.replace(key, undefined, object)
    this.#indexes.set(name, index)
  }

  /** Stores the object and returns the previous one. */
  put(object: T): T | undefined {
    const key = keyTextOf(object)
    const before = this.#objects.get(key)
    this.#objects.set(key, object)
    if (!before) this.#order = undefined
    for (const index of this.#indexes.values()) index.replace(key, before, object)
    return before
  }

  remove(key: string): T | undefined {
    const before = this.#objects.get(key)
    if (!before) return undefined
    this.#objects.delete(key)
    this.#order = undefined
    for (const index of this.#indexes.values()) index.replace(key, before, undefined)
    return before
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`index ${name} does not exist`)
    return index
  }
}

class Index<T extends KubeObject> {
  readonly keys = new Map<string, Set<string>>()
  readonly #by: IndexBy<T>

  constructor(by: IndexBy<T>) {
    this.#by = by
  }

  replace(key: string, before: T | undefined, after: T | undefined): void {
    const old = before ? this.#by(before) : []
    const now = after ? this.#by(after) : []
    for (const value of old) if (!now.includes(value)) this.#remove(value, key)
    for (const value of now) this.#add(value, key)
  }

  #add(value: string, key: string): void {
    const keys = this.keys.get(value)
    if (keys) keys.add(key)
    else this.keys.set(value, new Set([key]))
  }

  #remove(value: string, key: string): void {
    const keys = this.keys.get(value)
    keys?.delete(key)
    if (keys?.size === 0) this.keys.delete(value)
  }
}
