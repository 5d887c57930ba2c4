/** Time is handed in, so that tests and the simulator own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

const started = performance.timeOrigin

/**
 * Begins with the system's clock and then runs by itself: for how long things
 * take and when they are due. Clocks are set, by hours sometimes; nothing may
 * come an hour late for that, and nobody be taken for dead.
 */
export const steadyClock: Clock = { now: () => started + performance.now() }

/** metav1.Time: seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** metav1.MicroTime. */
export function microTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`
}
