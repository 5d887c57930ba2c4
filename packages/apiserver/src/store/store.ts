import type { KubeObject } from '@crosstie/kube'

/**
 * Where objects are kept: in memory to be read, in a log to survive.
 *
 * Every accepted write gets the next revision at once, in order; it is
 * acknowledged, and seen by readers and watchers, only when it is durable.
 * Keys look like `/apps.example.org/widgets/<namespace>/<name>` (the core group
 * is empty: `//secrets/default/a`; a cluster-scoped object has no namespace part).
 */
export interface Store {
  /** The newest durable revision. */
  readonly revision: number
  /** Revisions before this one can no longer be read or watched from. */
  readonly compacted: number
  /** Why the last write could not be made durable; undefined as soon as one could. For health checks. */
  readonly failure: Error | undefined

  /**
   * What readers see. With a revision: as it was then; throws CompactedError when that is too old
   * and FutureRevisionError when it is not there yet.
   */
  get(key: string, revision?: number): Stored | undefined
  /** In the order of keys, all from one revision. */
  list(prefix: string, options?: ListRange): StoredPage
  /** How many objects lie below the prefix now. */
  count(prefix: string): number

  /**
   * What a writer must build on: the newest accepted state of the key, which may
   * not be durable yet. A write that builds on it can only become durable after it.
   */
  tip(key: string): Stored | undefined

  /**
   * Takes all writes or none. The objects are handed over: the store puts the
   * revision into `metadata.resourceVersion` and shares them with all readers.
   * Throws PreconditionError (nothing accepted) when a key's tip is not at the
   * revision that the write expects. Resolves when durable; without any writes, when all that was
   * accepted before is.
   */
  write(writes: readonly Write[]): Promise<readonly Change[]>

  /** Calls back with every change in order, as it becomes durable and visible; returns how to stop. */
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  /** Durable changes after the revision, in order. Throws CompactedError when some of them are gone. */
  changesSince(revision: number, prefix?: string): readonly Change[]

  /** Forgets history before the revision; what was the state at it, and everything since, stays. */
  compact(revision: number): Promise<void>
  /**
   * Writes a consistent copy, taken without stopping writers, that `restoreBackup` accepts. What is
   * encrypted in the store is encrypted there too; the keys go along only when asked.
   */
  backup(file: string, options?: BackupOptions): Promise<{ readonly revision: number }>
  /** Finishes what was accepted, then lets go of the files. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface BackupOptions {
  /** Put the encryption keys into the backup as well: whoever has the file can then read the secrets. */
  readonly withKeys?: boolean
}

/** One state of one key. `object` is parsed when first asked for: do not spread it, ask for what you need. */
export interface Stored {
  readonly key: string
  /** The revision of its last change; also in `object.metadata.resourceVersion`. */
  readonly revision: number
  readonly object: KubeObject
  /** The object's JSON, UTF-8, exactly as a client that asks for the stored version gets it. */
  readonly bytes: Uint8Array
  /** A mark for the kind that found that it shows the object just as it is stored. */
  shownBy?: unknown
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly revision: number
  /** The new state. For DELETED: the last state, with the revision of the deletion, as watchers see it. */
  readonly now: Stored
  readonly before: Stored | undefined
}

export type Write =
  | {
      readonly do: 'put'
      readonly key: string
      readonly object: KubeObject
      readonly expect: number | 'absent' | 'any'
      /** Throws ObjectTooLargeError when the JSON is longer, unless it is not longer than what it replaces. */
      readonly bytesMax?: number
    }
  | {
      readonly do: 'delete'
      readonly key: string
      readonly expect: number | 'any' /** Last words, when the final state differs from the tip. */
      readonly object?: KubeObject
    }

export interface ListRange {
  readonly revision?: number
  /** Start after this key. */
  readonly after?: string
  readonly limit?: number
}

export interface StoredPage {
  readonly items: readonly Stored[]
  readonly revision: number
  /** How many more there are after the last item, 0 when this is the end. */
  readonly remaining: number
}

/** A write's expectation did not hold: somebody was faster. */
export class PreconditionError extends Error {
  override readonly name = 'PreconditionError'
  readonly key: string
  readonly tip: Stored | undefined

  constructor(key: string, tip: Stored | undefined) {
    super(`${key} is ${tip ? `at revision ${tip.revision}` : 'absent'}, which is not what the write expects`)
    this.key = key
    this.tip = tip
  }
}

/** The JSON of an object is longer than its write allows. Nothing was accepted. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError'
  readonly bytes: number

  constructor(key: string, bytes: number, bytesMax: number) {
    super(`${key} would take ${bytes} bytes, and no more than ${bytesMax} are allowed`)
    this.bytes = bytes
  }
}

export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  readonly compacted: number

  constructor(revision: number, compacted: number) {
    super(`revision ${revision} was compacted; the oldest that can be read is ${compacted}`)
    this.compacted = compacted
  }
}

/** A revision that the store has not reached. */
export class FutureRevisionError extends Error {
  override readonly name = 'FutureRevisionError'
  readonly revision: number

  constructor(revision: number, newest: number) {
    super(`revision ${revision} is not reached yet; the newest is ${newest}`)
    this.revision = newest
  }
}

export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError'

  constructor() {
    super('the store is closed')
  }
}
