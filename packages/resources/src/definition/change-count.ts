/** A function that a provider calls before each request that changes an external resource. */
export type CountChange = () => void

/** Opts in to counting. The caller guarantees that it counts every mutating request of this reconciliation. */
export type TrackChanges = () => CountChange

/**
 * Counts the requests of one reconciliation that change external resources. A provider opts in when it connects.
 * Otherwise the number is unknown, and the reconciler assumes that every update sent a request.
 */
export class ChangeCount {
  #sent: number | undefined

  readonly track: TrackChanges = () => {
    this.#sent ??= 0
    return () => {
      this.#sent = (this.#sent ?? 0) + 1
    }
  }

  /** The number of counted requests. Undefined if the provider did not opt in. */
  get sent(): number | undefined {
    return this.#sent
  }
}
