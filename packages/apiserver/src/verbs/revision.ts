import { badRequest, StatusError } from '@crosstie/kube'
import type { Engine } from '../engine.js'

/** The revision that a resourceVersion parameter names; 0 when it names none. */
export function parseRevision(resourceVersion: string | undefined): number {
  if (!resourceVersion) return 0
  if (!/^\d+$/.test(resourceVersion)) throw new StatusError(500, '', badRevision(resourceVersion))
  return Number(resourceVersion)
}

/** For lists, where the real server blames the client. */
export function parseListRevision(resourceVersion: string | undefined): number {
  if (!resourceVersion || /^\d+$/.test(resourceVersion)) return parseRevision(resourceVersion)
  throw badRequest(`invalid resource version: ${badRevision(resourceVersion)}`)
}

function badRevision(text: string): string {
  const quoted = JSON.stringify(text)
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`
}

/** A revision that does not exist yet: the caller has seen another server, or the future. */
export function checkNotInFuture(engine: Engine, wanted: number): void {
  const current = engine.store.revision
  if (wanted <= current) return
  throw new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}
