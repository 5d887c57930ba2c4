import { join } from 'node:path'
import { checkCleanStop } from './clean-stop.js'
import { StoreCorruptError } from './failures.js'
import type { Files } from './files.js'
import { Encoding, eachRecord, type Frame, type FrameRecord, Kind, Operation } from './frame.js'
import type { Horizon } from './horizon.js'
import type { Keyring } from './keyring.js'
import { segmentFile } from './log.js'
import { type FoundLog, findLog, type LogFiles, readLog } from './recovery.js'
import { Slabs } from './slabs.js'
import { readSnapshot, readSnapshotHeader } from './snapshot.js'
import { FIRST_REVISION, type State } from './state.js'
import { bytesOf, type Parsed, Version, withRevision } from './version.js'

/** Dependencies of load. */
export interface Loading {
  readonly files: Files
  readonly directory: string
  readonly state: State
  readonly parsed: Parsed
  readonly horizon: Horizon
  readonly keyring: Keyring
}

/** The state that was read from disk. */
export interface Loaded {
  readonly store: string | undefined
  readonly bases: readonly number[]
  readonly log: Pick<FoundLog, 'last' | 'nextSequence' | 'segments'>
  /** Bytes in the log since the newest snapshot. */
  readonly logBytes: number
  /** Whether some values are encrypted with an older key. */
  readonly outdatedKeys: boolean
}

const SNAPSHOT_FILE = /^snapshot-(\d{16})$/
const LEFTOVER = /^\.snapshot-\d{16}\.tmp$/
/** The file that exists while a restore is running. */
export const RESTORING = 'restoring'

/** Loads a snapshot and the log after it. History is complete since then. */
export async function load(loading: Loading): Promise<Loaded> {
  const { files, directory, state } = loading
  const names = await files.list(directory)
  if (names.includes(RESTORING)) {
    throw new Error(`a restore into ${directory} did not finish. Restore the backup again with --force.`)
  }
  const snapshots = names.flatMap((name) => SNAPSHOT_FILE.exec(name)?.[1] ?? []).map(Number)
  snapshots.sort((a, b) => a - b)
  const found = await findLog(files, directory, names)
  const { base, bases } = chooseBase(directory, snapshots, found)
  const values = new Values(loading)
  const store = snapshots.length > 0 ? await storeOf(loading, snapshots.at(-1)!) : undefined
  if (snapshots.includes(base)) await loadSnapshot(loading, base, values)
  const replay = new Replay(loading, values, bases.at(-1)!)
  const log = await readLog(files, found, base, (frame, file) => replay.apply(frame, file))
  checkBelongTogether(loading, snapshots, store, log)
  await checkCleanStop(files, directory, store ?? log.store, Math.max(base, log.revision))
  state.revision = Math.max(base, log.revision)
  const outdated = snapshots.filter((revision) => revision < base).map(snapshotFile)
  await removeStale(loading, [...names.filter((name) => LEFTOVER.test(name)), ...outdated, ...log.stale])
  return {
    store: store ?? log.store,
    bases,
    log,
    logBytes: replay.bytes,
    outdatedKeys: values.outdatedKeys,
  }
}

/** Returns the snapshot to start with: the newest before the retained history. `bases` are it and those after it. */
function chooseBase(directory: string, snapshots: readonly number[], { chain, damaged }: LogFiles) {
  const oldest = chain[0]?.header
  const wholeLog = oldest ? oldest.revision === FIRST_REVISION : snapshots.length === 0
  const all = wholeLog ? [FIRST_REVISION, ...snapshots] : snapshots
  const reach = oldest?.revision ?? 0
  const compacted = chain.at(-1)?.header.compacted ?? 0
  let base = all.findLast((revision) => revision <= compacted) ?? all[0]
  if (base === undefined || base < reach) {
    if (damaged) throw new StoreCorruptError(damaged.path, 0, damaged.what)
    // A cleanup may have been interrupted after the log was deleted and before the snapshot was.
    base = all.find((revision) => revision >= reach)
  }
  if (base === undefined) {
    const file = join(directory, oldest?.previous ? segmentFile(oldest.previous.sequence) : '')
    throw new StoreCorruptError(file, 0, `it is missing, and with it the changes up to revision ${reach}`)
  }
  return { base, bases: all.filter((revision) => revision >= base) }
}

