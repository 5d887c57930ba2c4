import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { defaultKeyFile } from './durable.js'
import { StoreCorruptError, StoreKeyError } from './failures.js'
import { type Files, nodeFiles } from './files.js'
import { Encoding } from './frame.js'
import { keyIdOf, keyIds } from './keyring.js'
import { RESTORING, snapshotFile } from './load.js'
import { readSnapshot, readSnapshotHeader, type SnapshotHeader, writeSnapshot } from './snapshot.js'

/** Options of restoreBackup. */
export interface RestoreOptions {
  /** Replaces existing data, which is moved into a folder `replaced-…` next to the new data. */
  readonly force?: boolean
  /** The file of the encryption keys, read or written. Default: `keys.json` in the directory. */
  readonly keyFile?: string
  readonly files?: Files
}

const STORE_FILE = /^(log-\d{12}|snapshot-\d{16})$/

/**
 * A restored store continues far beyond the revision of the backup. Clients may have seen later revisions before
 * the loss and must not confuse them with new ones. Their revisions count as compacted, so they list again.
 */
const REVISIONS_AHEAD = 1_000_000_000

/**
 * Restores a backup into a directory. It verifies the whole backup first, and refuses a directory with data unless
 * forced.
 */
export async function restoreBackup(
  file: string,
  dataDir: string,
  options: RestoreOptions = {},
): Promise<{ readonly revision: number; readonly objects: number }> {
  const { files = nodeFiles, force = false, keyFile = defaultKeyFile(dataDir) } = options
  const { header, objects, keys } = await check(files, file)
  await files.makeDirectory(dataDir)
  const lock = await files.lock(dataDir)
  try {
    const names = await files.list(dataDir)
    const present = names.filter((name) => STORE_FILE.test(name))
    if (present.length > 0 && !force) {
      throw new Error(`${dataDir} already holds data (${present[0]}). Choose an empty directory, or use --force.`)
    }
    await provideKeys(header, keys, keyFile)
    if (!names.includes(RESTORING)) await (await files.open(join(dataDir, RESTORING), 'create')).close()
    await files.syncDirectory(dataDir)
    await setAside(files, dataDir, present)
    const revision = header.revision + REVISIONS_AHEAD
    const restored: SnapshotHeader = { format: 1, store: randomUUID(), revision, time: header.time }
    await writeSnapshot(files, join(dataDir, snapshotFile(revision)), restored, readSnapshot(files, file))
    await files.remove(join(dataDir, RESTORING))
    await files.syncDirectory(dataDir)
    return { revision, objects }
  } finally {
    await lock.release()
  }
}

interface Checked {
  readonly header: SnapshotHeader
  readonly objects: number
  readonly keys: ReadonlySet<string>
}

async function check(files: Files, file: string): Promise<Checked> {
  const keys = new Set<string>()
  let objects = 0
  try {
    const header = await readSnapshotHeader(files, file)
    for await (const records of readSnapshot(files, file)) {
      objects += records.length
      for (const { encoding, value } of records) if (encoding === Encoding.encrypted) keys.add(keyIdOf(value))
    }
    return { header, objects, keys }
  } catch (error) {
    if (!(error instanceof StoreCorruptError)) throw error
    const what = error.offset === 0 ? 'this is not a backup' : 'it was truncated or changed after it was written'
    throw new StoreCorruptError(file, error.offset, what, "Use another file that 'crosstie backup' wrote.")
  }
}

async function provideKeys(header: SnapshotHeader, needed: ReadonlySet<string>, keyFile: string): Promise<void> {
  if (needed.size === 0) return
  if (!fs.existsSync(keyFile)) {
    if (!header.keys) {
      const next = `Copy the key file of that store there first, or name it.`
      throw new StoreKeyError(`the backup holds encrypted values, but ${keyFile} does not exist. ${next}`)
    }
    await fs.promises.writeFile(keyFile, header.keys, { mode: 0o600, flag: 'wx', flush: true })
  }
  const known = new Set(await keyIds(keyFile))
  const missing = [...needed].filter((id) => !known.has(id))
  if (missing.length === 0) return
  throw new StoreKeyError(`the backup is encrypted with key ${missing.join(' and ')}, which is not in ${keyFile}`)
}

async function setAside(files: Files, dataDir: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const folder = join(dataDir, `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`)
  await files.makeDirectory(folder)
  for (const name of names) await files.rename(join(dataDir, name), join(folder, name))
  await files.syncDirectory(folder)
  await files.syncDirectory(dataDir)
}
