import type { KubeObject } from '@crosstie/kube'
import type { AzureAnswer, AzureClient } from './client.js'
import { AzureError, unlessNotFound } from './errors.js'
import { at, textOf, valuesOf } from './values.js'

export type Verb = 'create' | 'update' | 'delete'

/** An operation of Azure that goes on after the answer. */
export interface UnderWay {
  readonly verb: Verb
  readonly url: string
  /** Azure asks not to poll before. */
  readonly notBefore: number
}

/** Notes the operation that an answer announces. Undefined: Azure is done. */
export function begun(client: AzureClient, id: string, verb: Verb, answer: AzureAnswer): UnderWay | undefined {
  if (answer.operation === undefined) return undefined
  const underWay = { verb, url: answer.operation, notBefore: Date.now() + (answer.retryAfter ?? 0) * 1000 }
  client.keepOperation(id, underWay)
  return underWay
}

/**
 * The operation on a resource that is not complete. A process that was restarted finds it in the status of the object.
 * Throws the error of Azure when the operation failed, once.
 */
export async function followOperation(
  client: AzureClient,
  id: string,
  managed: KubeObject,
  signal: AbortSignal,
): Promise<UnderWay | undefined> {
  const known = client.operationOf(id) ?? storedIn(managed)
  if (!known || known === 'over') return undefined
  if (known.notBefore > Date.now()) return known
  const request = { method: 'GET' as const, path: known.url, action: 'read of an operation', signal }
  const answer = await unlessNotFound(client.send(request))
  const status = answer && (textOf(answer.body['status']) ?? (answer.status === 202 ? 'InProgress' : 'Succeeded'))
  if (answer && status && !/^(Succeeded|Failed|Canceled)$/i.test(status)) {
    const next = { ...known, notBefore: Date.now() + (answer.retryAfter ?? 0) * 1000 }
    client.keepOperation(id, next)
    return next
  }
  client.keepOperation(id, 'over')
  if (answer && status && !/^Succeeded$/i.test(status)) throw failed(known.verb, id, answer)
  return undefined
}

function failed(verb: Verb, id: string, { body }: AzureAnswer): AzureError {
  const error = valuesOf(body['error'])
  const code = textOf(error['code']) ?? textOf(body['status']) ?? 'Failed'
  const message = textOf(error['message']) ?? 'Azure gives no reason'
  return new AzureError(`the ${verb} of ${id} failed: ${message} (${code})`, 'invalid', code)
}

function storedIn(managed: KubeObject): UnderWay | undefined {
  const stored = at(managed['status'], 'atProvider.operation')
  const url = textOf(at(stored, 'url'))
  const verb = (['create', 'update', 'delete'] as const).find((each) => each === at(stored, 'verb'))
  return url === undefined || verb === undefined ? undefined : { url, verb, notBefore: 0 }
}
