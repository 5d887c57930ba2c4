/** Puts a long answer together in one piece of memory, instead of from thousands of small ones. */
export class Writer {
  #memory: Buffer
  #length = 0

  /** @param expected About how many bytes there will be. */
  constructor(expected: number) {
    this.#memory = Buffer.allocUnsafe(expected)
  }

  text(text: string): void {
    this.#reserve(text.length * 3) // UTF-8 takes no more than that.
    this.#length += this.#memory.write(text, this.#length)
  }

  copy(source: Buffer, from = 0, to = source.length): void {
    this.#reserve(to - from)
    this.#length += source.copy(this.#memory, this.#length, from, to)
  }

  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#memory.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#length + more))
    this.#memory.copy(larger, 0, 0, this.#length)
    this.#memory = larger
  }
}
