/** A source of time. It is injected, so that tests and the simulator control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/** The wall clock of the system. */
export const systemClock: Clock = { now: () => Date.now() }

const started = performance.timeOrigin

/**
 * A monotonic clock that starts at the system time. Use it for durations and deadlines: an adjustment of the system
 * clock must not delay timers or expire leases.
 */
export const steadyClock: Clock = { now: () => started + performance.now() }

/** Formats a metav1.Time: RFC 3339 with seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** Formats a metav1.MicroTime: RFC 3339 with microseconds, UTC. */
export function microTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`
}
