/** Parameters of exponential back-off. */
export interface BackoffOptions {
  readonly baseMs: number
  readonly maxMs: number
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

const JITTER = 0.2

/** Returns the delay after this number of consecutive failures: exponential, capped, with jitter. */
export function backoffMs(failures: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const doubled = baseMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(doubled, maxMs) * (1 - JITTER * random())
}
