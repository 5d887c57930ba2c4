const SLAB = 64 << 10

/**
 * Memory for the JSON of new versions. A buffer for each version would cost more than encoding it, so versions
 * share slabs in the order of their writes. History is compacted in the same order. Versions that are still current
 * are then copied out, and the slab is freed.
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

/** Copies the bytes to memory of their own. */
export function ownMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
