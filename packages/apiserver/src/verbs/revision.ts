import { badRequest, quote, StatusError } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { integerFault } from '../wire/integer.js'

/** The revision that a resourceVersion parameter names; 0 when it names none. */
export function parseRevision(resourceVersion: string | undefined): number {
  const fault = resourceVersion && faultOf(resourceVersion)
  if (fault) throw new StatusError(500, '', fault)
  return Number(resourceVersion || 0)
}

/** For lists, where the real server blames the client. */
export function parseListRevision(resourceVersion: string | undefined): number {
  const fault = resourceVersion && faultOf(resourceVersion)
  if (fault) throw badRequest(`invalid resource version: ${fault}`)
  return Number(resourceVersion || 0)
}

function faultOf(text: string): string | undefined {
  const fault = integerFault(text, 'ParseUint')
  return fault && `resourceVersion: Invalid value: ${quote(text)}: ${fault}`
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
