import { type Sleep, sleep } from '../workqueue.js'
import type { Pki } from './pki.js'

/** Leaves are issued anew 30 days before they end, so twice a day is plenty. */
const LOOK_AGAIN_MS = 12 * 3600 * 1000

export interface RotationOptions {
  /** Opens the keys and certificates again, which issues those anew that are about to expire. */
  readonly open: () => Promise<Pki>
  /** Puts what is new to use; called only when the serving certificate changed. */
  readonly renew: (pki: Pki) => void
  readonly failed: (what: string, error: unknown) => void
  readonly sleep?: Sleep
}

/** Keeps a server that is never restarted from serving an expired certificate. Runs until the signal aborts. */
export async function runRotation(current: Pki, options: RotationOptions, signal: AbortSignal): Promise<void> {
  const { open, renew, failed, sleep: pause = sleep } = options
  let serving = current.serving.cert
  for (;;) {
    await pause(LOOK_AGAIN_MS, signal)
    if (signal.aborted) return
    try {
      const pki = await open()
      if (pki.serving.cert === serving) continue
      renew(pki)
      serving = pki.serving.cert
    } catch (error) {
      failed('renew the serving certificate', error)
    }
  }
}
