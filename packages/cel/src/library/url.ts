import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { quote } from '../kubernetes/print.js'
import { listOf, mapOf, structType, types } from '../types.js'
import { ArrayList, CelObject, fail, noSuchOverload, type Value, ValueMap } from '../values.js'
import { parseAddress } from './address.js'

const { bool, string } = types
const urlType = structType('kubernetes.URL')

interface UrlParts {
  readonly scheme: string
  readonly opaque: string
  readonly user: string
  readonly host: string
  /** The path as written, with escapes. */
  readonly path: string
  readonly query: string | undefined
  readonly fragment: string | undefined
}

/** The reason why a text is not a URL. */
class UrlError {
  constructor(readonly message: string) {}
}

function reject(message: string): never {
  throw new UrlError(message)
}

type Mode = 'path' | 'host' | 'user' | 'zone' | 'query'

/** Validates and decodes percent escapes. */
function unescapeUrl(text: string, mode: Mode): string {
  for (const [found] of text.matchAll(/%.{0,2}/gs)) {
    if (!/^%[0-9a-fA-F]{2}$/.test(found)) reject(`invalid URL escape ${quote(found)}`)
    const code = Number.parseInt(found.slice(1), 16)
    if (mode === 'host' && code < 0x80 && found !== '%25') reject(`invalid URL escape ${quote(found)}`)
  }
  if (mode === 'host' || mode === 'zone') {
    const bad = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(text)
    if (bad) reject(`invalid character ${quote(bad[0])} in host name`)
  }
  const plain = mode === 'query' ? text.replaceAll('+', ' ') : text
  if (!plain.includes('%')) return plain
  const bytes = Buffer.from(plain, 'utf8').toString('latin1')
  const decoded = bytes.replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(decoded, 'latin1').toString('utf8')
}

function splitScheme(text: string): [string, string] {
  if (text.startsWith(':')) reject('missing protocol scheme')
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  return match ? [match[1]!.toLowerCase(), text.slice(match[0].length)] : ['', text]
}

function parseHost(host: string): string {
  const open = host.lastIndexOf('[')
  if (open > 0) reject('invalid IP-literal')
  if (open === 0) return parseLiteral(host)
  const colon = host.lastIndexOf(':')
  const port = colon < 0 ? ':' : host.slice(colon)
  if (!/^:[0-9]*$/.test(port)) reject(`invalid port ${quote(port)} after host`)
  return unescapeUrl(host, 'host')
}

/** `[fe80::1%25en0]:80` */
function parseLiteral(host: string): string {
  const close = host.lastIndexOf(']')
  if (close < 0) reject("missing ']' in host")
  const port = host.slice(close + 1)
  if (!/^(?::[0-9]*)?$/.test(port)) reject(`invalid port ${quote(port)} after host`)
  const inside = host.slice(1, close)
  const zone = inside.indexOf('%25')
  const name =
    zone < 0
      ? unescapeUrl(inside, 'host')
      : unescapeUrl(inside.slice(0, zone), 'host') + unescapeUrl(inside.slice(zone), 'zone')
  const address = parseAddress(name)
  if ('error' in address) reject(`invalid host: ${address.error}`)
  if (address.bytes.length === 4) reject('invalid IP-literal')
  return `[${name}]${port}`
}

function parseAuthority(authority: string): { user: string; host: string } {
  const at = authority.lastIndexOf('@')
  const host = parseHost(authority.slice(at + 1))
  const user = at < 0 ? '' : authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) reject('net/url: invalid userinfo')
  unescapeUrl(user, 'user')
  return { user, host }
}

function parse(text: string, request: boolean): UrlParts {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected.
  if (/[\x00-\x1f\x7f]/.test(text)) reject('net/url: invalid control character in URL')
  if (text === '' && request) reject('empty url')
  const empty = { scheme: '', opaque: '', user: '', host: '', path: '', query: undefined, fragment: undefined }
  if (text === '*') return { ...empty, path: '*' }
  const [scheme, tail] = splitScheme(text)
  const mark = tail.indexOf('?')
  const query = mark < 0 ? undefined : tail.slice(mark + 1)
  let rest = mark < 0 ? tail : tail.slice(0, mark)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...empty, scheme, opaque: rest, query }
    if (request) reject('invalid URI for request')
    if (rest.split('/')[0]!.includes(':')) reject('first path segment in URL cannot contain colon')
  }
  let authority = { user: '', host: '' }
  if ((scheme !== '' || (!request && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    authority = parseAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash))
    rest = slash < 0 ? '' : rest.slice(slash)
  }
  unescapeUrl(rest, 'path')
  return { ...empty, scheme, ...authority, path: rest, query }
}

