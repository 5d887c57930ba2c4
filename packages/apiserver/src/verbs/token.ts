import type { KubeObject } from '@crosstie/kube'
import { requestToken } from '../access/token-request.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import { decode } from '../admission/decode.js'
import { tokenRequestKind } from '../builtin/index.js'
import type { Engine } from '../engine.js'
import { Served } from '../serving/served.js'
import type { Body, WriteRequest } from './request.js'

/** What the body of `serviceaccounts/…/token` is, though the address is that of an account. */
export const tokenRequest = new Served(tokenRequestKind, tokenRequestKind.versions[0]!)

/** POST to a service account's `token` subresource, from body to answer. */
export function issueToken(
  { store, clock }: Engine,
  tokens: ServiceAccountTokens,
  request: WriteRequest,
  body: Body,
): KubeObject {
  const question = decode({ ...request, served: tokenRequest }, body)
  const { namespace, name } = request
  return requestToken(store, tokens, { namespace, name }, question, clock.now())
}
