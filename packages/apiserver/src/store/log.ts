import { join } from 'node:path'
import type { Batch } from './embedded.js'
import { StoreWriteError } from './failures.js'
import { type Files, type OpenFile, writeAll } from './files.js'
import { aligned, Encoding, FrameBuilder, type FrameFields, Kind, Operation } from './frame.js'
import type { Encode } from './keyring.js'
import type { Change } from './store.js'
import { Version } from './version.js'

/**
 * Every frame of the log starts at a block boundary, so that writing one never touches a block of another.
 * Acknowledged frames cannot be torn.
 */
export const BLOCK = 4096

/** Sizes of the log's files. */
export interface LogSizes {
  /** A new file is started beyond this number of bytes. */
  readonly file: number
  /**
   * The number of bytes that are filled with zeros ahead of use. A commit then changes no file system metadata,
   * which halves its cost on ext4.
   */
  readonly prepared: number
}

/** The default sizes of log files. */
export const defaultLogSizes: LogSizes = { file: 16 << 20, prepared: 1 << 20 }

/** The first frame of a log file. It says which file precedes it. */
export interface SegmentHeader {
  readonly format: 1
  readonly store: string
  readonly sequence: number
  /** The newest revision before this file. */
  readonly revision: number
  /** The compacted revision at that time. */
  readonly compacted: number
  /**
   * The previous file and the end of its valid part. Everything behind that, and every file between the two, was
   * never acknowledged.
   */
  readonly previous?: Place
}

/** The end of the last valid frame. */
export interface Place {
  readonly sequence: number
  readonly end: number
  readonly checksum: number
}

/** The name of a log file. */
export interface SegmentName {
  readonly sequence: number
  readonly revision: number
}

/** Dependencies of the log. */
export interface LogOptions {
  readonly files: Files
  readonly directory: string
  readonly store: string
  /** Where to continue. Undefined for an empty log. */
  readonly last: Place | undefined
  readonly nextSequence: number
  readonly segments: readonly SegmentName[]
  readonly encode: Encode
  readonly sizes: LogSizes
}

interface Segment {
  readonly sequence: number
  readonly file: OpenFile
  /** The position of the first frame. */
  readonly begin: number
  position: number
  prepared: number
  checksum: number
}

/** A deletion without a last state of its own. Reading the log takes the value from the previous state. */
const nothing = { encoding: Encoding.plain, value: Buffer.alloc(0) } as const

/** Whether the deletion can be stored in a few bytes. Deletions must be possible on a full disk. */
function repeats({ type, now }: Change): boolean {
  return type === 'DELETED' && now instanceof Version && now.repeats
}

/** Returns the name of a log file. */
export function segmentFile(sequence: number): string {
  return `log-${String(sequence).padStart(12, '0')}`
}

/** Appends batches to files, one frame each. It starts a new file when one is full or may be damaged. */
export class WriteAheadLog {
  readonly #options: LogOptions
  readonly #builder = new FrameBuilder()
  #zeroed: Buffer | undefined
  #segments: SegmentName[]
  #segment: Segment | undefined
  #last: Place | undefined
  #nextSequence: number
  /** The number of bytes in frames, without padding, since it was last reset. */
  bytesWritten = 0

  constructor(options: LogOptions) {
    this.#options = options
    this.#last = options.last
    this.#nextSequence = options.nextSequence
    this.#segments = [...options.segments]
  }

