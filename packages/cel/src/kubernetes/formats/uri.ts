import { isIP } from './address.js'

/** Reports whether the text is an absolute URI or an absolute path, as a request line may contain it. */
export function isRequestURI(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected.
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false
  if (text === '*') return true
  if (text.startsWith(':')) return false
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? ''
  const rest = (scheme === '' ? text : text.slice(scheme.length + 1)).replace(/\?.*$/s, '')
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return hasGoodEscapes(rest)
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return isAuthority(authority, scheme.toLowerCase()) && hasGoodEscapes(slash < 0 ? '' : rest.slice(slash))
}

const hasGoodEscapes = (text: string) => !/%(?![0-9a-fA-F]{2})/.test(text)

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf('@')
  if (!isHost(authority.slice(at + 1), scheme)) return false
  const user = at < 0 ? '' : authority.slice(0, at)
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && hasGoodEscapes(user)
}

function isHost(host: string, scheme: string): boolean {
  const open = host.lastIndexOf('[')
  if (open > 0) return false
  if (open === 0) return isLiteral(host)
  const first = host.indexOf(':')
  if (first >= 0) {
    const strict = scheme === 'http' || scheme === 'https'
    if (!/^(:[0-9]*)?$/.test(host.slice(strict ? first : host.lastIndexOf(':')))) return false
  }
  return hasHostCharacters(host)
}

/** `[fe80::1%25en0]:80` */
function isLiteral(host: string): boolean {
  const close = host.lastIndexOf(']')
  if (close < 0 || !/^(:[0-9]*)?$/.test(host.slice(close + 1))) return false
  const inside = host.slice(1, close)
  const zone = inside.indexOf('%25')
  const address = zone < 0 ? inside : inside.slice(0, zone)
  if (zone >= 0 && (inside.length === zone + 3 || !hasGoodEscapes(inside))) return false
  return hasHostCharacters(address) && address.includes(':') && isIP(address)
}

function hasHostCharacters(host: string): boolean {
  // Only bytes beyond ASCII, and the percent sign, may be escaped in a host.
  const plain = host.replace(/%(?:25|[89a-fA-F][0-9a-fA-F])/g, '')
  return /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]*$/.test(plain)
}
