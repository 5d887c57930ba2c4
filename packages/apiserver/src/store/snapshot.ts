import { basename, dirname, join } from 'node:path'
import { StoreCorruptError } from './failures.js'
import { type Files, type OpenFile, readAll, writeAll } from './files.js'
import {
  bodyLengthAt,
  eachRecord,
  FRAME_HEADER,
  type Frame,
  FrameBuilder,
  type FrameRecord,
  frameAt,
  jsonOf,
  Kind,
  Operation,
} from './frame.js'

/** All objects at one revision: a header frame, frames of objects in the order of keys, and an end frame. */
export interface SnapshotHeader {
  readonly format: 1
  readonly store: string
  readonly revision: number
  readonly time: number
  /** The file of the encryption keys. Only in a backup that was requested with keys. */
  readonly keys?: string
}

interface SnapshotEnd {
  readonly objects: number
}

const FRAME_BYTES = 256 << 10
/** Data is synced in portions, so that small writes of the log never wait for a large one. */
const SYNC_BYTES = 4 << 20
const READ_BYTES = 1 << 20

/** One object of a snapshot. */
export interface SnapshotRecord {
  readonly key: string
  readonly revision: number
  readonly encoding: number
  readonly value: Uint8Array
}

/**
 * Writes the file under a temporary name, one page of records at a time, and renames it when it is complete and
 * durable. Each page is awaited, so that requests do not wait long.
 */
export async function writeSnapshot(
  files: Files,
  path: string,
  header: SnapshotHeader,
  pages: AsyncIterable<Iterable<SnapshotRecord>>,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`)
  await files.remove(temporary).catch(() => {})
  const file = await files.open(temporary, 'create')
  try {
    await new SnapshotWriter(file, header).write(pages)
    await file.sync()
    await file.close()
    await files.rename(temporary, path)
    await files.syncDirectory(dirname(path))
  } catch (error) {
    await file.close().catch(() => {})
    await files.remove(temporary).catch(() => {})
    throw error
  }
}

class SnapshotWriter {
  readonly #file: OpenFile
  readonly #header: SnapshotHeader
  readonly #builder = new FrameBuilder()
  #position = 0
  #synced = 0
  #checksum = 0

  constructor(file: OpenFile, header: SnapshotHeader) {
    this.#file = file
    this.#header = header
  }

  async write(pages: AsyncIterable<Iterable<SnapshotRecord>>): Promise<void> {
    const builder = this.#builder
    builder.begin()
    builder.json(this.#header)
    await this.#frame(Kind.snapshot)
    let objects = 0
    for await (const page of pages) {
      for (const { key, revision, encoding, value } of page) {
        builder.record(Operation.put, encoding, revision, key, value)
        objects++
      }
      if (builder.length >= FRAME_BYTES) await this.#frame(Kind.objects)
    }
    if (builder.length > FRAME_HEADER) await this.#frame(Kind.objects)
    builder.json({ objects } satisfies SnapshotEnd)
    await this.#frame(Kind.end)
  }

  async #frame(kind: number): Promise<void> {
    const { revision, time } = this.#header
    const fields = { kind, before: revision, revision, compacted: revision, time, previous: this.#checksum }
    const { bytes, checksum } = this.#builder.finish(fields)
    await writeAll(this.#file, bytes, this.#position)
    this.#builder.begin()
    this.#checksum = checksum
    this.#position += bytes.length
    if (this.#position < this.#synced + SYNC_BYTES) return
    await this.#file.sync()
    this.#synced = this.#position
  }
}

/** Reads the header of a snapshot. */
export async function readSnapshotHeader(files: Files, path: string): Promise<SnapshotHeader> {
  const file = await files.open(path, 'read')
  try {
    return headerOf(await new FrameReader(file, path).next(), path)
  } finally {
    await file.close()
  }
}

/**
 * Reads and verifies a snapshot, the records of one frame at a time. Values are views of large buffers. Yielded
 * records are valid only when the end is reached.
 */
export async function* readSnapshot(files: Files, path: string): AsyncGenerator<readonly FrameRecord[]> {
  const file = await files.open(path, 'read')
  try {
    const reader = new FrameReader(file, path)
    headerOf(await reader.next(), path)
    let objects = 0
    for (;;) {
      const frame = await reader.next()
      if (frame.kind === Kind.end) {
        if ((jsonOf(frame) as SnapshotEnd).objects === objects) return
        throw new StoreCorruptError(path, reader.position, 'objects are missing')
      }
      const records: FrameRecord[] = []
      eachRecord(frame, (record) => records.push(record))
      objects += records.length
      yield records
    }
  } finally {
    await file.close()
  }
}

function headerOf(frame: Frame, path: string): SnapshotHeader {
  if (frame.kind !== Kind.snapshot)
    throw new StoreCorruptError(path, 0, 'it does not start with the header of a snapshot')
  const header = jsonOf(frame) as SnapshotHeader
  if (header.format !== 1) throw new StoreCorruptError(path, 0, `its format ${header.format} is not supported`)
  return header
}

/** Reads consecutive frames in a few large reads. */
class FrameReader {
  readonly #file: OpenFile
  readonly #path: string
  #window: Buffer = Buffer.alloc(0)
  #windowAt = 0
  #checksum = 0
  position = 0

  constructor(file: OpenFile, path: string) {
    this.#file = file
    this.#path = path
  }

  async next(): Promise<Frame> {
    await this.#need(FRAME_HEADER)
    const length = bodyLengthAt(this.#window, this.position - this.#windowAt)
    if (typeof length === 'string') throw this.#damaged(length)
    await this.#need(FRAME_HEADER + length)
    const frame = frameAt(this.#window, this.position - this.#windowAt)
    if (typeof frame === 'string') throw this.#damaged(frame)
    if (frame.previous !== this.#checksum) throw this.#damaged('a frame is missing before this one')
    this.#checksum = frame.checksum
    this.position += FRAME_HEADER + length
    return frame
  }

  /** Makes the given number of bytes available in the window, unless the file ends before. */
  async #need(count: number): Promise<void> {
    const at = this.position - this.#windowAt
    if (at + count <= this.#window.length) return
    const left = (await this.#file.size()) - this.position
    const window = Buffer.allocUnsafeSlow(Math.max(0, Math.min(left, Math.max(READ_BYTES, count))))
    const kept = this.#window.copy(window, 0, at)
    const read = await readAll(this.#file, window.subarray(kept), this.position + kept)
    this.#window = window.subarray(0, kept + read)
    this.#windowAt = this.position
  }

  #damaged(what: string): StoreCorruptError {
    return new StoreCorruptError(this.#path, this.position, what)
  }
}
