const SLICE_MS = 10

/**
 * Divides the work of one request into slices. A body of three megabytes takes hundreds of milliseconds from its bytes to
 * the store; other requests are served between the stages.
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

/** Whether a request has worked for so long that others should run. Asked before awaiting, which costs by itself. */
export function isLong({ pace }: Paced): boolean {
  return pace?.isLong ?? false
}

/** Lets other requests run. */
export async function rest({ pace }: Paced): Promise<void> {
  await pace?.rest()
}
