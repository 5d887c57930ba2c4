/**
 * Network addresses. With `lenient`, leading zeros are accepted, since objects that were written before Go rejected
 * them must stay valid.
 */

const greatestCount = 0xffffff

/** Reports whether the text is an IPv4 address, or an IPv6 address that ends in one. Leading zeros are accepted. */
export function isIPv4(text: string): boolean {
  return text.includes('.') && isAddress(text, true)
}

/** Reports whether the text is an IPv6 address. An embedded IPv4 address may not have leading zeros. */
export function isIPv6(text: string): boolean {
  return text.includes(':') && isAddress(text, false)
}

/** Reports whether the text is an IP address without leading zeros. */
export function isIP(text: string): boolean {
  return isAddress(text, false)
}

/** Reports whether the text is an address with a prefix length. */
export function isCIDR(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return false
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  if (!/^\d+$/.test(bits) || Number(bits) >= greatestCount) return false
  if (isDotted(address, true)) return Number(bits) <= 32
  return isColoned(address, true) && Number(bits) <= 128
}

function isAddress(text: string, lenient: boolean): boolean {
  const first = /[.:]/.exec(text)?.[0]
  return first === '.' ? isDotted(text, lenient) : first === ':' && isColoned(text, lenient)
}

function isDotted(text: string, lenient: boolean): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => isOctet(part, lenient))
}

function isOctet(part: string, lenient: boolean): boolean {
  if (!(lenient ? /^\d+$/ : /^\d{1,3}$/).test(part) || Number(part) > 255) return false
  return lenient || part.length === 1 || part[0] !== '0'
}

function isColoned(text: string, lenient: boolean): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')))
  const all = groups.flat()
  let count = all.length
  const last = all.at(-1)
  // Only the last part of an address may be written with dots.
  if (last?.includes('.') && (halves.at(-1) !== '' || halves.length === 1)) {
    if (!isDotted(last, lenient)) return false
    all.pop()
    count++
  }
  const group = lenient ? /^0*[0-9a-fA-F]{1,4}$/ : /^[0-9a-fA-F]{1,4}$/
  if (!all.every((part) => group.test(part))) return false
  return halves.length === 2 ? count < 8 : count === 8
}

/** Reports whether the text is a hardware address. */
export function isMAC(text: string): boolean {
  const hex = '[0-9a-fA-F]'
  const shapes = [`${hex}{2}(:${hex}{2})*`, `${hex}{2}(-${hex}{2})*`, `${hex}{4}(\\.${hex}{4})*`, `(${hex}{2})*`]
  if (!shapes.some((shape) => new RegExp(`^${shape}$`).test(text))) return false
  const octets = text.replace(/[:.-]/g, '').length / 2
  return octets === 6 || octets === 8 || octets === 20
}
