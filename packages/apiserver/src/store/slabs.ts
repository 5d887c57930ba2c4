const SLAB = 64 << 10

/**
 * Memory for the JSON of new versions. A buffer of its own for each would cost
 * more than writing the JSON does; so they share slabs, in the order in which
 * they came and in which history forgets most of them. What history forgets but
 * is still the newest state moves out then, and the slab is free.
 */
export class Slabs {
  #slab = Buffer.alloc(0)
  #used = 0

  take(length: number): Buffer {
    if (length > SLAB / 4) return Buffer.allocUnsafeSlow(length)
    if (this.#used + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB)
      this.#used = 0
    }
    this.#used += length
    return this.#slab.subarray(this.#used - length, this.#used)
  }
}

/** The same bytes in memory of their own. */
export function ownMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