function withFragment(text: string): UrlParts {
  const hash = text.indexOf('#')
  if (hash < 0) return parse(text, false)
  unescapeUrl(text.slice(hash + 1), 'path')
  return { ...parse(text.slice(0, hash), false), fragment: text.slice(hash + 1) }
}

/** Returns the error of Go's `url.ParseRequestURI`, or undefined if the text is a valid request URI. */
export function requestUriError(text: string): string | undefined {
  try {
    parse(text, true)
    return undefined
  } catch (error) {
    if (error instanceof UrlError) return `parse ${quote(text)}: ${error.message}`
    throw error
  }
}

class CelUrl extends CelObject {
  readonly type = urlType
  constructor(readonly parts: UrlParts) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof CelUrl ? this.text() === other.text() : noSuchOverload()
  }
  private text(): string {
    const { scheme, opaque, user, host, path, query, fragment } = this.parts
    const authority = host === '' && user === '' ? '' : `//${user === '' ? '' : `${user}@`}${host}`
    const tail = `${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`
    return `${scheme === '' ? '' : `${scheme}:`}${opaque}${authority}${escapedPath(path)}${tail}`
  }
}

function toUrl(text: string): CelUrl {
  const wrong = requestUriError(text)
  if (wrong !== undefined) fail(`URL parse error during conversion from string: ${wrong}`)
  try {
    return new CelUrl(withFragment(text))
  } catch (error) {
    if (!(error instanceof UrlError)) throw error
    return fail(`URL parse error during conversion from string: parse ${quote(text)}: ${error.message}`)
  }
}

const validPath = /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/

/** Returns the path as written if that is a valid encoding, otherwise encoded again. */
function escapedPath(path: string): string {
  if (path === '*' || validPath.test(path)) return path
  const bytes = Buffer.from(unescapeUrl(path, 'path'), 'utf8')
  const escapeByte = (byte: number) => {
    const c = String.fromCharCode(byte)
    return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(c) ? c : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return [...bytes].map(escapeByte).join('')
}

function hostname(host: string): string {
  const bare = host.replace(/:[0-9]*$/, (port) => (host.startsWith('[') && !host.includes(`]${port}`) ? port : ''))
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare
}

function port(host: string): string {
  const match = host.startsWith('[') ? /\]:([0-9]*)$/.exec(host) : /:([0-9]*)$/.exec(host)
  return match?.[1] ?? ''
}

function query(text: string | undefined): Value {
  const values = new Map<string, string[]>()
  for (const pair of (text ?? '').split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    try {
      const name = unescapeUrl(equals < 0 ? pair : pair.slice(0, equals), 'query')
      const value = equals < 0 ? '' : unescapeUrl(pair.slice(equals + 1), 'query')
      values.set(name, [...(values.get(name) ?? []), value])
    } catch (error) {
      if (!(error instanceof UrlError)) throw error
    }
  }
  const map = new ValueMap()
  for (const [name, list] of values) map.set(name, new ArrayList(list))
  return map
}

const getter = (name: string, id: string, get: (parts: UrlParts) => Value, result = string) =>
  declare(name, [member(id, [urlType], result, (url: CelUrl) => get(url.parts))])

/** The URL library of Kubernetes. */
export const urlLibrary: readonly FunctionDeclaration[] = [
  declare('url', [overload('string_to_url', [string], urlType, toUrl)]),
  declare('isURL', [overload('is_url_string', [string], bool, (text: string) => requestUriError(text) === undefined)]),
  getter('getScheme', 'url_get_scheme', (parts) => parts.scheme),
  getter('getHost', 'url_get_host', (parts) => parts.host),
  getter('getHostname', 'url_get_hostname', (parts) => hostname(parts.host)),
  getter('getPort', 'url_get_port', (parts) => port(parts.host)),
  getter('getEscapedPath', 'url_get_escaped_path', (parts) => escapedPath(parts.path)),
  getter('getQuery', 'url_get_query', (parts) => query(parts.query), mapOf(string, listOf(string))),
]
