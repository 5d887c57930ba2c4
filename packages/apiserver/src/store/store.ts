import type { KubeObject } from '@crosstie/kube'

/**
 * Stores objects: in memory for reads, in a log for durability.
 *
 * Every accepted write gets the next revision at once. It is acknowledged, and visible to readers and watchers,
 * when it is durable. Keys have the form `/apps.example.org/widgets/<namespace>/<name>`. The core group is empty
 * (`//secrets/default/a`), and a cluster-scoped object has no namespace part.
 */
export interface Store {
  /** The newest durable revision. */
  readonly revision: number
  /** Older revisions cannot be read or watched. */
  readonly compacted: number
  /**
   * The error of the last write that failed to become durable. Undefined after a successful write. For health
   * checks.
   */
  readonly failure: Error | undefined

  /**
   * Returns the state that readers see, at the revision if one is given. Throws CompactedError for a revision that
   * is too old and FutureRevisionError for one that does not exist yet.
   */
  get(key: string, revision?: number): Stored | undefined
  /** Returns objects in the order of keys, all from one revision. */
  list(prefix: string, options?: ListRange): StoredPage
  /** Returns the number of objects below the prefix. */
  count(prefix: string): number

  /**
   * Returns the state on which a writer must build: the newest accepted version of the key, which may not be
   * durable yet. A write that builds on it becomes durable after it.
   */
  tip(key: string): Stored | undefined

  /**
   * Accepts all writes or none. The store takes ownership of the objects: it sets `metadata.resourceVersion` and
   * shares them with readers. Throws PreconditionError when the tip of a key does not have the expected revision;
   * then nothing is accepted. Resolves when the writes are durable or, without writes, when everything accepted
   * before is.
   */
  write(writes: readonly Write[]): Promise<readonly Change[]>

  /**
   * Calls the listener with changes in order when they become durable and visible. Returns the function that
   * unsubscribes.
   */
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  /** Returns the durable changes after the revision, in order. Throws CompactedError when some are compacted. */
  changesSince(revision: number, prefix?: string): readonly Change[]

  /** Removes history before the revision. The state at the revision and later changes stay. */
  compact(revision: number): Promise<void>
  /**
   * Writes a consistent copy that `restoreBackup` accepts, while writes continue. Encrypted values stay encrypted.
   * The keys are included only on request.
   */
  backup(file: string, options?: BackupOptions): Promise<{ readonly revision: number }>
  /** Completes accepted writes, then closes the files. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Options of a backup. */
export interface BackupOptions {
  /** Includes the encryption keys. Anyone with the file can then read the secrets. */
  readonly withKeys?: boolean
}

/** One state of one key. `object` is parsed on first use, so read fields instead of spreading it. */
export interface Stored {
  readonly key: string
  /** The revision of the last change, also in `object.metadata.resourceVersion`. */
  readonly revision: number
  readonly object: KubeObject
  /** The JSON of the object in UTF-8, exactly as a client of the stored version gets it. */
  readonly bytes: Uint8Array
  /** Set by the kind that shows the object exactly as it is stored. */
  shownBy?: unknown
}

/** A durable change of one key. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly revision: number
  /** The new state. For DELETED: the last state with the revision of the deletion, as watchers see it. */
  readonly now: Stored
  readonly before: Stored | undefined
}

/** A write of one key. */
export type Write =
  | {
      readonly do: 'put'
      readonly key: string
      readonly object: KubeObject
      readonly expect: number | 'absent' | 'any'
      /** Throws ObjectTooLargeError when the JSON is longer, unless it is not longer than the replaced one. */
      readonly bytesMax?: number
    }
  | {
      readonly do: 'delete'
      readonly key: string
      readonly expect: number | 'any' /** The final state, when it differs from the tip. */
      readonly object?: KubeObject
    }

/** The range of a list. */
export interface ListRange {
  readonly revision?: number
  /** Start after this key. */
  readonly after?: string
  readonly limit?: number
}

/** One page of a list. */
export interface StoredPage {
  readonly items: readonly Stored[]
  readonly revision: number
  /** The number of objects after the last item. */
  readonly remaining: number
}

/** The key does not have the expected revision: another writer was faster. */
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

/** The JSON of an object exceeds the limit of its write. Nothing was accepted. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError'
  readonly bytes: number

  constructor(key: string, bytes: number, bytesMax: number) {
    super(`${key} has ${bytes} bytes, and at most ${bytesMax} are allowed`)
    this.bytes = bytes
  }
}

/** The revision is compacted. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  readonly compacted: number

  constructor(revision: number, compacted: number) {
    super(`revision ${revision} is compacted; the oldest readable revision is ${compacted}`)
    this.compacted = compacted
  }
}

/** The revision does not exist yet. */
export class FutureRevisionError extends Error {
  override readonly name = 'FutureRevisionError'
  readonly revision: number

  constructor(revision: number, newest: number) {
    super(`revision ${revision} does not exist yet; the newest is ${newest}`)
    this.revision = newest
  }
}

/** The store is closed. */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError'

  constructor() {
    super('the store is closed')
  }
}
