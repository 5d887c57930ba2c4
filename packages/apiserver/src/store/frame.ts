import { crc32 } from 'node:zlib'

/*
 * The log, snapshots and backups consist of frames. A frame without a valid checksum is ignored or reported. All numbers
 * are little-endian.
 *
 *    0  magic        FF 43 54 01; UTF-8 never contains FF, so JSON does not look like a frame
 *    4  kind         one byte, then three of zero
 *    8  body length  32 bits
 *   12  records      32 bits: the number of records in the body
 *   16  before       64 bits: the newest revision before this frame
 *   24  revision     64 bits: the newest revision with this frame
 *   32  compacted    64 bits: the compacted revision at the time of the write
 *   40  time         64 bits: the time of the write, in milliseconds
 *   48  previous     32 bits: the checksum of the previous frame, so that a missing frame is detected
 *   52  checksum     32 bits: CRC-32 of the 52 bytes above and the body
 *   56  body
 *
 * A record: operation (8 bits), encoding (8), key length (16), value length (32), revision (64), key, value.
 */

/** The length of a frame header. */
export const FRAME_HEADER = 56
const CHECKSUM_AT = 52
const RECORD_HEADER = 16
const MAGIC = 0x015443ff
const TWO_32 = 2 ** 32

/** The kinds of frames. */
export const Kind = { segment: 1, changes: 2, seal: 3, snapshot: 4, objects: 5, end: 6 } as const
/** The operations of a change. */
export const Operation = { put: 0, delete: 1 } as const
/** The encodings of a value. */
export const Encoding = { plain: 0, encrypted: 1 } as const

/** The header fields of a frame. */
export interface FrameFields {
  readonly kind: number
  readonly before: number
  readonly revision: number
  readonly compacted: number
  readonly time: number
  readonly previous: number
}

/** A frame that was read. */
export interface Frame extends FrameFields {
  readonly records: number
  readonly checksum: number
  readonly body: Buffer
}

/** One record of a frame. */
export interface FrameRecord {
  readonly operation: number
  readonly encoding: number
  readonly revision: number
  readonly key: string
  /** A view of the body. */
  readonly value: Buffer
}

/** Builds frames in a buffer that it reuses. */
export class FrameBuilder {
  #buffer = Buffer.alloc(64 << 10)
  #view = new DataView(this.#buffer.buffer)
  #length = FRAME_HEADER
  #records = 0

  /** The number of bytes of the frame so far. */
  get length(): number {
    return this.#length
  }

  begin(): void {
    this.#length = FRAME_HEADER
    this.#records = 0
  }

  record(operation: number, encoding: number, revision: number, key: string, value: Uint8Array): void {
    const at = this.#length
    this.#reserve(RECORD_HEADER + key.length * 3 + value.length)
    const keyBytes = this.#buffer.write(key, at + RECORD_HEADER)
    this.#buffer.set(value, at + RECORD_HEADER + keyBytes)
    const view = this.#view
    view.setUint8(at, operation)
    view.setUint8(at + 1, encoding)
    view.setUint16(at + 2, keyBytes, true)
    view.setUint32(at + 4, value.length, true)
    setLong(view, at + 8, revision)
    this.#length += RECORD_HEADER + keyBytes + value.length
    this.#records++
  }

  json(value: unknown): void {
    const bytes = Buffer.from(JSON.stringify(value))
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Returns the bytes, padded with zeros to the alignment and valid until the next `begin`, and the checksum. */
  finish(fields: FrameFields, alignment = 1): { readonly bytes: Buffer; readonly checksum: number } {
    const view = this.#view
    view.setUint32(0, MAGIC, true)
    view.setUint32(4, fields.kind, true)
    view.setUint32(8, this.#length - FRAME_HEADER, true)
    view.setUint32(12, this.#records, true)
    setLong(view, 16, fields.before)
    setLong(view, 24, fields.revision)
    setLong(view, 32, fields.compacted)
    setLong(view, 40, fields.time)
    view.setUint32(48, fields.previous, true)
    const checksum = checksumOf(this.#buffer, this.#length)
    view.setUint32(CHECKSUM_AT, checksum, true)
    const end = aligned(this.#length, alignment)
    this.#reserve(end - this.#length)
    this.#buffer.fill(0, this.#length, end)
    return { bytes: this.#buffer.subarray(0, end), checksum }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return
    const grown = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#length + more))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
    this.#view = new DataView(grown.buffer)
  }
}

/** Returns the frame at the offset, or a text that explains the damage. */
export function frameAt(buffer: Buffer, offset: number): Frame | string {
  const length = bodyLengthAt(buffer, offset)
  if (typeof length === 'string') return length
  const end = offset + FRAME_HEADER + length
  if (end > buffer.length) return `a frame of ${FRAME_HEADER + length} bytes ends early`
  const whole = buffer.subarray(offset, end)
  const checksum = whole.readUInt32LE(CHECKSUM_AT)
  if (checksumOf(whole, whole.length) !== checksum) return 'the checksum does not match'
  return {
    kind: whole.readUInt8(4),
    records: whole.readUInt32LE(12),
    before: getLong(whole, 16),
    revision: getLong(whole, 24),
    compacted: getLong(whole, 32),
    time: getLong(whole, 40),
    previous: whole.readUInt32LE(48),
    checksum,
    body: whole.subarray(FRAME_HEADER),
  }
}

/** Returns the length of the body according to the header, which is not verified yet. */
export function bodyLengthAt(buffer: Buffer, offset: number): number | string {
  if (offset + FRAME_HEADER > buffer.length) return 'a frame ends early'
  if (buffer.readUInt32LE(offset) !== MAGIC) return 'there is no frame at this position'
  return buffer.readUInt32LE(offset + 8)
}

/** Returns the length of a frame with its header. */
export function sizeOf(frame: Frame): number {
  return FRAME_HEADER + frame.body.length
}

/** Calls `visit` for every record of a frame whose checksum is valid. */
export function eachRecord(frame: Frame, visit: (record: FrameRecord) => void): void {
  const { body } = frame
  let at = 0
  for (let i = 0; i < frame.records; i++) {
    const keyStart = at + RECORD_HEADER
    const keyEnd = keyStart + body.readUInt16LE(at + 2)
    const end = keyEnd + body.readUInt32LE(at + 4)
    visit({
      operation: body[at]!,
      encoding: body[at + 1]!,
      revision: getLong(body, at + 8),
      key: body.toString('utf8', keyStart, keyEnd),
      value: body.subarray(keyEnd, end),
    })
    at = end
  }
}

/** Returns the JSON in the body of a frame. */
export function jsonOf(frame: Frame): unknown {
  return JSON.parse(frame.body.toString())
}

/** Rounds the length up to the alignment. */
export function aligned(length: number, alignment: number): number {
  return Math.ceil(length / alignment) * alignment
}

/** CRC-32 of zlib: native code, unlike CRC-32C, and as good at detecting disk errors. */
function checksumOf(frame: Buffer, length: number): number {
  return crc32(frame.subarray(FRAME_HEADER, length), crc32(frame.subarray(0, CHECKSUM_AT)))
}

function setLong(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % TWO_32, true)
  view.setUint32(at + 4, Math.floor(value / TWO_32), true)
}

function getLong(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * TWO_32
}
