import { join } from 'node:path'
import { StoreCorruptError } from './failures.js'
import { type Files, readAll } from './files.js'
import { aligned, type Frame, frameAt, jsonOf, Kind, sizeOf } from './frame.js'
import { BLOCK, type Place, type SegmentHeader, type SegmentName, segmentFile } from './log.js'

interface Segment {
  readonly path: string
  readonly header: SegmentHeader
  readonly checksum: number
  readonly begin: number
}

/** What the names and the first frames of the log's files tell. */
export interface LogFiles {
  /** In order, oldest first. */
  readonly sequences: readonly number[]
  /** What was compacted when the newest file was begun; 0 when there is none. */
  readonly compacted: number
  /** Does the log go back to when the store was empty? */
  readonly fromTheStart: boolean
}

/** The log as it was read. */
export interface FoundLog {
  /** Undefined when there is no log. */
  readonly store: string | undefined
  readonly last: Place | undefined
  readonly nextSequence: number
  readonly segments: readonly SegmentName[]
  /** The newest revision that the log holds. */
  readonly revision: number
  /** Files that are not needed. */
  readonly stale: readonly string[]
}

const LOG_FILE = /^log-(\d{12})$/

export async function findLog(files: Files, directory: string, names: readonly string[]): Promise<LogFiles> {
  const sequences = names.flatMap((name) => LOG_FILE.exec(name)?.[1] ?? []).map(Number)
  sequences.sort((a, b) => a - b)
  let compacted = 0
  for (const sequence of [...sequences].reverse()) {
    const segment = await openSegment(files, join(directory, segmentFile(sequence)))
    if (typeof segment === 'string') continue
    compacted = segment.header.compacted
    break
  }
  const first = sequences.length > 0 && (await openSegment(files, join(directory, segmentFile(sequences[0]!))))
  const fromTheStart = typeof first === 'object' && first.header.previous === undefined
  return { sequences, compacted, fromTheStart }
}

/**
 * Reads the log's frames after a revision, in order, and checks everything on
 * the way. An unfinished frame at the very end was never acknowledged and does
 * not count; anything else that is not as it was written is an error.
 */
export async function readLog(
  files: Files,
  directory: string,
  { sequences }: LogFiles,
  base: number,
  visit: (frame: Frame, file: string) => void,
): Promise<FoundLog> {
  const chain = await chainOf(files, directory, sequences, base)
  let revision = chain[0]?.header.revision ?? base
  let last: Place | undefined
  for (const [i, segment] of chain.entries()) {
    const read = (frame: Frame) => {
      if (frame.revision > base || frame.compacted > base) visit(frame, segment.path)
    }
    const end = await readSegment(files, segment, chain[i + 1], read)
    revision = end.revision
    last = { sequence: segment.header.sequence, end: end.offset, checksum: end.checksum }
  }
  const segments = chain.map(({ header }) => ({ sequence: header.sequence, revision: header.revision }))
  const used = new Set(segments.map(({ sequence }) => sequence))
  return {
    store: chain[0]?.header.store,
    last,
    nextSequence: (sequences.at(-1) ?? 0) + 1,
    segments,
    revision,
    stale: sequences.filter((sequence) => !used.has(sequence)).map(segmentFile),
  }
}

/** The files that hold what came after the base, oldest first, each going on where the one before ends. */
async function chainOf(files: Files, directory: string, sequences: readonly number[], base: number) {
  const chain: Segment[] = []
  const unused: string[] = []
  let wanted: number | undefined
  for (const sequence of [...sequences].reverse()) {
    const oldest = chain[0]
    if (oldest && (oldest.header.revision <= base || sequence < wanted!)) break
    const path = join(directory, segmentFile(sequence))
    const segment = !oldest || sequence === wanted ? await openSegment(files, path) : 'not in use'
    if (typeof segment === 'string') {
      if (sequence === wanted) throw new StoreCorruptError(path, 0, segment)
      unused.push(path)
      continue
    }
    chain.unshift(segment)
    wanted = segment.header.previous?.sequence ?? 0
  }
  for (const path of unused) await checkHoldsNothing(files, path)
  checkComplete(directory, chain, base)
  return chain
}

function checkComplete(directory: string, chain: readonly Segment[], base: number): void {
  const oldest = chain[0]
  if (!oldest) return
  if (oldest.header.revision > base) {
    const missing = oldest.header.previous?.sequence
    const file = join(directory, missing === undefined ? '' : segmentFile(missing))
    throw new StoreCorruptError(file, 0, `the changes after revision ${base} are missing`)
  }
  for (const { path, header } of chain) {
    if (header.store !== oldest.header.store) throw new StoreCorruptError(path, 0, 'it belongs to another store')
  }
}

async function openSegment(files: Files, path: string): Promise<Segment | string> {
  const file = await files.open(path, 'read')
  try {
    const block = Buffer.alloc(BLOCK)
    const frame = frameAt(block.subarray(0, await readAll(file, block, 0)), 0)
    if (typeof frame === 'string') return `${frame} (the file's header)`
    if (frame.kind !== Kind.segment) return 'it does not begin as a log file does'
    const header = jsonOf(frame) as SegmentHeader
    if (header.format !== 1) return `its format is ${header.format}, which this version does not know`
    return { path, header, checksum: frame.checksum, begin: aligned(sizeOf(frame), BLOCK) }
  } finally {
    await file.close()
  }
}

/** A file that was begun but never used (the disk was full, the power failed) may be there, if it holds no change. */
async function checkHoldsNothing(files: Files, path: string): Promise<void> {
  const buffer = await readFile(files, path)
  const found = nextFrame(buffer, 0, (frame) => frame.kind === Kind.changes)
  if (found !== undefined) {
    throw new StoreCorruptError(path, 0, `its header is not valid, but there are changes at byte ${found}`)
  }
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
  throw new StoreCorruptError(path, end.offset, `${segmentFile(header.sequence)} does not go on where it ends`)
}

/** Of frames only the last can be unfinished: the next is written when it is durable. */
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
  if (frame.kind !== Kind.changes && frame.kind !== Kind.seal) return `a frame of kind ${frame.kind} is out of place`
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
