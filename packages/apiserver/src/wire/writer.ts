/**
 * Reuses the memory of the last long response. V8 counts such memory as its own until it is collected, so a list of
 * megabytes every second would keep the garbage collector busier than the lists themselves.
 */
class Spare {
  #memory: Buffer | undefined
  #forgetting: NodeJS.Timeout | undefined

  take(bytes: number): Buffer {
    const memory = this.#memory
    if (!memory || memory.length < bytes) return Buffer.allocUnsafeSlow(bytes)
    this.#memory = undefined
    return memory
  }

  keep(memory: Buffer): void {
    if (memory.length > SPARE_BYTES_MAX || memory.length < (this.#memory?.length ?? 0)) return
    this.#memory = memory
    this.#forgetting ??= setTimeout(() => {
      this.#forgetting = undefined
      this.#memory = undefined
    }, SPARE_MS).unref()
  }
}

const SPARE_BYTES_MAX = 32 << 20
const SPARE_MS = 10_000
const spare = new Spare()

/** Assembles a long response in one buffer instead of thousands of small ones. */
export class Writer {
  #memory: Buffer
  #length = 0

  /** @param expected The approximate number of bytes. */
  constructor(expected: number) {
    this.#memory = spare.take(expected)
  }

  text(text: string): void {
    this.#reserve(text.length * 3) // The UTF-8 form is never longer.
    this.#length += this.#memory.write(text, this.#length)
  }

  copy(source: Uint8Array, from = 0, to = source.length): void {
    this.#reserve(to - from)
    this.#memory.set(from === 0 && to === source.length ? source : source.subarray(from, to), this.#length)
    this.#length += to - from
  }

  /** Valid until `release`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /**
   * Reuses the memory. Call it at most once, when the bytes are no longer read. Without a call the memory is
   * garbage collected.
   */
  release(): void {
    spare.keep(this.#memory)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + more))
    this.#memory.copy(larger, 0, 0, this.#length)
    this.#memory = larger
  }
}
