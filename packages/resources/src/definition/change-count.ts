/** A function that a provider calls before each request that changes an external resource. */
export type CountChange = () => void

/** Promises that every request of this reconciliation that changes something is counted. */
export type TrackChanges = () => CountChange

/**
 * Counts the requests of one reconciliation that change external resources. A provider opts in when it connects. Without
 * that the number is unknown, and every update is taken to have sent something.
 */
export class ChangeCount {
  #sent: number | undefined

  readonly track: TrackChanges = () => {
    this.#sent ??= 0
    return () => {
      this.#sent = (this.#sent ?? 0) + 1
    }
  }

  /** Undefined when the provider does not count. */
  get sent(): number | undefined {
    return this.#sent
  }
}
