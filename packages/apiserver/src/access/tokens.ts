import { timingSafeEqual } from 'node:crypto'
import { type Clock, isObject, type KubeObject, type ObjectMeta } from '@crosstie/kube'
import type { Store } from '../store/store.js'
import {
  type Claims,
  isSignedBy,
  parseToken,
  type SigningKey,
  signToken,
  type UnverifiedToken,
  type VerifyingKey,
} from './jwt.js'
import {
  authenticated,
  parseServiceAccountUser,
  serviceAccountGroups,
  serviceAccountUser,
  type UserInfo,
} from './user.js'

/** Tokens in Secrets have this issuer, no audience and no expiry. */
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
const LEGACY = 'kubernetes.io/serviceaccount/'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
/** The clocks of issuer and verifier may differ by this much. go-jose has the same tolerance. */
const LEEWAY_SECONDS = 60
const CACHE_MAX = 10_000

/** Dependencies of ServiceAccountTokens. */
export interface TokensOptions {
  /** Reads ServiceAccounts and Secrets. */
  readonly objects: Pick<Store, 'get'>
  /** Signs new tokens. Tokens signed by it are accepted. */
  readonly key: SigningKey
  /** Previous keys whose tokens are still accepted. */
  readonly olderKeys?: readonly VerifyingKey[]
  readonly issuer: string
  /** The audiences of this server. */
  readonly audiences: readonly string[]
  readonly clock: Clock
  readonly newId: () => string
}

/** An object whose deletion invalidates the token. */
export interface BoundObject {
  readonly kind: 'secret'
  readonly name: string
  readonly uid: string
}

/** The result of a successful verification. */
export interface Verified {
  readonly user: UserInfo
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[]
}

/**
 * A token whose signature is valid, with its user. The user object stays the same while the proof is cached, for
 * caches of callers.
 */
interface Proof {
  readonly claims: Claims
  readonly user: UserInfo
}

/** The reason why a token of this server is not accepted. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

/** Issues and verifies service account tokens. */
export class ServiceAccountTokens {
  readonly #options: TokensOptions
  readonly #keys: readonly VerifyingKey[]
  /** Tokens with a valid signature. Objects and time are checked at every use. */
  readonly #proven = new Map<string, Proof>()

  constructor(options: TokensOptions) {
    this.#options = options
    this.#keys = [options.key, ...(options.olderKeys ?? [])]
  }

  get keys(): readonly VerifyingKey[] {
    return this.#keys
  }

  get issuer(): string {
    return this.#options.issuer
  }

  get audiences(): readonly string[] {
    return this.#options.audiences
  }

  /**
   * Returns a token of the account for the audiences. It is valid for the given seconds or until the bound object
   * is deleted.
   */
  issue(account: KubeObject, audiences: readonly string[], seconds: number, bound?: BoundObject): string {
    const { name, namespace, uid } = account.metadata
    const now = Math.floor(this.#options.clock.now() / 1000)
    return signToken(this.#options.key, {
      aud: audiences,
      exp: now + seconds,
      iat: now,
      iss: this.#options.issuer,
      jti: this.#options.newId(),
      'kubernetes.io': {
        namespace,
        ...(bound ? { [bound.kind]: { name: bound.name, uid: bound.uid } } : {}),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: serviceAccountUser(namespace!, name!),
    })
  }

  /** Returns the token of a Secret of type kubernetes.io/service-account-token. */
  issueForSecret(account: KubeObject, secretName: string): string {
    const { name, namespace, uid } = account.metadata
    return signToken(this.#options.key, {
      iss: LEGACY_ISSUER,
      [`${LEGACY}namespace`]: namespace,
      [`${LEGACY}secret.name`]: secretName,
      [`${LEGACY}service-account.name`]: name,
      [`${LEGACY}service-account.uid`]: uid,
      sub: serviceAccountUser(namespace!, name!),
    })
  }

  /**
   * Returns the user of a token. Undefined when the token has another issuer. Throws a TokenError when it has ours
   * and is not valid.
   */
  verify(token: string, audiences: readonly string[] = this.#options.audiences): Verified | undefined {
    const proof = this.#proven.get(token) ?? this.#prove(token)
    if (!proof) return undefined

    const { claims, user } = proof
    const own = stringsOf(claims['aud'])
    const granted = (own.length > 0 ? own : this.#options.audiences).filter((audience) => audiences.includes(audience))
    if (granted.length === 0) {
      throw new TokenError(`token audiences ${quoted(own)} is invalid for the target audiences ${quoted(audiences)}`)
    }
    if (claims['iss'] === LEGACY_ISSUER) this.#checkLegacy(token, claims)
    else this.#checkBound(claims)
    return { user, audiences: granted }
  }

  #prove(token: string): Proof | undefined {
    const parsed = parseToken(token)
    if (!parsed || !this.#issuedHere(parsed)) return undefined
    const id = parsed.header['kid']
    const keys = typeof id === 'string' && id !== '' ? this.#keys.filter((key) => key.id === id) : this.#keys
    if (keys.length === 0) throw new TokenError('invalid signature, no keys found')
    if (!keys.some((key) => isSignedBy(key, parsed))) {
      throw new TokenError('go-jose/go-jose: error in cryptographic primitive')
    }
    // The cache is bounded. The oldest proof is evicted and computed again when it is needed.
    if (this.#proven.size >= CACHE_MAX) this.#proven.delete(this.#proven.keys().next().value!)
    const proof = { claims: parsed.claims, user: userOf(parsed.claims) }
    this.#proven.set(token, proof)
    return proof
  }

  #issuedHere({ claims }: UnverifiedToken): boolean {
    return claims['iss'] === this.#options.issuer || claims['iss'] === LEGACY_ISSUER
  }

  #checkBound(claims: Claims): void {
    const now = this.#options.clock.now() / 1000
    if (now - LEEWAY_SECONDS > numberOf(claims['exp'], Number.POSITIVE_INFINITY)) {
      throw new TokenError('service account token has expired')
    }
    if (now + LEEWAY_SECONDS < numberOf(claims['nbf'], 0)) {
      throw new TokenError('service account token is not valid yet')
    }
    if (now + LEEWAY_SECONDS < numberOf(claims['iat'], 0)) {
      throw new TokenError('service account token is issued in the future')
    }
    const bound = recordOf(claims['kubernetes.io'])
    const namespace = textOf(bound['namespace'])
    const account = recordOf(bound['serviceaccount'])
    const name = textOf(account['name'])
    const subject = serviceAccountUser(namespace, name)
    if (claims['sub'] !== subject) throw new TokenError('sub claim is invalid')
    this.#checkAccount(namespace, name, textOf(account['uid']))
    if (bound['secret'] !== undefined) this.#checkSecret(namespace, recordOf(bound['secret']))
    // Pods and nodes do not exist here, so a token bound to one is never valid.
    if (bound['pod'] !== undefined || bound['node'] !== undefined) throw invalidated()
  }

