/** Changes that are kept: more than one life makes, so that the watcher can always go on. */
export const HISTORY = 5000

/** What the process that will be killed tells, one line each, before and after everything it does. */
export type Event =
  /** The store is open; what was missed since the last life follows as `saw`. */
  | { readonly e: 'open'; readonly revision: number }
  /** A write is about to be asked for. */
  | { readonly e: 'begin'; readonly id: number; readonly writes: readonly Intent[] }
  | { readonly e: 'acknowledged'; readonly id: number; readonly revisions: readonly number[] }
  | { readonly e: 'refused'; readonly id: number }
  /** A watcher saw a change. */
  | { readonly e: 'saw'; readonly change: Seen }
  /** A reader read a key; 0 when it was absent. */
  | { readonly e: 'read'; readonly key: string; readonly revision: number; readonly id: number }

export interface Intent {
  readonly key: string
  readonly do: 'put' | 'delete'
  readonly expect: number | 'absent' | 'any'
}

export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly revision: number
  /** Which attempt wrote it, and as which of its writes. */
  readonly id: number
  readonly part: number
}
