import { JsonSyntaxError } from './json-exact.js'

/** A body that is no protobuf message, or none of a kind the server knows. */
export class ProtobufError extends JsonSyntaxError {
  override readonly name = 'ProtobufError'
}

export const WIRE_VARINT = 0
export const WIRE_64_BITS = 1
export const WIRE_BYTES = 2
export const WIRE_32_BITS = 5

/** Reads the parts of one message, in order. Every method throws a ProtobufError at the end of the bytes. */
export interface Reader {
  more(): boolean
  tag(): { readonly number: number; readonly wire: number }
  varint(): bigint
  /** A signed integer: a number where that is exact, a bigint beyond. */
  integer(): number | bigint
  double(): number
  bytes(): Uint8Array
  text(): string
  skip(wire: number): void
}

export function readerOf(bytes: Uint8Array): Reader {
  return new BytesReader(bytes)
}

class BytesReader implements Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  more(): boolean {
    return this.#at < this.#bytes.length
  }

  tag(): { number: number; wire: number } {
    const tag = this.#small()
    const number = Math.floor(tag / 8)
    if (number === 0) throw new ProtobufError(`proto: illegal tag ${number} (wire type ${tag % 8})`)
    return { number, wire: tag % 8 }
  }

  /** Tags and lengths are short: no bigint is needed for them. */
  #small(): number {
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('proto: integer overflow')
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new ProtobufError('unexpected EOF')
    return byte
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('proto: integer overflow')
  }

  integer(): number | bigint {
    const value = BigInt.asIntN(64, this.varint())
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }

  double(): number {
    const at = this.#advance(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true)
  }

  bytes(): Uint8Array {
    const length = this.#small()
    const at = this.#advance(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    const bytes = this.bytes()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  }

  skip(wire: number): void {
    if (wire === WIRE_VARINT) this.varint()
    else if (wire === WIRE_64_BITS) this.#advance(8)
    else if (wire === WIRE_BYTES) this.bytes()
    else if (wire === WIRE_32_BITS) this.#advance(4)
    else throw new ProtobufError(`proto: illegal wireType ${wire}`)
  }

  #advance(length: number): number {
    const at = this.#at
    if (at + length > this.#bytes.length) throw new ProtobufError('unexpected EOF')
    this.#at = at + length
    return at
  }
}
