/** What a client asked for, and what it was told. Kept until the history is known that it must fit into. */
export interface Deed {
  readonly do: 'create' | 'update' | 'patch' | 'apply' | 'delete'
  readonly kind: string
  readonly key: string
  /** Which write it is; objects carry it. */
  readonly id: string
  /** The revision that it builds on, where it names one. */
  readonly expect?: number
  /** The newest revision that anybody had heard of when it was asked for. */
  readonly known: number
  readonly begun: number
  /** Undefined while nobody knows what came of it. */
  told?: { readonly ended: number; readonly outcome: Outcome }
}

export type Outcome =
  | { readonly is: 'done'; readonly revision: number }
  | { readonly is: 'deleted'; readonly uid: string }
  | { readonly is: 'exists' | 'absent' | 'conflict' }

/** What somebody read: one key, or all of a kind at one revision. */
export interface Look {
  readonly known: number
  readonly ended: number
  readonly kind: string
  /** Of one key: 0 when it was absent. Of a kind: by key. */
  readonly saw: { readonly key: string; readonly revision: number } | ReadonlyMap<string, number>
  /** Of a list. */
  readonly revision?: number
}

/** All that clients did in one life of the server. */
export class Recording {
  readonly deeds: Deed[] = []
  readonly looks: Look[] = []
  #clock = 0

  /** The newest revision that anybody has heard of, ever. */
  constructor(public known: number) {}

  /** A moment: later ones are larger. */
  now(): number {
    return this.#clock++
  }

  heard(revision: number): void {
    if (revision > this.known) this.known = revision
  }
}
