import { join } from 'node:path'
import { StoreCorruptError } from './failures.js'
import { type Files, readAll, writeAll } from './files.js'

/*
 * A torn end of the log is normal after a crash, because it was never acknowledged. After a clean stop nothing may be torn, but
 * the log alone does not show which of the two happened. So a clean stop records the last revision of the log. The file is
 * only replaced, never removed: later starts continue from its revision, so it stays valid.
 */
/** The file that records a clean stop. */
export const CLEAN_STOP = 'stopped'
const DRAFT = '.stopped.tmp'
const BYTES_MAX = 4096

interface CleanStop {
  readonly format: 1
  readonly store: string
  readonly revision: number
}

/** Records that all changes up to a revision are in the log. Best effort: a full disk must not keep a store open. */
export async function recordCleanStop(files: Files, directory: string, store: string, revision: number): Promise<void> {
  const draft = join(directory, DRAFT)
  const stop: CleanStop = { format: 1, store, revision }
  try {
    await files.remove(draft).catch(() => {})
    const file = await files.open(draft, 'create')
    try {
      await writeAll(file, Buffer.from(JSON.stringify(stop)), 0)
      await file.sync()
    } finally {
      await file.close()
    }
    await files.rename(draft, join(directory, CLEAN_STOP))
    await files.syncDirectory(directory)
  } catch {
    // Without the record, a truncated log looks like one that a crash tore.
  }
}

/** Throws StoreCorruptError when the log ends before the last clean stop. */
export async function checkCleanStop(
  files: Files,
  directory: string,
  store: string | undefined,
  revision: number,
): Promise<void> {
  const stop = await readCleanStop(files, join(directory, CLEAN_STOP))
  // A restored backup is another store with its own revisions.
  if (!stop || (store !== undefined && stop.store !== store) || stop.revision <= revision) return
  const what = `the log reached revision ${stop.revision} at the last clean stop and now ends at ${revision}: a file was truncated or removed`
  throw new StoreCorruptError(join(directory, CLEAN_STOP), 0, what)
}

async function readCleanStop(files: Files, path: string): Promise<CleanStop | undefined> {
  try {
    const file = await files.open(path, 'read')
    try {
      const bytes = Buffer.alloc(BYTES_MAX)
      const text = bytes.toString('utf8', 0, await readAll(file, bytes, 0))
      const stop = JSON.parse(text) as CleanStop
      return stop.format === 1 ? stop : undefined
    } finally {
      await file.close()
    }
  } catch {
    return undefined // The record is missing in a new store, in stores of older versions, and after a crash of the first run.
  }
}
