import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { quote } from '../kubernetes/print.js'
import { opaqueType, types } from '../types.js'
import { CelObject, fail, noSuchOverload, type Value } from '../values.js'
import { addressText, parseAddress, parsePrefix } from './address.js'

const { bool, int, string } = types
const ipType = opaqueType('net.IP')
const cidrType = opaqueType('net.CIDR')

class CelIp extends CelObject {
  readonly type = ipType
  constructor(readonly bytes: Uint8Array) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof CelIp ? Buffer.compare(this.bytes, other.bytes) === 0 : noSuchOverload()
  }
  override get size(): number {
    return this.bytes.length
  }
  override toString(): string {
    return addressText(this.bytes)
  }
}

class CelCidr extends CelObject {
  readonly type = cidrType
  constructor(
    readonly bytes: Uint8Array,
    readonly bits: number,
  ) {
    super()
  }
  equals(other: Value): boolean {
    if (!(other instanceof CelCidr)) return noSuchOverload()
    return this.bits === other.bits && Buffer.compare(this.bytes, other.bytes) === 0
  }
  override get size(): number {
    return Math.ceil(this.bits / 8)
  }
  override toString(): string {
    return `${addressText(this.bytes)}/${this.bits}`
  }
  contains(bytes: Uint8Array): boolean {
    return bytes.length === this.bytes.length && samePrefix(this.bytes, bytes, this.bits)
  }
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  return Buffer.compare(masked(a, bits), masked(b, bits)) === 0
}

function masked(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, i) => byte & (0xff00 >> Math.max(0, Math.min(8, bits - 8 * i))) & 0xff)
}

function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  )
}

function readIp(text: string): CelIp | { readonly error: string } {
  const parsed = parseAddress(text)
  const shown = quote(text)
  if ('error' in parsed) {
    return { error: `IP Address ${shown} parse error during conversion from string: ${parsed.error}` }
  }
  if (parsed.zone !== '') return { error: `IP address ${shown} with zone value is not allowed` }
  if (isMapped(parsed.bytes)) return { error: `IPv4-mapped IPv6 address ${shown} is not allowed` }
  return new CelIp(parsed.bytes)
}

function toIp(text: string): CelIp {
  const ip = readIp(text)
  return ip instanceof CelIp ? ip : fail(ip.error)
}

function readCidr(text: string): CelCidr | { readonly error: string } {
  const parsed = parsePrefix(text)
  if ('error' in parsed) return { error: `network address parse error during conversion from string: ${parsed.error}` }
  if (isMapped(parsed.bytes)) return { error: `IPv4-mapped IPv6 address ${quote(text)} is not allowed` }
  return new CelCidr(parsed.bytes, parsed.bits)
}

function toCidr(text: string): CelCidr {
  const cidr = readCidr(text)
  if (cidr instanceof CelCidr) return cidr
  return fail(`network address parse error during conversion from string: ${cidr.error}`)
}

function containsCidr(outer: CelCidr, inner: CelCidr): boolean {
  if (outer.bytes.length !== inner.bytes.length) return false
  return outer.bits <= inner.bits && samePrefix(outer.bytes, inner.bytes, outer.bits)
}

const isUnspecified = ({ bytes }: CelIp) => bytes.every((byte) => byte === 0)

function isLoopback({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0))
}

function isLinkLocalUnicast({ bytes }: CelIp): boolean {
  if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254
  return bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80
}

function isLinkLocalMulticast({ bytes }: CelIp): boolean {
  if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
  return bytes[0] === 0xff && (bytes[1]! & 0x0f) === 0x02
}

function isMulticast({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? (bytes[0]! & 0xf0) === 0xe0 : bytes[0] === 0xff
}

function isGlobalUnicast(ip: CelIp): boolean {
  const broadcast = ip.bytes.length === 4 && ip.bytes.every((byte) => byte === 255)
  return !broadcast && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip)
}

const test = (name: string, id: string, run: (ip: CelIp) => boolean) => declare(name, [member(id, [ipType], bool, run)])

/** The library for IP addresses and networks. */
export const networkLibrary: readonly FunctionDeclaration[] = [
  declare('ip', [
    overload('string_to_ip', [string], ipType, toIp),
    member('cidr_ip', [cidrType], ipType, (cidr: CelCidr) => new CelIp(cidr.bytes)),
  ]),
  declare('family', [member('ip_family', [ipType], int, (ip: CelIp) => (ip.bytes.length === 4 ? 4 : 6))]),
  declare('ip.isCanonical', [
    overload('ip_is_canonical', [string], bool, (text: string) => toIp(text).toString() === text),
  ]),
  test('isUnspecified', 'ip_is_unspecified', isUnspecified),
  test('isLoopback', 'ip_is_loopback', isLoopback),
  test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
  test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
  test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
  declare('isIP', [overload('is_ip', [string], bool, (text: string) => readIp(text) instanceof CelIp)]),
  declare('string', [
    overload('ip_to_string', [ipType], string, (ip: CelIp) => ip.toString()),
    overload('cidr_to_string', [cidrType], string, (cidr: CelCidr) => cidr.toString()),
  ]),
  declare('cidr', [overload('string_to_cidr', [string], cidrType, toCidr)]),
  declare('containsIP', [
    member('cidr_contains_ip_string', [cidrType, string], bool, (cidr: CelCidr, ip: string) => {
      const address = readIp(ip)
      return address instanceof CelIp ? cidr.contains(address.bytes) : noSuchOverload()
    }),
    member('cidr_contains_ip_ip', [cidrType, ipType], bool, (cidr: CelCidr, ip: CelIp) => cidr.contains(ip.bytes)),
  ]),
  declare('containsCIDR', [
    member('cidr_contains_cidr_string', [cidrType, string], bool, (outer: CelCidr, inner: string) => {
      const network = readCidr(inner)
      return network instanceof CelCidr ? containsCidr(outer, network) : noSuchOverload()
    }),
    member('cidr_contains_cidr', [cidrType, cidrType], bool, containsCidr),
  ]),
  declare('prefixLength', [member('cidr_prefix_length', [cidrType], int, (cidr: CelCidr) => cidr.bits)]),
  declare('masked', [
    member(
      'cidr_masked',
      [cidrType],
      cidrType,
      (cidr: CelCidr) => new CelCidr(masked(cidr.bytes, cidr.bits), cidr.bits),
    ),
  ]),
  declare('isCIDR', [overload('is_cidr', [string], bool, (text: string) => readCidr(text) instanceof CelCidr)]),
]
