export interface BackoffOptions {
  readonly baseMs: number
  readonly maxMs: number
  /** From 0 up to, not including, 1. */
  readonly random: () => number
}

const JITTER = 0.2

/** How long to wait after this many failures in a row: doubling, bounded, and a little different for everybody. */
export function backoffMs(failures: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const doubled = baseMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(doubled, maxMs) * (1 - JITTER * random())
}
