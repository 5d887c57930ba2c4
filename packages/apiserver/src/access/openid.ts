import type { ServiceAccountTokens } from './tokens.js'

/** A document for relying parties: its body and headers. */
export interface Document {
  readonly contentType: string
  readonly cacheControl: string
  readonly body: string
}

const CACHE_CONTROL = 'public, max-age=3600'
const JWKS_PATH = '/openid/v1/jwks'

/**
 * Returns the OpenID discovery documents by path. Relying parties verify service account tokens with them.
 * `address` is `host:port` as clients reach this server.
 */
export function openidDocuments(tokens: ServiceAccountTokens, address: string): ReadonlyMap<string, Document> {
  const metadata = {
    issuer: tokens.issuer,
    jwks_uri: `https://${address}${JWKS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(tokens.keys.map(({ algorithm }) => algorithm))].sort(),
  }
  const keys = tokens.keys.map(({ id, algorithm, key }) => {
    const { kty, ...parameters } = key.export({ format: 'jwk' })
    return { use: 'sig', kty, kid: id, alg: algorithm, ...parameters }
  })
  return new Map([
    ['/.well-known/openid-configuration', documentOf('application/json', metadata)],
    [JWKS_PATH, documentOf('application/jwk-set+json', { keys })],
  ])
}

function documentOf(contentType: string, content: unknown): Document {
  return { contentType, cacheControl: CACHE_CONTROL, body: JSON.stringify(content) }
}
