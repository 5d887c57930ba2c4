import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '@crosstie/kube'
import { recordCleanStop } from './clean-stop.js'
import { type Batch, EmbeddedStore, type Health, type Journal } from './embedded.js'
import { type Files, nodeFiles } from './files.js'
import { defaultHistory, type HistoryLimits, Horizon } from './horizon.js'
import { type Encode, type Encryption, Keyring } from './keyring.js'
import { type Loaded, load, snapshotFile } from './load.js'
import type { Lock } from './lock.js'
import { defaultLogSizes, type LogSizes, WriteAheadLog } from './log.js'
import { PARSED_BYTES } from './memory.js'
import { type SnapshotRecord, writeSnapshot } from './snapshot.js'
import { State } from './state.js'
import type { BackupOptions, Store } from './store.js'
import { Parsed } from './version.js'

/** Options of openStore. */
export interface StoreOptions {
  /** Created when it does not exist. */
  readonly dataDir: string
  readonly clock?: Clock
  /** How much history can be read and watched. */
  readonly history?: Partial<HistoryLimits>
  /** Without it, new values are not encrypted. */
  readonly encryption?: Encryption
  /** A snapshot is taken when the log has grown by this number of bytes, or by the size of all objects. */
  readonly snapshotBytes?: number
  readonly logSizes?: LogSizes
  readonly files?: Files
  readonly health?: Health
  /** Called with one line about a problem that does not prevent opening. */
  readonly warn?: (message: string) => void
}

const CLOCK_BEHIND_MS = 60_000

function clockBehind(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  return `the newest change in the store was written ${minutes} min in the future. The clock of this machine is behind, or was ahead when the change was written. Correct the clock and start again`
}

const SNAPSHOT_BYTES = 32 << 20
/** Every start begins a file. A snapshot is taken when there are this many. */
const LOG_FILES_MAX = 24
const RETRY_AFTER_MS = 30_000
const PAGE = 128

/** Returns the default path of the key file. */
export function defaultKeyFile(dataDir: string): string {
  return join(dataDir, 'keys.json')
}

/**
 * Opens the data in a directory, or initializes it. Throws StoreLockedError when another process has it open,
 * StoreCorruptError when data on disk is damaged, and StoreKeyError when it cannot be decrypted. A failure changes
 * nothing.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, clock = systemClock, files = nodeFiles, encryption } = options
  await files.makeDirectory(dataDir)
  const lock = await files.lock(dataDir)
  try {
    const parsed = new Parsed(PARSED_BYTES)
    const state = new State(parsed)
    const horizon = new Horizon(state, { ...defaultHistory, ...options.history })
    const keyFile = encryption?.keyFile ?? defaultKeyFile(dataDir)
    const keyring = await Keyring.read(keyFile)
    const loaded = await load({ files, directory: dataDir, state, parsed, horizon, keyring })
    if (encryption) await keyring.ensureKey()
    const ahead = (horizon.newestTime ?? 0) - clock.now()
    if (ahead > CLOCK_BEHIND_MS) options.warn?.(clockBehind(ahead))
    horizon.advance(clock.now())
    const encode = keyring.encoder(encryption?.encrypt ?? (() => false))
    const { snapshotBytes = SNAPSHOT_BYTES, logSizes = defaultLogSizes } = options
    const parts = { files, dataDir, clock, state, horizon, encode, keyFile, lock, snapshotBytes, logSizes }
    return new EmbeddedStore(state, parsed, new DurableJournal(parts, loaded), horizon, clock, options.health)
  } catch (error) {
    await lock.release()
    throw error
  }
}

interface Parts {
  readonly files: Files
  readonly dataDir: string
  readonly clock: Clock
  readonly state: State
  readonly horizon: Horizon
  readonly encode: Encode
  readonly keyFile: string
  readonly lock: Lock
  readonly snapshotBytes: number
  readonly logSizes: LogSizes
}

/** The log, and the snapshots that bound its length. */
class DurableJournal implements Journal {
  readonly #parts: Parts
  readonly #store: string
  readonly #log: WriteAheadLog
  /** The revisions of snapshots, oldest first. Opening starts at the first. */
  #bases: number[]
  #snapshotWanted: boolean
  #retryAt = 0
  #tidying: Promise<void> | undefined
  #closing = false

