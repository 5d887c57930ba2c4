import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { platform } from 'node:process'
import { messageOf } from '@crosstie/kube'

/**
 * Replaces the file atomically, with mode 0600: readers see the old text or the new one. With `durable` this holds
 * after a power failure, too.
 */
export async function writePrivately(file: string, text: string, durably: boolean): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await withFile(await open(draft, 'wx', 0o600), async (handle) => {
      await handle.writeFile(text)
      if (durably) await handle.sync()
    })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  if (durably) await withFile(await open(dirname(file), 'r'), (handle) => handle.sync())
}

async function withFile(handle: FileHandle, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(handle)
  } finally {
    await handle.close()
  }
}

/** How `closeToOthers` treats a file. */
export interface PrivacyOptions {
  /** For files that the operator provides, such as a mounted Secret. They are often readable for a group. */
  readonly groupMayRead?: boolean
  readonly warn: (message: string) => void
}

/**
 * Removes the permissions of others on a file that holds a secret, and warns, because others may have read it. A
 * file whose mode cannot be changed, such as one on a read-only mount, is used with a warning.
 */
export async function closeToOthers(file: string, { groupMayRead = false, warn }: PrivacyOptions): Promise<void> {
  if (platform === 'win32') return // Windows has no such file modes.
  const found = await stat(file).catch(() => undefined)
  const excess = groupMayRead ? 0o027 : 0o077
  if (!found?.isFile() || (found.mode & excess) === 0) return
  const before = (found.mode & 0o777).toString(8)
  const after = found.mode & 0o777 & ~excess
  const advice = 'Replace the secret if others may have read it'
  try {
    await chmod(file, after)
    warn(
      `${file} holds a secret and was open to others (mode ${before}); its mode is now ${after.toString(8)}. ${advice}`,
    )
  } catch (error) {
    warn(
      `${file} holds a secret, is readable for others (mode ${before}), and its mode cannot be changed: ${messageOf(error)}. ${advice}`,
    )
  }
}
