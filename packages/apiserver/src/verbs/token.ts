import type { KubeObject } from '@crosstie/kube'
import { requestToken } from '../access/token-request.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import { type AdmissionView, admissionOf } from '../admission/review.js'
import { tokenRequestKind } from '../builtin/index.js'
import { complete, decode } from '../decode/decode.js'
import type { Engine } from '../serving/engine.js'
import type { Body, WriteRequest } from '../serving/request.js'
import { Served } from '../serving/served.js'

/** The kind of the body of `serviceaccounts/…/token`. */
export const tokenRequest = new Served(tokenRequestKind, tokenRequestKind.versions[0]!)

/** POST to the `token` subresource of a service account. */
export async function issueToken(
  engine: Engine,
  tokens: ServiceAccountTokens,
  request: WriteRequest,
  body: Body,
): Promise<KubeObject> {
  const { namespace, name } = request
  const { store, clock } = engine
  const decoded = decode({ ...request, served: tokenRequest }, body)
  const question = { ...decoded, metadata: { ...decoded.metadata, namespace: decoded.metadata.namespace || namespace } }
  const review = admissionOf(engine, request, 'CREATE', undefined, tokenView(request))
  const admitted = review ? await review.mutate(question, undefined) : question
  const answer = requestToken(store, tokens, { namespace, name }, admitted, clock.now())
  if (review) await review.validate(admitted, undefined)
  return answer
}

/** Admission reviews a TokenRequest under the URL of the service account. */
function tokenView(request: WriteRequest): AdmissionView {
  const { group, version, kind } = tokenRequest.type
  return {
    kind: { group, version, kind },
    complete: (mutated) => complete({ ...request, served: tokenRequest, fieldValidation: 'Ignore' }, mutated),
  }
}