  constructor(parts: Parts, loaded: Loaded) {
    this.#parts = parts
    this.#store = loaded.store ?? randomUUID()
    this.#bases = [...loaded.bases]
    this.#snapshotWanted = loaded.outdatedKeys
    const { files, dataDir: directory, encode, logSizes: sizes } = parts
    this.#log = new WriteAheadLog({ files, directory, store: this.#store, encode, sizes, ...loaded.log })
    this.#log.bytesWritten = loaded.logBytes
  }

  append(batch: Batch): Promise<void> {
    return this.#log.append(batch)
  }

  hasRoom(): Promise<boolean> {
    return this.#log.hasRoom()
  }

  afterVisible(): void {
    if (this.#tidying || this.#closing || !(this.#snapshotDue() || this.#discardDue())) return
    this.#tidying = this.#tidy().finally(() => {
      this.#tidying = undefined
    })
  }

  async backup(file: string, { withKeys = false }: BackupOptions): Promise<{ readonly revision: number }> {
    const keys = withKeys ? await fs.promises.readFile(this.#parts.keyFile, 'utf8') : undefined
    return { revision: await this.#copy(() => file, keys) }
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#tidying
    const { files, dataDir, state, clock, lock } = this.#parts
    await this.#log.close(state.revision, state.compacted, clock.now())
    await recordCleanStop(files, dataDir, this.#store, state.revision)
    await lock.release()
  }

  #snapshotDue(): boolean {
    const { state, clock, snapshotBytes } = this.#parts
    if (state.revision === this.#bases.at(-1) || clock.now() < this.#retryAt) return false
    if (this.#snapshotWanted || this.#log.fileCount > LOG_FILES_MAX) return true
    return this.#log.bytesWritten > Math.max(snapshotBytes, state.liveBytes)
  }

  /**
   * Whether old files can be deleted. Opening needs a snapshot from before the retained history. Older ones, and
   * the log before it, are not needed.
   */
  #discardDue(): boolean {
    return this.#bases.length > 1 && this.#bases[1]! <= this.#parts.state.compacted
  }

  async #tidy(): Promise<void> {
    try {
      if (this.#snapshotDue()) await this.#snapshot()
      while (this.#discardDue()) await this.#discard()
    } catch {
      // Without a snapshot the log grows, but nothing is lost. Writers get an error when the disk is full.
      this.#retryAt = this.#parts.clock.now() + RETRY_AFTER_MS
    }
  }

  async #snapshot(): Promise<void> {
    const written = this.#log.bytesWritten
    const revision = await this.#copy((at) => join(this.#parts.dataDir, snapshotFile(at)))
    this.#log.bytesWritten -= written
    this.#snapshotWanted = false
    this.#bases.push(revision)
  }

  async #discard(): Promise<void> {
    const { files, dataDir } = this.#parts
    const [oldest, next] = this.#bases
    await files.remove(join(dataDir, snapshotFile(oldest!))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error // The first base is not a file: a store starts empty.
    })
    // The log that it needs must not be deleted before it.
    await files.syncDirectory(dataDir)
    this.#bases = this.#bases.slice(1)
    await this.#log.discard(next!)
  }

  /** Writes all objects in their current state while writes continue. */
  async #copy(path: (revision: number) => string, keys?: string): Promise<number> {
    const { files, clock, state, horizon } = this.#parts
    const { revision } = state
    const letGo = horizon.pin(revision)
    try {
      const header = { format: 1, store: this.#store, revision, time: clock.now(), keys } as const
      await writeSnapshot(files, path(revision), header, this.#pagesAt(revision))
    } finally {
      letGo()
    }
    return revision
  }

  async *#pagesAt(revision: number): AsyncGenerator<SnapshotRecord[]> {
    const { state, encode } = this.#parts
    let after: string | undefined
    for (;;) {
      const page = state.walk('', revision, after, PAGE)
      if (page.length === 0) return
      yield page.map((version) => ({ key: version.key, revision: version.revision, ...encode(version) }))
      after = page.at(-1)!.key
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#closing) throw new Error('the store is closing')
    }
  }
}