/**
 * Removes files that an interrupted cleanup left, in this order: a log must not be deleted before the snapshot that
 * needs it.
 */
async function removeStale({ files, directory }: Loading, names: readonly string[]): Promise<void> {
  try {
    for (const name of names) {
      await files.remove(join(directory, name))
      await files.syncDirectory(directory)
    }
  } catch {
    // They do no harm. The next opening tries again.
  }
}

/** Returns the name of a snapshot file. */
export function snapshotFile(revision: number): string {
  return `snapshot-${String(revision).padStart(16, '0')}`
}

/** Returns the id of the store of a snapshot. */
async function storeOf({ files, directory }: Loading, revision: number): Promise<string> {
  const path = join(directory, snapshotFile(revision))
  const header = await readSnapshotHeader(files, path)
  if (header.revision !== revision) throw new StoreCorruptError(path, 0, `it has revision ${header.revision}`)
  return header.store
}

async function loadSnapshot(loading: Loading, revision: number, values: Values): Promise<void> {
  const { files, directory, state, parsed } = loading
  const path = join(directory, snapshotFile(revision))
  for await (const records of readSnapshot(files, path)) {
    for (const record of records) {
      state.load(new Version(parsed, record.key, record.revision, values.of(record), false))
    }
  }
  state.revision = revision
  state.compacted = revision
}

function checkBelongTogether(
  { directory }: Loading,
  snapshots: readonly number[],
  store: string | undefined,
  log: FoundLog,
): void {
  if (log.store === undefined) return
  const newest = join(directory, segmentFile(log.last!.sequence))
  if (store !== undefined && store !== log.store) throw new StoreCorruptError(newest, 0, 'it belongs to another store')
  // Snapshots contain only changes that are durable in the log.
  const snapshot = snapshots.at(-1)
  if (snapshot !== undefined && log.revision < snapshot) {
    const what = `the log ends at revision ${log.revision}, but a snapshot has revision ${snapshot}`
    throw new StoreCorruptError(newest, log.last!.end, what)
  }
}

/** Decrypts values. */
class Values {
  readonly #keyring: Keyring
  outdatedKeys = false

  constructor({ keyring }: Loading) {
    this.#keyring = keyring
  }

  of({ encoding, key, revision, value }: FrameRecord): Uint8Array {
    if (encoding === Encoding.plain) return value
    if (!this.#keyring.isNewest(value)) this.outdatedKeys = true
    return this.#keyring.unseal(value, key, revision)
  }
}

class Replay {
  readonly #loading: Loading
  readonly #values: Values
  readonly #countFrom: number
  readonly #slabs = new Slabs()
  bytes = 0

  /** @param countFrom The revision of the newest snapshot. */
  constructor(loading: Loading, values: Values, countFrom: number) {
    this.#loading = loading
    this.#values = values
    this.#countFrom = countFrom
  }

  apply(frame: Frame, file: string): void {
    const { state, horizon } = this.#loading
    if (frame.kind === Kind.changes) eachRecord(frame, (record) => this.#change(record, file))
    state.revision = frame.revision
    horizon.passed(frame.time)
    if (frame.compacted > state.compacted) horizon.compact(frame.compacted)
    if (frame.revision > this.#countFrom) this.bytes += frame.body.length
  }

  #change(record: FrameRecord, file: string): void {
    const { state, parsed } = this.#loading
    const { key, revision } = record
    const deleted = record.operation === Operation.delete
    const before = state.head(key)
    if (deleted && !before)
      throw new StoreCorruptError(file, 0, `revision ${revision} deletes ${key}, which does not exist`)
    const value =
      deleted && record.value.length === 0
        ? bytesOf(withRevision(before!.object, revision), this.#slabs)
        : this.#copy(this.#values.of(record))
    const now = new Version(parsed, key, revision, value, deleted)
    const type = deleted ? 'DELETED' : before ? 'MODIFIED' : 'ADDED'
    state.apply({ type, key, revision, now, before })
  }

  /** Copies the value, because the buffer of a log file also holds outdated values and unused space. */
  #copy(value: Uint8Array): Uint8Array {
    const copy = this.#slabs.take(value.length)
    copy.set(value)
    return copy
  }
}
