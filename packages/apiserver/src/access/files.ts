import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

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
