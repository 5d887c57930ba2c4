import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { platform } from 'node:process'
import { messageOf } from '@crosstie/kube'

/**
 * Replaces the file as a whole: whoever reads it sees the old text or the new
 * one, also after a power cut if it is written durably. Only the owner may read it.
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

export interface PrivacyOptions {
  /** For files that the operator provides, such as a mounted Secret: these are often shared with a group. */
  readonly groupMayRead?: boolean
  readonly warn: (message: string) => void
}

/**
 * Takes away the permission of others to read or write a file with a secret, and warns: others may have read it already.
 * A file whose mode cannot be changed, such as one of a read-only mount, is used as it is, with a warning.
 */
export async function closeToOthers(file: string, { groupMayRead = false, warn }: PrivacyOptions): Promise<void> {
  if (platform === 'win32') return // Its files have no such modes.
  const found = await stat(file).catch(() => undefined)
  const excess = groupMayRead ? 0o027 : 0o077
  if (!found?.isFile() || (found.mode & excess) === 0) return
  const before = (found.mode & 0o777).toString(8)
  const after = found.mode & 0o777 & ~excess
  const advice = 'Replace the secret in it if others may have read it'
  try {
    await chmod(file, after)
    warn(
      `${file} holds a secret and was open to others (mode ${before}); its mode is now ${after.toString(8)}. ${advice}`,
    )
  } catch (error) {
    warn(
      `${file} holds a secret, is open to others (mode ${before}), and cannot be closed: ${messageOf(error)}. ${advice}`,
    )
  }
}
