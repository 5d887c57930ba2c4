import { type Clock, steadyClock } from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import { sleep } from '../sleep.js'
import type { LeaseLock } from './lease.js'

export interface Patience {
  /** How long others wait after the last sign of life of a holder. */
  readonly durationMs: number
  /** How long a holder that cannot renew goes on; the rest of the duration is for stopping. */
  readonly renewMs: number
  /** How often it is tried. */
  readonly retryMs: number
}

/** What Kubernetes' own controllers use. */
export const PATIENCE: Patience = { durationMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

export interface ElectionOptions {
  readonly lock: LeaseLock
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Log
  readonly patience?: Patience
  /** Runs while we lead. Its signal aborts when we no longer do, or are to stop; it must end soon then. */
  readonly lead: (signal: AbortSignal) => Promise<void>
}

/** Leads whenever it can, until the signal aborts. At most one of all who use the same lease leads at any time. */
export async function runElection(options: ElectionOptions, signal: AbortSignal): Promise<void> {
  const { lock, clock = steadyClock, random = Math.random, log = silentLog, patience = PATIENCE } = options
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

/** Only when nothing is being done any more may others begin. */
async function finish(led: Promise<void>, lock: LeaseLock, log: Log, { renewMs }: Patience): Promise<void> {
  try {
    await led
  } finally {
    log.info('no longer leading', { lease: lock.name })
    await lock.release(AbortSignal.timeout(renewMs)).catch((error: unknown) => {
      log.warn('cannot release the lease', { lease: lock.name, error })
    })
  }
}

/** One try, which must not take so long that the lease runs out meanwhile. */
async function tryHold(lock: LeaseLock, { retryMs }: Patience, log: Log, signal: AbortSignal): Promise<boolean> {
  try {
    return await lock.hold(AbortSignal.timeout(retryMs * 2))
  } catch (error) {
    if (!signal.aborted) log.warn('cannot take or renew the lease', { lease: lock.name, error })
    return false
  }
}
