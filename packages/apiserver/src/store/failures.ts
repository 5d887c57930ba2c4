import { messageOf } from '@crosstie/kube'

const REPAIR = 'Repair the disk and start again, or restore a backup into an empty directory.'

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
  ENOSPC: { why: 'the disk is full', remedy: 'Free space on the disk that holds the data' },
  EDQUOT: {
    why: 'the disk quota is exceeded',
    remedy: 'Free space on the disk that holds the data, or raise the quota',
  },
  EROFS: { why: 'the file system is read-only', remedy: 'Make it writable again' },
}

/** A write failed to become durable. It is not visible, and reads continue. */
export class StoreWriteError extends Error {
  override readonly name = 'StoreWriteError'
  /** The error code of the system, such as ENOSPC or EIO. */
  readonly code: string | undefined

  constructor(cause: unknown) {
    const code = (cause as NodeJS.ErrnoException).code
    const { why, remedy } = explanations[code ?? ''] ?? {
      why: messageOf(cause),
      remedy: 'Check the disk and the system log',
    }
    super(
      `cannot write to the store: ${why}. ${remedy}. Reads continue, and writes continue when the disk works again.`,
      {
        cause,
      },
    )
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
