import { badRequest, StatusError } from '@crosstie/kube'
import type { Engine } from '../engine.js'

/** The revision that a resourceVersion parameter names; 0 when it names none. */
export function parseRevision(resourceVersion: string | undefined): number {
  if (!resourceVersion) return 0
  if (!/^\d+$/.test(resourceVersion)) {
    throw badRequest(
      `Invalid value: "${resourceVersion}": strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`,
    )
  }
  return Number(resourceVersion)
}

/** A revision that does not exist yet: the caller has seen another server, or the future. */
export function checkNotInFuture(engine: Engine, resourceVersion: string): void {
  const wanted = parseRevision(resourceVersion)
  const current = engine.store.revision
  if (wanted <= current) return
  throw new StatusError(504, 'Timeout', `Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}
