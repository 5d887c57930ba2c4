/** Time is handed in, so that tests and the simulator own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** metav1.Time: seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** metav1.MicroTime. */
export function microTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`
}
