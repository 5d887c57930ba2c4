const SLICE_MS = 10

/**
 * Divides the work of one request into slices. A body of three megabytes takes hundreds of milliseconds from
 * decoding to the store. Other requests run between the stages.
 */
export class Pace {
  #since = performance.now()

  get isLong(): boolean {
    return performance.now() - this.#since > SLICE_MS
  }

  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#since = performance.now()
  }
}

interface Paced {
  /** Absent for callers in the process. */
  readonly pace?: Pace
}

/** Whether a request has run long enough to let others run. Checked before awaiting, because an await has a cost. */
export function isLong({ pace }: Paced): boolean {
  return pace?.isLong ?? false
}

/** Lets other requests run. */
export async function rest({ pace }: Paced): Promise<void> {
  await pace?.rest()
}

/** A function for work that can be interrupted: a promise when the request has worked for long, undefined otherwise. */
export function pauseOf({ pace }: Paced): (() => Promise<void> | undefined) | undefined {
  return pace && (() => (pace.isLong ? pace.rest() : undefined))
}
