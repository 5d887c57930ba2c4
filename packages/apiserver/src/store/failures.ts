import { messageOf } from '@crosstie/kube'

const REPAIR = 'Repair the disk and open it again, or restore a backup into an empty directory.'

/** Data on disk differs from what was written. Detecting this changed nothing. */
export class StoreCorruptError extends Error {
  override readonly name = 'StoreCorruptError'
  readonly file: string
  readonly offset: number

  constructor(file: string, offset: number, what: string, remedy = REPAIR) {
    super(`${file} is damaged at byte ${offset}: ${what}. Nothing was changed. ${remedy}`)
    this.file = file
    this.offset = offset
  }
}

const explanations: Readonly<Record<string, { readonly why: string; readonly remedy: string }>> = {
  ENOSPC: { why: 'no space is left on the disk', remedy: 'Free some space where the data is' },
  EDQUOT: { why: 'the disk quota is used up', remedy: 'Free some space where the data is, or raise the quota' },
  EROFS: { why: 'the file system is read-only', remedy: 'Make it writable again' },
}

/** A write could not be made durable. It is not visible, and reads continue. */
export class StoreWriteError extends Error {
  override readonly name = 'StoreWriteError'
  /** The error code of the system, such as ENOSPC or EIO. */
  readonly code: string | undefined

  constructor(cause: unknown) {
    const code = (cause as NodeJS.ErrnoException).code
    const { why, remedy } = explanations[code ?? ''] ?? {
      why: messageOf(cause),
      remedy: 'Check the disk and the log of the system',
    }
    super(`cannot write to the store: ${why}. ${remedy}; reads go on, and so will writes once the disk works again.`, {
      cause,
    })
    this.code = code
  }
}

/** Another process has the data open. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
  readonly pid: number | undefined

  constructor(dataDir: string, pid: number | undefined) {
    const owner = pid === undefined ? 'another process' : `process ${pid}`
    super(`${dataDir} is in use by ${owner}. Stop it first, or choose another data directory.`)
    this.pid = pid
  }
}

/** The available keys cannot decrypt or encrypt values. Nothing was changed. */
export class StoreKeyError extends Error {
  override readonly name = 'StoreKeyError'
}
