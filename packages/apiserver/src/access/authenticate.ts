import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { type Clock, StatusError } from '@crosstie/kube'
import { type ServiceAccountTokens, TokenError } from './tokens.js'
import { anonymous, authenticated, type UserInfo } from './user.js'

/** Dependencies of the Authenticator. */
export interface AuthenticatorOptions {
  readonly tokens: ServiceAccountTokens
  /** Static tokens with their users, from a token file. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>
  readonly clock: Clock
}

/**
 * The part of a TLS connection that authentication reads. The socket must have been created with `requestCert` and
 * our CA.
 */
export type ClientConnection = Pick<TLSSocket, 'authorized' | 'getPeerCertificate'> & object

/** The result of a TokenReview. */
export interface TokenReviewResult {
  readonly user?: UserInfo
  readonly audiences?: readonly string[]
  readonly error?: string
}

interface CertificateIdentity {
  /** Absent when the certificate is not trusted. */
  readonly user?: UserInfo
  readonly until: number
}

const UNAUTHORIZED = 'Unauthorized'

/**
 * Authenticates requests. It returns the same UserInfo object for the same credentials, so that callers can use it
 * as a cache key.
 */
export class Authenticator {
  readonly #tokens: ServiceAccountTokens
  readonly #staticTokens: ReadonlyMap<string, UserInfo>
  readonly #clock: Clock
  readonly #byConnection = new WeakMap<object, CertificateIdentity | 'none'>()

  constructor({ tokens, staticTokens, clock }: AuthenticatorOptions) {
    this.#tokens = tokens
    this.#staticTokens = new Map([...(staticTokens ?? [])].map(([token, user]) => [token, authenticated(user)]))
    this.#clock = clock
  }

  /**
   * Returns the user of the client certificate, else of the bearer token, else system:anonymous. Throws 401 when
   * credentials were sent and none is valid.
   */
  authenticate(
    authorization: string | undefined,
    connection: ClientConnection | undefined,
    warnings?: string[],
  ): UserInfo {
    const certificate = connection && this.#certificate(connection)
    if (certificate?.user && this.#clock.now() <= certificate.until) return certificate.user

    const token = authorization === undefined ? undefined : bearerToken(authorization, warnings)
    if (token !== undefined) {
      const { user } = this.review(token)
      if (user) return user
      throw new StatusError(401, 'Unauthorized', UNAUTHORIZED)
    }
    if (certificate) throw new StatusError(401, 'Unauthorized', UNAUTHORIZED)
    return anonymous
  }

  /** Returns the user and the audiences of a token, or the error that a TokenReview reports. */
  review(token: string, audiences: readonly string[] = this.#tokens.audiences): TokenReviewResult {
    const fixed = this.#staticTokens.get(token)
    // A static token has no audiences, so it is meant for this server.
    if (fixed) {
      const granted = audiences.filter((audience) => this.#tokens.audiences.includes(audience))
      return granted.length > 0 ? { user: fixed, audiences: granted } : { error: 'invalid bearer token' }
    }
    try {
      const verified = this.#tokens.verify(token, audiences)
      return verified ?? { error: 'invalid bearer token' }
    } catch (error) {
      if (!(error instanceof TokenError)) throw error
      return { error: `[invalid bearer token, ${error.message}]` }
    }
  }

  #certificate(connection: ClientConnection): CertificateIdentity | undefined {
    let identity = this.#byConnection.get(connection)
    if (identity === undefined) {
      identity = certificateIdentity(connection) ?? 'none'
      this.#byConnection.set(connection, identity)
    }
    return identity === 'none' ? undefined : identity
  }
}

/** Undefined when the client sent no certificate. */
function certificateIdentity(connection: ClientConnection): CertificateIdentity | undefined {
  const certificate = connection.getPeerCertificate()
  // Without a certificate Node returns an empty object, or null after the end, and `authorized` has no meaning.
  if (!certificate?.raw) return undefined
  const subject = certificate.subject as unknown as Readonly<Record<string, string | string[] | undefined>>
  const name = [subject['CN'] ?? []].flat().at(-1)
  if (!connection.authorized || !name) return { until: 0 }

  const digest = createHash('sha256').update(certificate.raw).digest('hex')
  const user = authenticated({
    name,
    groups: [subject['O'] ?? []].flat(),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
  })
  return { user, until: Date.parse(certificate.valid_to) }
}

const EMPTY_TOKEN_WARNING =
  'the provided Authorization header contains extra space before the bearer token, and is ignored'

/** Undefined when the header holds no bearer token. */
function bearerToken(authorization: string, warnings?: string[]): string | undefined {
  const parts = authorization.trim().split(' ')
  if (parts.length < 2 || parts[0]!.toLowerCase() !== 'bearer') return undefined
  if (parts[1] !== '') return parts[1]
  if (parts.length > 2) warnings?.push(EMPTY_TOKEN_WARNING)
  return undefined
}

/**
 * Reads a token file: one `token,user,uid,"group1,group2"` per line, groups optional. Throws an error with the file
 * and the line for malformed input.
 */
export function parseTokenFile(text: string, file: string): Map<string, UserInfo> {
  const tokens = new Map<string, UserInfo>()
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '') return
    const fields = csvFields(line)
    if (!fields || fields.length < 3) {
      throw new Error(
        `line ${index + 1} of the token file ${file} must have at least 3 columns (token, user name, user uid), found ${fields?.length ?? 0}`,
      )
    }
    const [token, name, uid, groups] = fields as [string, string, string, string | undefined]
    if (token === '') throw new Error(`line ${index + 1} of the token file ${file} has an empty token`)
    const listed = (groups ?? '').split(',').map((group) => group.trim())
    tokens.set(token, { name, uid, groups: listed.filter((group) => group !== '') })
  })
  return tokens
}

/** Splits one line of CSV. Undefined when a quote is not closed. */
function csvFields(line: string): string[] | undefined {
  const fields: string[] = []
  let rest = line
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(rest)
    const field = quoted ?? /^[^,"]*/.exec(rest)!
    fields.push(quoted ? quoted[1]!.replaceAll('""', '"') : field[0].trim())
    rest = rest.slice(field[0].length)
    if (rest === '') return fields
    if (rest[0] !== ',') return undefined
    rest = rest.slice(1)
  }
}
