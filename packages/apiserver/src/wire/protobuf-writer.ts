import { WIRE_64_BITS, WIRE_BYTES, WIRE_VARINT } from './protobuf-reader.js'

const FIRST_BYTES = 1024
const VARINT_BYTES_MAX = 10

/** Encodes one message, part by part. */
export class Writer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  /** Returns a copy of the bytes written so far. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at))
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  text(number: number, value: string): void {
    this.#tag(number, WIRE_BYTES)
    const length = Buffer.byteLength(value)
    this.#varint(length)
    this.#room(length)
    this.#bytes.write(value, this.#at)
    this.#at += length
  }

  bytes(number: number, value: Uint8Array): void {
    this.#tag(number, WIRE_BYTES)
    this.#varint(value.length)
    this.raw(value)
  }

  bool(number: number, value: boolean): void {
    this.#tag(number, WIRE_VARINT)
    this.#varint(value ? 1 : 0)
  }

  integer(number: number, value: number | bigint): void {
    this.#tag(number, WIRE_VARINT)
    if (typeof value === 'number' && value >= 0) this.#varint(value)
    else this.#large(BigInt.asUintN(64, BigInt(value)))
  }

  double(number: number, value: number): void {
    this.#tag(number, WIRE_64_BITS)
    this.#room(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  /**
   * Writes a nested message. Its length comes first and is known last. Most lengths fit into the byte that is
   * reserved.
   */
  message(number: number, fill: (writer: Writer) => void): void {
    this.#tag(number, WIRE_BYTES)
    this.#room(1)
    const start = this.#at++
    fill(this)
    const end = this.#at
    const length = end - start - 1
    const size = length < 0x80 ? 1 : Math.ceil((32 - Math.clz32(length)) / 7)
    if (size > 1) {
      this.#room(size)
      this.#bytes.copyWithin(start + size, start + 1, end)
    }
    this.#at = start
    this.#varint(length)
    this.#at = end + size - 1
  }

  #tag(number: number, wire: number): void {
    this.#varint(number * 8 + wire)
  }

  #varint(value: number): void {
    this.#room(VARINT_BYTES_MAX)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#at++] = rest
  }

  #large(value: bigint): void {
    this.#room(VARINT_BYTES_MAX)
    let rest = value
    while (rest >= 0x80n) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#bytes[this.#at++] = Number(rest)
  }

  #room(length: number): void {
    if (this.#at + length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + length))
    larger.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = larger
  }
}
