import { JsonSyntaxError } from './json-exact.js'

/** The body is not a protobuf message, or its kind is unknown. */
export class ProtobufError extends JsonSyntaxError {
  override readonly name = 'ProtobufError'
}

/** The wire type of integers. */
export const WIRE_VARINT = 0
/** The wire type of 64-bit values. */
export const WIRE_64_BITS = 1
/** The wire type of bytes, texts and messages. */
export const WIRE_BYTES = 2
const WIRE_32_BITS = 5

/** Reads the parts of one message in order. Every method throws a ProtobufError at the end of the bytes. */
export class Reader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  more(): boolean {
    return this.#at < this.#end
  }

  tag(): { readonly number: number; readonly wire: number } {
    const tag = this.#small()
    const number = Math.floor(tag / 8)
    if (number === 0) throw new ProtobufError(`proto: illegal tag ${number} (wire type ${tag % 8})`)
    return { number, wire: tag % 8 }
  }

  bool(): boolean {
    return this.integer() !== 0
  }

  /** Reads a signed integer: a number when that is exact, a bigint otherwise. */
  integer(): number | bigint {
    const start = this.#at
    let value = 0
    for (let i = 0, scale = 1; i < SMALL_BYTES; i++, scale *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    this.#at = start
    return this.#large()
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#advance(8))
  }

  /** Reads a nested message as a reader of its own. */
  message(): Reader {
    const length = this.#small()
    const at = this.#advance(length)
    return new Reader(this.#bytes, at, at + length)
  }

  bytes(): Buffer {
    const length = this.#small()
    const at = this.#advance(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    const length = this.#small()
    const at = this.#advance(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  skip(wire: number): void {
    if (wire === WIRE_VARINT) this.integer()
    else if (wire === WIRE_64_BITS) this.#advance(8)
    else if (wire === WIRE_BYTES) this.#advance(this.#small())
    else if (wire === WIRE_32_BITS) this.#advance(4)
    else throw new ProtobufError(`proto: illegal wireType ${wire}`)
  }

  /** Reads tags and lengths. */
  #small(): number {
    const value = this.integer()
    if (typeof value === 'bigint' || value < 0) throw new ProtobufError('proto: integer overflow')
    return value
  }

  #large(): number | bigint {
    let value = 0n
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) {
        const signed = BigInt.asIntN(64, value)
        const number = Number(signed)
        return Number.isSafeInteger(number) ? number : signed
      }
    }
    throw new ProtobufError('proto: integer overflow')
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new ProtobufError('unexpected EOF')
    return this.#bytes[this.#at++]!
  }

  #advance(length: number): number {
    const at = this.#at
    if (at + length > this.#end) throw new ProtobufError('unexpected EOF')
    this.#at = at + length
    return at
  }
}

/** Seven bytes of seven bits are exact in a number. */
const SMALL_BYTES = 7
