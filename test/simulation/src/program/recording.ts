/** A write request and its outcome, kept until the history for its check is complete. */
export interface Deed {
  readonly do: 'create' | 'update' | 'patch' | 'apply' | 'delete'
  readonly kind: string
  readonly key: string
  /** The id of the write, which objects carry. */
  readonly id: string
  /** The expected revision, if the request names one. */
  readonly expect?: number
  /** The newest revision that any client knew at the request. */
  readonly known: number
  readonly begun: number
  /** Undefined while the outcome is unknown. */
  told?: { readonly ended: number; readonly outcome: Outcome }
}

/** The outcome of a write. */
export type Outcome =
  | { readonly is: 'done'; readonly revision: number }
  | { readonly is: 'deleted'; readonly uid: string }
  | { readonly is: 'exists' | 'absent' | 'conflict' }

/** A read of one key, or of all objects of a kind at one revision. */
export interface Look {
  readonly known: number
  readonly ended: number
  readonly kind: string
  /** For one key: its revision, or 0 if it was absent. For a kind: the revisions by key. */
  readonly saw: { readonly key: string; readonly revision: number } | ReadonlyMap<string, number>
  /** The revision of a list. */
  readonly revision?: number
}

/** All operations of the clients in one run of the server. */
export class Recording {
  readonly deeds: Deed[] = []
  readonly looks: Look[] = []
  #clock = 0

  /** The newest revision that any client has seen. */
  constructor(public known: number) {}

  /** Returns a logical timestamp that increases with every call. */
  now(): number {
    return this.#clock++
  }

  heard(revision: number): void {
    if (revision > this.known) this.known = revision
  }
}
