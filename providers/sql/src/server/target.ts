import type { ConnectionOptions } from 'node:tls'
import type { ConnectionDetails, ProviderConfiguration } from '@crosstie/resources/provider'
import type { sslModes } from '../config.js'

/** An SSL mode. */
export type SslMode = (typeof sslModes)[number]

/** The address and credentials of a server. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  /** The database for operations that do not belong to one. */
  readonly database: string
  readonly sslMode: SslMode
  readonly tls: ConnectionOptions
}

const PORT = 5432

/**
 * Parses credentials: a connection URL, or a JSON object (as of a whole Secret) with endpoint, port, username and
 * password. Throws if they are not valid.
 */
export function targetOf(config: ProviderConfiguration): Target {
  const spec = config.spec as { readonly defaultDatabase?: string; readonly sslMode?: SslMode }
  const complain = (what: string): never => {
    throw new Error(
      `the credentials of ProviderConfig ${config.name} ${what}: give a connection URL such as ` +
        'postgresql://user:password@host:5432/, or the keys endpoint, port, username and password',
    )
  }
  const given = partsOf(config.credentials, complain)
  const host = given['endpoint'] ?? given['host'] ?? complain('name no endpoint')
  const port = Number(given['port'] ?? PORT)
  if (!Number.isInteger(port) || port < 1 || port > 65535) complain('have a port that is none')
  const sslMode = spec.sslMode ?? (given['sslmode'] as SslMode | undefined) ?? 'prefer'
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port,
    user: given['username'] ?? given['user'] ?? complain('name no username'),
    password: given['password'],
    database: spec.defaultDatabase ?? given['database'] ?? 'postgres',
    sslMode,
    tls: tlsFor(sslMode, given),
  }
}

type Parts = Readonly<Record<string, string | undefined>>

function partsOf(credentials: string | undefined, complain: (what: string) => never): Parts {
  const text = credentials?.trim() ?? complain('are missing')
  if (/^postgres(ql)?:\/\//.test(text)) return partsOfUrl(text, complain)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    complain('are neither a URL nor JSON')
  }
  if (typeof parsed !== 'object' || parsed === null) return complain('are no JSON object')
  const parts = Object.fromEntries(
    Object.entries(parsed)
      .filter(([, value]) => value !== null && value !== '')
      .map(([key, value]) => [key, String(value)]),
  )
  const url = parts['uri'] ?? parts['url']
  return parts['endpoint'] || parts['host'] || !url ? parts : { ...partsOfUrl(url, complain), ...parts }
}

function partsOfUrl(text: string, complain: (what: string) => never): Parts {
  try {
    const url = new URL(text)
    const part = (value: string) => (value === '' ? undefined : decodeURIComponent(value))
    return {
      endpoint: part(url.hostname),
      port: part(url.port),
      username: part(url.username),
      password: part(url.password),
      database: part(url.pathname.slice(1)),
      sslmode: url.searchParams.get('sslmode') ?? undefined,
    }
  } catch {
    return complain('are a URL that cannot be read')
  }
}

function tlsFor(mode: SslMode, given: Parts): ConnectionOptions {
  const trusted = { ca: given['ca'], cert: given['tls.crt'], key: given['tls.key'] }
  if (mode === 'verify-full') return trusted
  if (mode === 'verify-ca') return { ...trusted, checkServerIdentity: () => undefined }
  return { ...trusted, rejectUnauthorized: false }
}

/** Returns the connection details of a database or a role. */
export function connectionTo(
  { host, port, sslMode }: Target,
  who: { readonly username?: string; readonly password?: string | undefined; readonly database?: string | undefined },
): ConnectionDetails {
  const { username, password, database } = who
  const details = { endpoint: host, host, port: String(port), username, password, database }
  if (username === undefined || password === undefined || database === undefined) return details
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const query = sslMode === 'require' ? '?sslmode=require' : ''
  return { ...details, uri: `postgresql://${login}@${address}/${encodeURIComponent(database)}${query}` }
}
