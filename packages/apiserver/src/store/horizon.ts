import type { State } from './state.js'

/** How much of the past is kept to be read and watched from. Whatever is reached first ends it. */
export interface HistoryLimits {
  readonly age: number
  readonly changes: number
  readonly bytes: number
}

/** Five minutes, as kube-apiserver has etcd compact, and no more than memory can bear. */
export const defaultHistory: HistoryLimits = { age: 300_000, changes: 100_000, bytes: 32 << 20 }

/** At most this many changes are forgotten at once, so that no turn of the event loop takes long. */
const FORGET_AT_ONCE = 2000
const MARK_EVERY_MS = 1000

/** Moves the compacted revision on, and frees what lies behind it unless somebody still reads there. */
export class Horizon {
  readonly #state: State
  readonly #limits: HistoryLimits
  readonly #pins = new Set<{ readonly revision: number }>()
  /** What was the newest revision at which time; one mark a second is enough. */
  readonly #marks: { readonly time: number; revision: number }[] = []

  constructor(state: State, limits: HistoryLimits) {
    this.#state = state
    this.#limits = limits
  }

  /** The newest revision was reached at this time. */
  passed(time: number): void {
    const last = this.#marks.at(-1)
    if (last && time < last.time + MARK_EVERY_MS) last.revision = this.#state.revision
    else this.#marks.push({ time, revision: this.#state.revision })
  }

  /** When the newest change was written, as far as it is still in the log. */
  get newestTime(): number | undefined {
    return this.#marks.at(-1)?.time
  }

  compact(revision: number): void {
    this.#state.compacted = Math.max(this.#state.compacted, revision)
    this.#forget()
  }

  /** Compacts what is beyond the limits. */
  advance(now: number): void {
    let target = this.#state.compacted
    while (this.#marks.length > 0 && this.#marks[0]!.time < now - this.#limits.age) {
      target = Math.max(target, this.#marks.shift()!.revision)
    }
    target = Math.max(target, this.#overflow())
    if (target > this.#state.compacted) this.#state.compacted = target
    this.#forget()
  }

  /** Keeps what was readable at a revision readable for `walk`; returns how to let go. */
  pin(revision: number): () => void {
    const pin = { revision }
    this.#pins.add(pin)
    return () => this.#pins.delete(pin)
  }

  /** The revision up to which changes must go for history to fit its limits. */
  #overflow(): number {
    const { historyLength, historyBytes } = this.#state
    let excessBytes = historyBytes - this.#limits.bytes
    const excessChanges = historyLength - this.#limits.changes
    let revision = 0
    for (let i = 0; (i < excessChanges || excessBytes > 0) && i < FORGET_AT_ONCE; i++) {
      const change = this.#state.historyAt(i)
      if (!change) break
      excessBytes -= change.now.bytes.length
      revision = change.revision
    }
    return revision
  }

  #forget(): void {
    let revision = this.#state.compacted
    for (const pin of this.#pins) revision = Math.min(revision, pin.revision)
    const bound = this.#state.historyAt(FORGET_AT_ONCE)
    this.#state.forget(bound ? Math.min(revision, bound.revision) : revision)
  }
}
