import { quote } from '../kubernetes/print.js'

/** An address by its 4 or 16 bytes, or the parse error in the words of Go. */
export type ParsedAddress = { readonly bytes: Uint8Array; readonly zone: string } | { readonly error: string }

class AddressError {
  constructor(
    readonly message: string,
    readonly at = '',
  ) {}
}

/** Parses an IP address. Returns the error of Go's `netip.ParseAddr` if the text is not valid. */
export function parseAddress(text: string): ParsedAddress {
  try {
    const first = /[.:%]/.exec(text)?.[0]
    if (first === '.') return { bytes: parseIPv4(text), zone: '' }
    if (first === ':') return parseIPv6(text)
    throw new AddressError(first === '%' ? 'missing IPv6 address' : 'unable to parse IP')
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    const at = error.at === '' ? '' : ` (at ${quote(error.at)})`
    return { error: `ParseAddr(${quote(text)}): ${error.message}${at}` }
  }
}

function parseIPv4(text: string): Uint8Array {
  const fields = new Uint8Array(4)
  let value = 0
  let digits = 0
  let field = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c >= '0' && c <= '9') {
      if (digits === 1 && value === 0) throw new AddressError('IPv4 field has octet with leading zero')
      value = value * 10 + Number(c)
      digits++
      if (value > 255) throw new AddressError('IPv4 field has value >255')
    } else if (c === '.') {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.') {
        throw new AddressError('IPv4 field must have at least one digit', text.slice(i))
      }
      if (field === 3) throw new AddressError('IPv4 address too long')
      fields[field++] = value
      value = 0
      digits = 0
    } else throw new AddressError('unexpected character', text.slice(i))
  }
  if (field < 3) throw new AddressError('IPv4 address too short')
  fields[3] = value
  return fields
}

function parseIPv6(text: string): ParsedAddress {
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') throw new AddressError('zone must be a non-empty string')
  let rest = percent < 0 ? text : text.slice(0, percent)
  const bytes = new Uint8Array(16)
  let ellipsis = -1
  if (rest.startsWith('::')) {
    ellipsis = 0
    rest = rest.slice(2)
    if (rest === '') return { bytes, zone }
  }
  let i = 0
  while (i < 16) {
    const group = /^[0-9a-fA-F]*/.exec(rest)![0]
    if (group.length > 4) throw new AddressError('each group must have 4 or less digits', rest)
    if (group === '') throw new AddressError('each colon-separated field must have at least one digit', rest)
    if (rest[group.length] === '.') {
      i = embedIPv4(bytes, i, ellipsis, rest)
      rest = ''
      break
    }
    const value = Number.parseInt(group, 16)
    bytes[i++] = value >> 8
    bytes[i++] = value & 0xff
    rest = rest.slice(group.length)
    if (rest === '') break
    if (rest[0] !== ':') throw new AddressError('unexpected character, want colon', rest)
    if (rest.length === 1) throw new AddressError('colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (rest[0] === ':') {
      if (ellipsis >= 0) throw new AddressError('multiple :: in address', rest)
      ellipsis = i
      rest = rest.slice(1)
      if (rest === '') break
    }
  }
  if (rest !== '') throw new AddressError('trailing garbage after address', rest)
  expand(bytes, i, ellipsis)
  return { bytes, zone }
}

function embedIPv4(bytes: Uint8Array, at: number, ellipsis: number, rest: string): number {
  if (ellipsis < 0 && at !== 12) {
    throw new AddressError('embedded IPv4 address must replace the final 2 fields of the address', rest)
  }
  if (at + 4 > 16) {
    throw new AddressError('too many hex fields to fit an embedded IPv4 at the end of the address', rest)
  }
  bytes.set(parseIPv4(rest), at)
  return at + 4
}

/** Moves the bytes that follow `::` to the end. */
function expand(bytes: Uint8Array, filled: number, ellipsis: number): void {
  if (filled < 16) {
    if (ellipsis < 0) throw new AddressError('address string too short')
    const missing = 16 - filled
    bytes.copyWithin(ellipsis + missing, ellipsis, filled)
    bytes.fill(0, ellipsis, ellipsis + missing)
  } else if (ellipsis >= 0) throw new AddressError('the :: must expand to at least one field of zeros')
}

/** Returns the canonical text of an address. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start++) {
    let length = 0
    while (start + length < 8 && groups[start + length] === '0') length++
    if (length > best.length) best = { start, length }
  }
  if (best.start < 0) return groups.join(':')
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`
}

/** An address and a prefix length, or the parse error in the words of Go. */
export type ParsedPrefix = { readonly bytes: Uint8Array; readonly bits: number } | { readonly error: string }

/** Parses a network such as `10.0.0.0/8`. Returns the error of Go's `netip.ParsePrefix` if the text is not valid. */
export function parsePrefix(text: string): ParsedPrefix {
  const wrong = (message: string) => ({ error: `netip.ParsePrefix(${quote(text)}): ${message}` })
  const slash = text.lastIndexOf('/')
  if (slash < 0) return wrong("no '/'")
  const address = parseAddress(text.slice(0, slash))
  if ('error' in address) return wrong(address.error)
  if (address.zone !== '') return wrong('IPv6 zones cannot be present in a prefix')
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9][0-9]*)$/.test(bits)) return wrong(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > address.bytes.length * 8) return wrong('prefix length out of range')
  return { bytes: address.bytes, bits: Number(bits) }
}
