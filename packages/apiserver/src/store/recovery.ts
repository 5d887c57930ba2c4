import { join } from 'node:path'
import { StoreCorruptError } from './failures.js'
import { type Files, readAll } from './files.js'
import { aligned, type Frame, frameAt, jsonOf, Kind, sizeOf } from './frame.js'
import { BLOCK, type Place, type SegmentHeader, type SegmentName, segmentFile } from './log.js'

/** A log file with its first frame. */
export interface Segment {
  readonly path: string
  readonly header: SegmentHeader
  readonly checksum: number
  readonly begin: number
}

/** The log files, by their first frames. */
export interface LogFiles {
  readonly sequences: readonly number[]
  /** Consecutive files up to the newest, oldest first. */
  readonly chain: readonly Segment[]
  /** Later files that cannot be read. */
  readonly unused: readonly Unreadable[]
  /** The file before the chain, if it exists and cannot be read. */
  readonly damaged: Unreadable | undefined
}

interface Unreadable {
  readonly path: string
  readonly what: string
}

/** The content of the log. */
export interface FoundLog {
  /** The id of the store. Undefined when there is no log. */
  readonly store: string | undefined
  readonly last: Place | undefined
  readonly nextSequence: number
  readonly segments: readonly SegmentName[]
  /** The newest revision in the log. */
  readonly revision: number
  /** Files that are not needed. */
  readonly stale: readonly string[]
}

const LOG_FILE = /^log-(\d{12})$/

/** Reads the first frames of log files, from the newest back as long as they are consecutive. */
export async function findLog(files: Files, directory: string, names: readonly string[]): Promise<LogFiles> {
  const sequences = names.flatMap((name) => LOG_FILE.exec(name)?.[1] ?? []).map(Number)
  sequences.sort((a, b) => a - b)
  const chain: Segment[] = []
  const unused: Unreadable[] = []
  let damaged: LogFiles['damaged']
  for (const sequence of sequences.toReversed()) {
    const wanted = chain[0] ? (chain[0].header.previous?.sequence ?? 0) : undefined
    if (wanted !== undefined && sequence < wanted) break
    // Files between two of the chain are failed attempts and are ignored.
    if (wanted !== undefined && sequence > wanted) continue
    const path = join(directory, segmentFile(sequence))
    const segment = await openSegment(files, path, sequence)
    if (typeof segment === 'object') chain.unshift(segment)
    else if (wanted === undefined) unused.push({ path, what: segment })
    else {
      damaged = { path, what: segment }
      break
    }
  }
  return { sequences, chain, unused, damaged }
}

/**
 * Reads the frames of the log after a revision, in order, and verifies them. An incomplete frame at the very end
 * was never acknowledged and is ignored. Any other damage throws StoreCorruptError.
 */
export async function readLog(
  files: Files,
  found: LogFiles,
  base: number,
  visit: (frame: Frame, file: string) => void,
): Promise<FoundLog> {
  const { chain, sequences } = found
  const first = chain.findLastIndex(({ header }) => header.revision <= base)
  const needed = chain.slice(Math.max(0, first))
  for (const unreadable of found.unused) await checkHoldsNothing(files, unreadable)
  let revision = needed[0]?.header.revision ?? base
  let last: Place | undefined
  for (const [i, segment] of needed.entries()) {
    if (segment.header.store !== needed[0]!.header.store) {
      throw new StoreCorruptError(segment.path, 0, 'it belongs to another store')
    }
    const read = (frame: Frame) => {
      if (frame.revision > base || frame.compacted > base) visit(frame, segment.path)
    }
    const end = await readSegment(files, segment, needed[i + 1], read)
    revision = end.revision
    last = { sequence: segment.header.sequence, end: end.offset, checksum: end.checksum }
  }
  const segments = needed.map(({ header }) => ({ sequence: header.sequence, revision: header.revision }))
  const used = new Set(segments.map(({ sequence }) => sequence))
  return {
    store: needed[0]?.header.store,
    last,
    nextSequence: (sequences.at(-1) ?? 0) + 1,
    segments,
    revision,
    stale: sequences.filter((sequence) => !used.has(sequence)).map(segmentFile),
  }
}

