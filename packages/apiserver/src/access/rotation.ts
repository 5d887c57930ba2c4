import { type Sleep, sleep } from '../workqueue.js'
import type { Pki } from './pki.js'

/** Certificates are issued again 30 days before they expire, so two checks per day are enough. */
const LOOK_AGAIN_MS = 12 * 3600 * 1000

/** Dependencies of runRotation. */
export interface RotationOptions {
  /** Opens keys and certificates again. This issues certificates again that are about to expire. */
  readonly open: () => Promise<Pki>
  /** Applies the new certificates. Called only when the serving certificate changed. */
  readonly renew: (pki: Pki) => void
  readonly failed: (what: string, error: unknown) => void
  readonly sleep?: Sleep
}

/** Replaces the serving certificate before it expires, without a restart. Runs until the signal aborts. */
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
