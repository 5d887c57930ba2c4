import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { type Clock, StatusError } from '@crosstie/kube'
import { type ServiceAccountTokens, TokenError } from './tokens.js'
import { anonymous, authenticated, type UserInfo } from './user.js'

export interface AuthenticatorOptions {
  readonly tokens: ServiceAccountTokens
  /** Fixed tokens and whom they stand for, from a token file. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>
  readonly clock: Clock
}

/** What a connection has to offer; node's TLSSocket, made with `requestCert` and our CA. */
export type ClientConnection = Pick<TLSSocket, 'authorized' | 'getPeerCertificate'> & object

export interface TokenReviewResult {
  readonly user?: UserInfo
  readonly audiences?: readonly string[]
  readonly error?: string
}

interface CertificateIdentity {
  /** Absent: the certificate proves nothing. */
  readonly user?: UserInfo
  readonly until: number
}

const UNAUTHORIZED = 'Unauthorized'

/**
 * Finds out who makes a request. For the same credentials it hands out the
 * same UserInfo object, so that others can remember what they know of a user.
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
   * The user of a request: its client certificate's, else its bearer token's,
   * else (without either) system:anonymous. Throws 401 when there were
   * credentials and none of them is good.
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

  /** Whose token it is and for whom, or why it is not accepted, in the words of a TokenReview's status. */
  review(token: string, audiences: readonly string[] = this.#tokens.audiences): TokenReviewResult {
    const fixed = this.#staticTokens.get(token)
    // A fixed token knows nothing of audiences, so it is meant for this server.
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

/** Undefined when the client showed no certificate. */
function certificateIdentity(connection: ClientConnection): CertificateIdentity | undefined {
  const certificate = connection.getPeerCertificate()
  // Without a certificate node answers with an empty object (or null after the end), and `authorized` says nothing.
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

/** Undefined when the header is not about a bearer token. */
function bearerToken(authorization: string, warnings?: string[]): string | undefined {
  const parts = authorization.trim().split(' ')
  if (parts.length < 2 || parts[0]!.toLowerCase() !== 'bearer') return undefined
  if (parts[1] !== '') return parts[1]
  if (parts.length > 2) warnings?.push(EMPTY_TOKEN_WARNING)
  return undefined
}

/**
 * Reads a token file: one `token,user,uid,"group1,group2"` a line, groups optional.
 * Throws an error that names the file and the line when it is malformed.
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

/** The fields of one CSV line; undefined when a quote never ends. */
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
