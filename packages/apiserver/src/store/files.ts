import fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import { platform } from 'node:process'
import { type Lock, lockDirectory } from './lock.js'

/** The file system operations of the store. Tests replace them to simulate failures and power loss. */
export interface Files {
  /** Locks the directory for one process. Throws StoreLockedError when it is locked. */
  lock(directory: string): Promise<Lock>
  makeDirectory(path: string): Promise<void>
  list(directory: string): Promise<readonly string[]>
  open(path: string, mode: OpenMode): Promise<OpenFile>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Makes created, renamed and removed names survive a power loss. */
  syncDirectory(path: string): Promise<void>
}

/** `durable` creates the file and resolves each write only when it would survive a power loss. */
export type OpenMode = 'read' | 'create' | 'durable'

/** An open file. */
export interface OpenFile {
  size(): Promise<number>
  /** Returns the number of bytes read: 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>
  /**
   * Returns the number of bytes written, which may be fewer than given. `alone` says that no other request waits
   * for the disk. Then the write may block the event loop for a moment, which costs less than another thread.
   */
  write(bytes: Uint8Array, position: number, alone?: boolean): Promise<number>
  /** Frees the space after the size. */
  truncate(size: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** Writes all bytes, in several calls if necessary. */
export async function writeAll(file: OpenFile, bytes: Uint8Array, position: number, alone = false): Promise<void> {
  let written = await file.write(bytes, position, alone)
  while (written < bytes.length) {
    const more = await file.write(bytes.subarray(written), position + written)
    if (more === 0) throw Object.assign(new Error('the file accepts no more bytes'), { code: 'EIO' })
    written += more
  }
}

/** Fills the buffer. Returns fewer bytes only at the end of the file. */
export async function readAll(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    const count = await file.read(into.subarray(filled), position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DSYNC } = fs.constants

// With O_DSYNC one call writes and syncs, which saves a round trip to the thread pool. On other platforms libuv's
// fdatasync reaches the disk reliably (F_FULLFSYNC on macOS, FlushFileBuffers on Windows).
const writesThrough = platform === 'linux' && O_DSYNC !== undefined

/** A disk that takes longer for single writes is slow. Blocking the event loop for it costs other requests too much. */
const QUICK_MS = 1
/** The weight of one write in the average. A single slow write does not count as a slow disk. */
const WEIGHT = 1 / 16
/** The number of single writes through the thread pool before in-place writes are tried again. */
const WRITES_UNTIL_NEXT_TRY = 100

class NodeFile implements OpenFile {
  readonly #descriptor: number
  readonly #mode: OpenMode
  /** The moving average of the time of single writes. */
  #usualMs = 0
  /** Single writes that still go through the thread pool. */
  #untilNextTry = 0
  #closed: Promise<void> | undefined

  constructor(descriptor: number, mode: OpenMode) {
    this.#descriptor = descriptor
    this.#mode = mode
  }

  async size(): Promise<number> {
    return (await call<fs.Stats>((done) => fs.fstat(this.#descriptor, done))).size
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return call((done) => fs.read(this.#descriptor, into, 0, into.length, position, done))
  }

  async write(bytes: Uint8Array, position: number, alone = false): Promise<number> {
    if (alone && writesThrough && this.#untilNextTry-- <= 0) return this.#writeInPlace(bytes, position)
    const write = (done: Done<number>) => fs.write(this.#descriptor, bytes, 0, bytes.length, position, done)
    const written = await call<number>(write)
    if (this.#mode === 'durable' && !writesThrough) await this.sync()
    return written
  }

  /**
   * Writes in the event loop. Waking a thread and being woken by it takes a ninth of the CPU time of a single write
   * request.
   */
  #writeInPlace(bytes: Uint8Array, position: number): number {
    const begun = performance.now()
    const written = fs.writeSync(this.#descriptor, bytes, 0, bytes.length, position)
    this.#usualMs += (performance.now() - begun - this.#usualMs) * WEIGHT
    if (this.#usualMs > QUICK_MS) {
      this.#untilNextTry = WRITES_UNTIL_NEXT_TRY
      this.#usualMs = 0
    } else this.#untilNextTry = 0
    return written
  }

  truncate(size: number): Promise<void> {
    return call((done) => fs.ftruncate(this.#descriptor, size, done))
  }

  sync(): Promise<void> {
    return call((done) => fs.fdatasync(this.#descriptor, done))
  }

  close(): Promise<void> {
    // A second close would close another file with the same descriptor.
    this.#closed ??= call((done) => fs.close(this.#descriptor, done))
    return this.#closed
  }
}

/** The real file system. Files have mode 0600. */
export const nodeFiles: Files = {
  lock: lockDirectory,
  async makeDirectory(path) {
    const first = await fs.promises.mkdir(path, { recursive: true, mode: 0o700 }).catch((error) => {
      const isFile = error.code === 'EEXIST' || error.code === 'ENOTDIR'
      throw isFile ? new Error(`${path} is a file or is inside a file. Choose a folder.`, { cause: error }) : error
    })
    if (first === undefined) return
    for (let made = resolve(path); made.length >= first.length; made = dirname(made)) {
      await nodeFiles.syncDirectory(dirname(made))
    }
  },
  list: (directory) => fs.promises.readdir(directory),
  async open(path, mode) {
    const flags =
      mode === 'read'
        ? O_RDONLY
        : O_WRONLY | O_CREAT | O_EXCL | (mode === 'durable' && writesThrough ? (O_DSYNC ?? 0) : 0)
    const descriptor = await call<number>((done) => fs.open(path, flags, 0o600, done))
    return new NodeFile(descriptor, mode)
  },
  rename: (from, to) => fs.promises.rename(from, to),
  remove: (path) => fs.promises.unlink(path),
  async syncDirectory(path) {
    if (platform === 'win32') return // NTFS journals names, and a directory cannot be opened for syncing.
    const descriptor = await call<number>((done) => fs.open(path, O_RDONLY, done))
    try {
      await call<void>((done) => fs.fsync(descriptor, done))
    } finally {
      await call<void>((done) => fs.close(descriptor, done))
    }
  },
}

type Done<T> = (error: NodeJS.ErrnoException | null, result?: T) => void

/** Callbacks cost a third of `fs.promises`, and every write waits for the log. */
function call<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((fulfil, reject) => start((error, result) => (error ? reject(error) : fulfil(result as T))))
}
