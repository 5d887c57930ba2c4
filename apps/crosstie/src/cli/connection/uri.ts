import { UsageError } from '../command.js'

type Details = Readonly<Record<string, string>>

const schemes: Readonly<Record<string, string>> = { 5432: 'postgresql', 3306: 'mysql', 6379: 'redis', 27017: 'mongodb' }

/** Returns the connection as one URI. Secret parts are passed through `mask`. */
export function connectionUri(details: Details, mask: (text: string) => string): string {
  const pick = (...names: readonly string[]) => names.map((name) => details[name]).find(Boolean)
  const whole = pick('uri', 'url', 'connectionString')
  if (whole) return masked(whole, mask)
  const host = pick('endpoint', 'host', 'hostname', 'address')
  if (!host) {
    const keys = Object.keys(details).join(', ')
    throw new UsageError(`the Secret does not contain an address, only ${keys || 'nothing'}: use another --format`)
  }
  if (/^[a-z][a-z+.-]*:\/\//.test(host)) return masked(host, mask)
  const port = pick('port') ?? /:(\d+)$/.exec(host)?.[1]
  const scheme = pick('scheme', 'engine') ?? schemes[port ?? ''] ?? 'tcp'
  const user = pick('username', 'user')
  const password = pick('password')
  const login = user ? `${encodeURIComponent(user)}${password ? `:${mask(encodeURIComponent(password))}` : ''}@` : ''
  const database = pick('database', 'dbname', 'databaseName')
  const mode = pick('sslmode')
  const at = host.replace(/:\d+$/, '')
  return `${scheme}://${login}${at}${port ? `:${port}` : ''}${database ? `/${encodeURIComponent(database)}` : ''}${mode ? `?sslmode=${mode}` : ''}`
}

const masked = (uri: string, mask: (text: string) => string): string =>
  uri.replace(/^([^:]+:\/\/[^:@/]*:)([^@]*)@/, (_, before: string, password: string) => `${before}${mask(password)}@`)
