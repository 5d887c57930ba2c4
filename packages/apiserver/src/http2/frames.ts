import {
  Code,
  ConnectionFailure,
  Flag,
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  Frame,
  StreamFailure,
  WINDOW_MAX,
  wrong,
} from './protocol.js'

export interface IncomingFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Cuts what comes in into frames. */
export class FrameReader {
  readonly #chunks: Buffer[] = []
  #size = 0
  /** What must be there before it is worth looking. */
  #needed: number
  #preface: Buffer | undefined

  /** @param preface What must come first of all. */
  constructor(preface: Buffer) {
    this.#preface = preface
    this.#needed = preface.length
  }

  read(chunk: Buffer, each: (frame: IncomingFrame) => void): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size)
    this.#chunks.length = 0
    const start = this.#afterPreface(bytes)
    const end = this.#frames(bytes, start, each)
    this.#size = bytes.length - end
    if (this.#size > 0) this.#chunks.push(bytes.subarray(end))
  }

  #afterPreface(bytes: Buffer): number {
    const preface = this.#preface
    if (!preface) return 0
    if (!bytes.subarray(0, preface.length).equals(preface)) {
      throw new ConnectionFailure(Code.PROTOCOL_ERROR, 'this is not how HTTP/2 begins')
    }
    this.#preface = undefined
    return preface.length
  }

  /** Returns where the first frame begins that is not whole yet. */
  #frames(bytes: Buffer, start: number, each: (frame: IncomingFrame) => void): number {
    let at = start
    for (;;) {
      this.#needed = FRAME_HEADER_BYTES
      if (bytes.length - at < this.#needed) return at
      const length = bytes.readUIntBE(at, 3)
      if (length > FRAME_BYTES_MAX) {
        throw new ConnectionFailure(Code.FRAME_SIZE_ERROR, `a frame of ${length} bytes is too large`)
      }
      this.#needed += length
      if (bytes.length - at < this.#needed) return at
      const from = at + FRAME_HEADER_BYTES
      at = from + length
      const type = bytes[from - 6]!
      const flags = bytes[from - 5]!
      const stream = bytes.readUInt32BE(from - 4) & 0x7fffffff
      each({ type, flags, stream, payload: bytes.subarray(from, at) })
    }
  }
}

export function frameHeader(type: number, flags: number, stream: number, length: number): Buffer {
  return writeHeader(Buffer.allocUnsafe(FRAME_HEADER_BYTES), type, flags, stream, length)
}

/** A frame that is nothing but a few numbers of four bytes. */
export function numbersFrame(type: number, stream: number, ...numbers: readonly number[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 4 * numbers.length)
  writeHeader(frame, type, 0, stream, 4 * numbers.length)
  let at = FRAME_HEADER_BYTES
  for (const number of numbers) at = frame.writeUInt32BE(number, at)
  return frame
}

export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 6 * settings.length)
  writeHeader(frame, Frame.SETTINGS, 0, 0, 6 * settings.length)
  let at = FRAME_HEADER_BYTES
  for (const [setting, value] of settings) at = frame.writeUInt32BE(value, frame.writeUInt16BE(setting, at))
  return frame
}

export function goawayFrame(lastStream: number, code: Code, words = ''): Buffer {
  const said = Buffer.from(words)
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 8 + said.length)
  writeHeader(frame, Frame.GOAWAY, 0, 0, 8 + said.length)
  said.copy(frame, frame.writeUInt32BE(code, frame.writeUInt32BE(lastStream, FRAME_HEADER_BYTES)))
  return frame
}

function writeHeader(frame: Buffer, type: number, flags: number, stream: number, length: number): Buffer {
  frame.writeUIntBE(length, 0, 3)
  frame[3] = type
  frame[4] = flags
  frame.writeUInt32BE(stream, 5)
  return frame
}

/** What a frame of data or headers carries. */
export function withoutPadding({ flags, payload, type }: IncomingFrame): Buffer {
  if ((flags & Flag.PADDED) === 0) return payload
  const priority = type === Frame.HEADERS && flags & Flag.PRIORITY ? 5 : 0
  const padding = payload[0]
  if (padding === undefined || 1 + priority + padding > payload.length) throw wrong('more padding than frame')
  return payload.subarray(1, payload.length - padding)
}

/** A stream that depends on itself is an error; what else priorities say is nothing to us. */
export function ownParent(stream: number, priority: Buffer): StreamFailure | undefined {
  if ((priority.readUInt32BE(0) & WINDOW_MAX) !== stream) return undefined
  return new StreamFailure(stream, Code.PROTOCOL_ERROR, 'a stream depends on itself')
}

export function checkSize({ length }: Buffer, wanted: number): void {
  if (length === wanted) return
  throw new ConnectionFailure(Code.FRAME_SIZE_ERROR, `a frame has ${length} bytes, not ${wanted}`)
}
