/** The number of retained changes. It exceeds the changes of one run, so that the watcher can always resume. */
export const HISTORY = 5000

/** An event that the victim reports before and after each operation, one line each. */
export type Event =
  /** The store is open. Changes since the last run follow as `saw`. */
  | { readonly e: 'open'; readonly revision: number }
  /** A write is about to be requested. */
  | { readonly e: 'begin'; readonly id: number; readonly writes: readonly Intent[] }
  | { readonly e: 'acknowledged'; readonly id: number; readonly revisions: readonly number[] }
  | { readonly e: 'refused'; readonly id: number }
  /** A watcher saw a change. */
  | { readonly e: 'saw'; readonly change: Seen }
  /** A reader read a key. The revision is 0 if the key was absent. */
  | { readonly e: 'read'; readonly key: string; readonly revision: number; readonly id: number }

/** A write that the victim intends. */
export interface Intent {
  readonly key: string
  readonly do: 'put' | 'delete'
  readonly expect: number | 'absent' | 'any'
}

/** A change that a watcher or a reader saw. */
export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly revision: number
  /** The attempt that wrote it, and the index of the write. */
  readonly id: number
  readonly part: number
}
