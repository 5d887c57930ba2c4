import { badRequest, quote, StatusError } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { integerFault } from '../wire/integer.js'

/**
 * Returns the revision of a resourceVersion parameter. 0 without one. Throws 500 as kube-apiserver does when it is
 * not valid.
 */
export function parseRevision(resourceVersion: string | undefined): number {
  const fault = resourceVersion && faultOf(resourceVersion)
  if (fault) throw new StatusError(500, '', fault)
  return Number(resourceVersion || 0)
}

/** As parseRevision, for lists. Throws 400. */
export function parseListRevision(resourceVersion: string | undefined): number {
  const fault = resourceVersion && faultOf(resourceVersion)
  if (fault) throw badRequest(`invalid resource version: ${fault}`)
  return Number(resourceVersion || 0)
}

function faultOf(text: string): string | undefined {
  const fault = integerFault(text, 'ParseUint')
  return fault && `resourceVersion: Invalid value: ${quote(text)}: ${fault}`
}

/** Throws 504 for a revision that does not exist yet. The client has seen it on another server. */
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