  /** Appends the whole batch or nothing. After a failure the next call starts a new file. */
  async append(batch: Batch): Promise<void> {
    try {
      this.#encode(batch)
      if (this.#segment && this.#segment.position + this.#builder.length > this.#options.sizes.file) await this.#leave()
      const segment = this.#segment ?? (await this.#begin(batch))
      const { before, compacted, time } = batch
      const revision = batch.changes.at(-1)?.revision ?? before
      const previous = segment.checksum
      await this.#write(segment, { kind: Kind.changes, before, revision, compacted, time, previous }, batch.alone)
    } catch (error) {
      await this.#abandon(batch)
      throw new StoreWriteError(error)
    }
  }

  /** Whether a prepared area can be written. It writes zeros behind the last frame, where frames will go. */
  async hasRoom(): Promise<boolean> {
    const segment = this.#segment
    if (!segment) return false
    try {
      const zeros = this.#zeros()
      await writeAll(segment.file, zeros, segment.position)
      segment.prepared = Math.max(segment.prepared, segment.position + zeros.length)
      return true
    } catch {
      return false
    }
  }

  /** Marks a clean end, so that damage before it can be distinguished from a torn tail. */
  async close(revision: number, compacted: number, time: number): Promise<void> {
    const segment = this.#segment
    if (!segment) return
    try {
      this.#builder.begin()
      const previous = segment.checksum
      await this.#write(segment, { kind: Kind.seal, before: revision, revision, compacted, time, previous })
    } catch {
      // The mark is optional. All acknowledged changes are on disk without it.
    } finally {
      await segment.file.close()
      this.#segment = undefined
    }
  }

  /** Removes files that hold only changes up to the revision, the oldest first, so that there is never a gap. */
  async discard(revision: number): Promise<void> {
    const { files, directory } = this.#options
    while (this.#segments.length > 1 && this.#segments[1]!.revision <= revision) {
      await files.remove(join(directory, segmentFile(this.#segments[0]!.sequence)))
      await files.syncDirectory(directory)
      this.#segments = this.#segments.slice(1)
    }
  }

  get fileCount(): number {
    return this.#segments.length
  }

  #encode({ changes }: Batch): void {
    const builder = this.#builder
    builder.begin()
    for (const change of changes) {
      const operation = change.type === 'DELETED' ? Operation.delete : Operation.put
      const { encoding, value } = repeats(change) ? nothing : this.#options.encode(change.now)
      builder.record(operation, encoding, change.revision, change.key, value)
    }
  }

  async #write(segment: Segment, fields: FrameFields, alone = false): Promise<void> {
    const { length } = this.#builder
    const { bytes, checksum } = this.#builder.finish(fields, BLOCK)
    await this.#prepare(segment, segment.position + bytes.length)
    await writeAll(segment.file, bytes, segment.position, alone)
    segment.position += bytes.length
    segment.checksum = checksum
    this.bytesWritten += length
  }

  async #prepare(segment: Segment, end: number): Promise<void> {
    if (end <= segment.prepared) return
    const { sizes } = this.#options
    const zeros = this.#zeros().subarray(0, Math.max(0, Math.min(sizes.prepared, sizes.file - segment.prepared)))
    try {
      if (zeros.length > 0) await writeAll(segment.file, zeros, segment.prepared)
    } catch {
      // The frame may fit where a megabyte of zeros does not.
    }
    segment.prepared = Math.max(end, segment.prepared + zeros.length)
  }

  #zeros(): Buffer {
    this.#zeroed ??= Buffer.alloc(this.#options.sizes.prepared)
    return this.#zeroed
  }

  async #begin({ before: revision, compacted }: Batch): Promise<Segment> {
    const { files, directory, store } = this.#options
    const sequence = this.#nextSequence++
    const path = join(directory, segmentFile(sequence))
    const header: SegmentHeader = { format: 1, store, sequence, revision, compacted, previous: this.#last }
    const builder = new FrameBuilder()
    builder.begin()
    builder.json(header)
    const previous = this.#last?.checksum ?? 0
    const { bytes, checksum } = builder.finish(
      { kind: Kind.segment, before: revision, revision, compacted, time: 0, previous },
      BLOCK,
    )
    const file = await files.open(path, 'durable')
    try {
      await writeAll(file, bytes, 0)
      await files.syncDirectory(directory)
    } catch (error) {
      await file.close().catch(() => {})
      await files.remove(path).catch(() => {})
      throw error
    }
    const position = aligned(bytes.length, BLOCK)
    this.#segment = { sequence, file, begin: position, position, prepared: position, checksum }
    this.#segments.push({ sequence, revision })
    return this.#segment
  }

  async #leave(): Promise<void> {
    const segment = this.#segment
    if (!segment) return
    this.#segment = undefined
    this.#last = { sequence: segment.sequence, end: segment.position, checksum: segment.checksum }
    await segment.file.close().catch(() => {})
  }

  /**
   * After a failed write its extent on disk is unknown, and after a failed sync the kernel may report it as
   * written. So nothing is written to that file again: a new file records where the valid part ends. If that
   * succeeds at once, the refused write is gone for good. Otherwise the next write tries again.
   */
  async #abandon(batch: Batch): Promise<void> {
    const segment = this.#segment
    if (segment && segment.position > segment.begin) {
      await segment.file.truncate(segment.position).catch(() => {}) // The space may be needed.
      await this.#leave()
    } else await this.#dropEmpty()
    await this.#begin(batch).catch(() => {})
  }

  /** Removes a file without a valid frame. A full disk must not fill up with such files. */
  async #dropEmpty(): Promise<void> {
    const segment = this.#segment
    if (!segment) return
    const { files, directory } = this.#options
    this.#segment = undefined
    this.#segments = this.#segments.filter(({ sequence }) => sequence !== segment.sequence)
    await segment.file.close().catch(() => {})
    await files.remove(join(directory, segmentFile(segment.sequence))).catch(() => {})
  }
}
