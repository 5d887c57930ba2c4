/** Chunks are split at this size. Measured: 256 to 1024 differ little between 1,000 and 1,000,000 keys. */
const CHUNK_MAX = 512

/**
 * Items in the order of their keys, in chunks. Lookup is a binary search over chunks and then within one. An insert
 * moves at most one chunk. A position is a sum of chunk sizes.
 */
export class Ordered<T extends { readonly key: string }> {
  readonly #chunks: T[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds an item that is not present. */
  insert(item: T): void {
    this.#size++
    const at = Math.max(0, this.#chunkOf(item.key))
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([item])
      return
    }
    chunk.splice(lowerBound(chunk, item.key), 0, item)
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(at + 1, 0, chunk.splice(splitPoint(chunk, item)))
  }

  /** Removes the item with the key. */
  remove(key: string): void {
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]
    if (!chunk) return
    const index = lowerBound(chunk, key)
    if (chunk[index]?.key !== key) return
    chunk.splice(index, 1)
    this.#size--
    if (chunk.length === 0) this.#chunks.splice(at, 1)
    else this.#mergeSmall(at)
  }

  /** Returns the number of smaller keys. */
  position(key: string): number {
    const at = this.#chunkOf(key)
    if (at < 0) return 0
    let before = 0
    for (let i = 0; i < at; i++) before += this.#chunks[i]!.length
    return before + lowerBound(this.#chunks[at]!, key)
  }

  /** Visits the items from one position up to, but not including, another. */
  each(from: number, to: number, visit: (item: T) => void): void {
    let left = to - from
    let skip = from
    for (const chunk of this.#chunks) {
      if (left <= 0) return
      if (skip >= chunk.length) {
        skip -= chunk.length
        continue
      }
      const end = Math.min(chunk.length, skip + left)
      for (let i = skip; i < end; i++) visit(chunk[i]!)
      left -= end - skip
      skip = 0
    }
  }

  /** Iterates from the first key that is not smaller. The collection must not change meanwhile. */
  *from(key: string): Generator<T, undefined> {
    let at = Math.max(0, this.#chunkOf(key))
    let index = this.#chunks[at] ? lowerBound(this.#chunks[at]!, key) : 0
    for (; at < this.#chunks.length; at++, index = 0) {
      const chunk = this.#chunks[at]!
      for (; index < chunk.length; index++) yield chunk[index]!
    }
  }

  /** Returns the last chunk that starts at or before the key, or -1. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#chunks[middle]![0]!.key <= key) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #mergeSmall(at: number): void {
    const chunk = this.#chunks[at]!
    const next = this.#chunks[at + 1]
    if (!next || chunk.length + next.length > CHUNK_MAX / 4) return
    this.#chunks.splice(at, 2, chunk.concat(next))
  }
}

/** Keys often arrive in order. Then the left part stays full instead of half empty. */
function splitPoint<T>(chunk: readonly T[], inserted: T): number {
  return chunk[chunk.length - 1] === inserted ? chunk.length - 1 : chunk.length >> 1
}

function lowerBound(chunk: readonly { readonly key: string }[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunk[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}
