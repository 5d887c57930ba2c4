import { type Clock, steadyClock } from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import { sleep } from '../sleep.js'
import type { LeaseLock } from './lease.js'

/** Timings of leader election. `retryMs` < `renewMs` < `durationMs`. */
export interface LeaseTimings {
  /** How long other processes wait after the last renewal before they take the lease. */
  readonly durationMs: number
  /** How long a holder that cannot renew continues. The rest of `durationMs` is for stopping. */
  readonly renewMs: number
  /** Interval between attempts to acquire or renew. */
  readonly retryMs: number
}

/** The timings of the Kubernetes controllers. */
export const DEFAULT_LEASE_TIMINGS: LeaseTimings = { durationMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

/** Options of runElection. */
export interface ElectionOptions {
  readonly lock: LeaseLock
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Log
  readonly timings?: LeaseTimings
  /**
   * Runs while this process leads. Its signal aborts when leadership is lost or the process stops; it must then end
   * soon.
   */
  readonly lead: (signal: AbortSignal) => Promise<void>
}

/** Takes part in leader election until the signal aborts. At most one process per lease leads at any time. */
export async function runElection(options: ElectionOptions, signal: AbortSignal): Promise<void> {
  const {
    lock,
    clock = steadyClock,
    random = Math.random,
    log = silentLog,
    timings: patience = DEFAULT_LEASE_TIMINGS,
  } = options
  const pause = () => sleep(patience.retryMs * (1 + 0.2 * random()), signal)
  const attempt = () => tryHold(lock, patience, log, signal)
  while (!signal.aborted) {
    if (!(await attempt())) {
      await pause()
      continue
    }
    log.info('leading', { lease: lock.name })
    const leading = new AbortController()
    const led = options.lead(leading.signal).finally(() => leading.abort())
    while (!signal.aborted && !leading.signal.aborted) {
      await Promise.race([pause(), led.catch(() => {})])
      if (signal.aborted || leading.signal.aborted) break
      await attempt()
      if (lock.renewedAt === undefined || clock.now() - lock.renewedAt > patience.renewMs) break
    }
    leading.abort()
    await finish(led, lock, log, patience)
  }
}

/** Releases the lease after all work has ended, so that the next leader cannot overlap. */
async function finish(led: Promise<void>, lock: LeaseLock, log: Log, { renewMs }: LeaseTimings): Promise<void> {
  try {
    await led
  } finally {
    log.info('lost leadership', { lease: lock.name })
    await lock.release(AbortSignal.timeout(renewMs)).catch((error: unknown) => {
      log.warn('cannot release the lease', { lease: lock.name, error })
    })
  }
}

/** One attempt, with a timeout so that it cannot outlast the lease. */
async function tryHold(lock: LeaseLock, { retryMs }: LeaseTimings, log: Log, signal: AbortSignal): Promise<boolean> {
  try {
    return await lock.hold(AbortSignal.timeout(retryMs * 2))
  } catch (error) {
    if (!signal.aborted) log.warn('cannot acquire or renew the lease', { lease: lock.name, error })
    return false
  }
}
