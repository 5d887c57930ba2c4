import type { State } from './state.js'

/** How much history can be read and watched. The first limit that is reached applies. */
export interface HistoryLimits {
  readonly age: number
  readonly changes: number
  readonly bytes: number
}

/** Five minutes, as kube-apiserver compacts etcd, bounded by memory. */
export const defaultHistory: HistoryLimits = { age: 300_000, changes: 100_000, bytes: 32 << 20 }

/** The number of changes that are compacted at once, so that no turn of the event loop takes long. */
const FORGET_AT_ONCE = 2000
const MARK_EVERY_MS = 1000

/** Advances the compacted revision and frees history that is no longer read. */
export class Horizon {
  readonly #state: State
  readonly #limits: HistoryLimits
  readonly #pins = new Set<{ readonly revision: number }>()
  /** The newest revision at points in time, one per second. */
  readonly #marks: { readonly time: number; revision: number }[] = []

  constructor(state: State, limits: HistoryLimits) {
    this.#state = state
    this.#limits = limits
  }

  /** Records that the newest revision was reached at this time. */
  passed(time: number): void {
    const last = this.#marks.at(-1)
    if (last && time < last.time + MARK_EVERY_MS) last.revision = this.#state.revision
    else this.#marks.push({ time, revision: this.#state.revision })
  }

  /** The time of the newest change in the log. Undefined when it was compacted. */
  get newestTime(): number | undefined {
    return this.#marks.at(-1)?.time
  }

  compact(revision: number): void {
    this.#state.compacted = Math.max(this.#state.compacted, revision)
    this.#forget()
  }

  /** Compacts history beyond the limits. */
  advance(now: number): void {
    let target = this.#state.compacted
    while (this.#marks.length > 0 && this.#marks[0]!.time < now - this.#limits.age) {
      target = Math.max(target, this.#marks.shift()!.revision)
    }
    target = Math.max(target, this.#overflow())
    if (target > this.#state.compacted) this.#state.compacted = target
    this.#forget()
  }

  /** Keeps the state at a revision readable for `walk`. Returns the function that releases it. */
  pin(revision: number): () => void {
    const pin = { revision }
    this.#pins.add(pin)
    return () => this.#pins.delete(pin)
  }

  /** Returns the revision up to which history must be compacted to fit its limits. */
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
