import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { isObject } from '@crosstie/kube'

/** A public key that verifies tokens, with its id in token headers. */
export interface VerifyingKey {
  readonly id: string
  readonly algorithm: 'RS256' | 'ES256'
  readonly key: KeyObject
}

/** A private key that signs tokens. */
export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject
}

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>

/** Derives the key id from the public key as Kubernetes does. Accepts RSA and P-256 keys. */
export function signingKey(privateKey: KeyObject): SigningKey {
  return { ...verifyingKey(createPublicKey(privateKey)), privateKey }
}

function verifyingKey(key: KeyObject): VerifyingKey {
  const id = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm: algorithmOf(key), key }
}

function algorithmOf(key: KeyObject): 'RS256' | 'ES256' {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256'
  throw new Error('service account keys must be RSA or P-256 keys')
}

/** Returns a signed JSON Web Token. */
export function signToken(key: SigningKey, claims: Claims): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

/** The content of a token whose signature was not verified. */
export interface UnverifiedToken {
  readonly header: Claims
  readonly claims: Claims
  readonly signed: string
  readonly signature: Buffer
}

/** Our tokens have up to 2,000 characters. The body of a TokenReview could hold much longer texts. */
const TOKEN_LETTERS_MAX = 16 * 1024

/** Parses a token without verifying it. Undefined when the text is not a token. */
export function parseToken(token: string): UnverifiedToken | undefined {
  if (token.length > TOKEN_LETTERS_MAX) return undefined
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]*$/.test(part))) return undefined
  const header = decode(parts[0]!)
  const claims = decode(parts[1]!)
  // A critical header that is not understood makes a token invalid (RFC 7515, 4.1.11).
  if (!header || !claims || 'crit' in header) return undefined
  return { header, claims, signed: `${parts[0]}.${parts[1]}`, signature: Buffer.from(parts[2]!, 'base64url') }
}

/** Verifies the signature. The key determines the algorithm, never the token. */
export function isSignedBy(key: VerifyingKey, { header, signed, signature }: UnverifiedToken): boolean {
  if (header['alg'] !== key.algorithm) return false
  return verify('sha256', Buffer.from(signed), { key: key.key, dsaEncoding: 'ieee-p1363' }, signature)
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