  #checkAccount(namespace: string, name: string, uid: string): void {
    const account = this.#get('serviceaccounts', namespace, name)
    if (!account) throw new TokenError(`serviceaccounts "${name}" not found`)
    if (account.uid !== uid) {
      throw new TokenError(`service account UID (${account.uid}) does not match claim (${uid})`)
    }
    if (this.#wasDeleted(account)) throw new TokenError(`service account ${namespace}/${name} has been deleted`)
  }

  #checkSecret(namespace: string, reference: Record<string, unknown>): void {
    const secret = this.#get('secrets', namespace, textOf(reference['name']))
    if (!secret) throw invalidated()
    if (secret.uid !== reference['uid']) {
      throw new TokenError(
        `secret UID (${secret.uid}) does not match service account secret ref claim (${textOf(reference['uid'])})`,
      )
    }
    if (this.#wasDeleted(secret)) throw invalidated()
  }

  #checkLegacy(token: string, claims: Claims): void {
    const namespace = claimOf(claims, 'namespace', 'namespace')
    const secretName = claimOf(claims, 'secret.name', 'secretName')
    const name = claimOf(claims, 'service-account.name', 'serviceAccountName')
    const uid = claimOf(claims, 'service-account.uid', 'serviceAccountUID')
    const subject = parseServiceAccountUser(textOf(claims['sub']))
    if (subject?.namespace !== namespace || subject.name !== name) throw new TokenError('sub claim is invalid')

    const secret = this.#options.objects.get(`//secrets/${namespace}/${secretName}`)?.object
    if (!secret || secret.metadata.deletionTimestamp) throw new TokenError('Token has been invalidated')
    if (!holdsToken(secret, token)) throw new TokenError("Token does not match server's copy")

    const account = this.#get('serviceaccounts', namespace, name)
    if (!account) throw new TokenError(`serviceaccounts "${name}" not found`)
    if (account.deletionTimestamp) throw new TokenError(`ServiceAccount ${namespace}/${name} has been deleted`)
    if (account.uid !== uid) throw new TokenError(`ServiceAccount UID (${account.uid}) does not match claim (${uid})`)
    if (secret.metadata.labels?.[INVALID_SINCE]) {
      throw new TokenError(
        `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. ` +
          'Use tokens from the TokenRequest API or manually created secret-based tokens, ' +
          `or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`,
      )
    }
  }

  #get(resource: string, namespace: string, name: string): ObjectMeta | undefined {
    return this.#options.objects.get(`//${resource}/${namespace}/${name}`)?.object.metadata
  }

  #wasDeleted({ deletionTimestamp }: ObjectMeta): boolean {
    if (!deletionTimestamp) return false
    return Date.parse(deletionTimestamp) < this.#options.clock.now() - LEEWAY_SECONDS * 1000
  }
}

function userOf(claims: Claims): UserInfo {
  const subject = parseServiceAccountUser(textOf(claims['sub']))
  const namespace = subject?.namespace ?? ''
  const legacy = claims['iss'] === LEGACY_ISSUER
  const account = recordOf(recordOf(claims['kubernetes.io'])['serviceaccount'])
  const tokenId = textOf(claims['jti'])
  return authenticated({
    name: serviceAccountUser(namespace, subject?.name ?? ''),
    uid: textOf(legacy ? claims[`${LEGACY}service-account.uid`] : account['uid']),
    groups: serviceAccountGroups(namespace),
    ...(tokenId === '' ? {} : { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${tokenId}`] } }),
  })
}

function holdsToken(secret: KubeObject, token: string): boolean {
  const held = Buffer.from(textOf(recordOf(secret['data'])['token']), 'base64')
  const given = Buffer.from(token)
  return held.length === given.length && timingSafeEqual(held, given)
}

function claimOf(claims: Claims, claim: string, name: string): string {
  const value = textOf(claims[`${LEGACY}${claim}`])
  if (value === '') throw new TokenError(`${name} claim is missing`)
  return value
}

const invalidated = (): TokenError => new TokenError('service account token has been invalidated')
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const numberOf = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
const recordOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})
const quoted = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