async function openSegment(files: Files, path: string, sequence: number): Promise<Segment | string> {
  const file = await files.open(path, 'read')
  try {
    const block = Buffer.alloc(BLOCK)
    const frame = frameAt(block.subarray(0, await readAll(file, block, 0)), 0)
    if (typeof frame === 'string') return `${frame} (the file's header)`
    if (frame.kind !== Kind.segment) return 'it does not start with the header of a log file'
    const header = jsonOf(frame) as SegmentHeader
    if (header.format !== 1) return `its format ${header.format} is not supported by this version`
    if (header.sequence !== sequence) return `according to its header it is ${segmentFile(header.sequence)}`
    return { path, header, checksum: frame.checksum, begin: aligned(sizeOf(frame), BLOCK) }
  } finally {
    await file.close()
  }
}

/**
 * Throws unless the file holds no change. A file may have been created and never used, when the disk was full or
 * the power failed.
 */
async function checkHoldsNothing(files: Files, { path, what }: Unreadable): Promise<void> {
  const buffer = await readFile(files, path)
  const found = nextFrame(buffer, 0, (frame) => frame.kind === Kind.changes)
  if (found !== undefined) throw new StoreCorruptError(path, 0, `${what}, but there are changes at byte ${found}`)
}

interface End {
  readonly offset: number
  readonly checksum: number
  readonly revision: number
}

async function readSegment(
  files: Files,
  segment: Segment,
  next: Segment | undefined,
  visit: (frame: Frame) => void,
): Promise<End> {
  const { path, header, begin } = segment
  const buffer = await readFile(files, path)
  let end: End = { offset: begin, checksum: segment.checksum, revision: header.revision }
  const stop = next?.header.previous?.end ?? buffer.length
  while (end.offset < stop) {
    const frame = frameAt(buffer, end.offset)
    if (typeof frame === 'string') {
      if (next) throw new StoreCorruptError(path, end.offset, frame)
      checkTorn(path, buffer, end.offset, frame)
      return end
    }
    const wrong = misplaced(frame, end)
    if (wrong) throw new StoreCorruptError(path, end.offset, wrong)
    visit(frame)
    const offset = end.offset + aligned(sizeOf(frame), BLOCK)
    end = { offset, checksum: frame.checksum, revision: frame.revision }
  }
  if (next) checkJoins(path, end, next)
  return end
}

function checkJoins(path: string, end: End, { header }: Segment): void {
  const { previous, revision } = header
  if (end.offset === previous?.end && end.checksum === previous.checksum && end.revision === revision) return
  throw new StoreCorruptError(path, end.offset, `${segmentFile(header.sequence)} does not continue where it ends`)
}

/** Only the last frame can be incomplete, because each is written after the previous one is durable. */
function checkTorn(path: string, buffer: Buffer, offset: number, what: string): void {
  const found = nextFrame(buffer, offset + BLOCK, () => true)
  if (found !== undefined) throw new StoreCorruptError(path, offset, `${what}, and valid data follows at byte ${found}`)
}

function nextFrame(buffer: Buffer, from: number, wanted: (frame: Frame) => boolean): number | undefined {
  for (let at = from; at < buffer.length; at += BLOCK) {
    const frame = frameAt(buffer, at)
    if (typeof frame !== 'string' && wanted(frame)) return at
  }
  return undefined
}

function misplaced(frame: Frame, end: End): string | undefined {
  if (frame.kind !== Kind.changes && frame.kind !== Kind.seal)
    return `a frame of kind ${frame.kind} is not expected here`
  if (frame.previous !== end.checksum) return 'a frame is missing before this one'
  if (frame.before !== end.revision) return `revision ${frame.before} does not follow ${end.revision}`
  return undefined
}

async function readFile(files: Files, path: string): Promise<Buffer> {
  const file = await files.open(path, 'read')
  try {
    const buffer = Buffer.allocUnsafeSlow(await file.size())
    return buffer.subarray(0, await readAll(file, buffer, 0))
  } finally {
    await file.close()
  }
}
