/**
 * The part of DER (X.690) that certificates need. Certificates are read and verified by OpenSSL through
 * node:crypto.
 */

export type Der = Buffer

/** SEQUENCE. */
export const sequence = (...items: readonly Der[]): Der => tagged(0x30, Buffer.concat(items))
/** SET. */
export const set = (...items: readonly Der[]): Der => tagged(0x31, Buffer.concat(items))
/** OCTET STRING. */
export const octets = (content: Buffer): Der => tagged(0x04, content)
/** UTF8String. */
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text, 'utf8'))
/** BOOLEAN. */
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]))

/** Context-specific `[number]`, constructed (holding other values) or primitive. */
export const context = (number: number, content: Buffer, constructed = false): Der =>
  tagged((constructed ? 0xa0 : 0x80) | number, content)

/** A non-negative integer, given as big-endian bytes. */
export function integer(bytes: Buffer): Der {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const trimmed = bytes.subarray(start)
  // A set top bit would read as a negative number.
  return tagged(0x02, trimmed[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed)
}

/** BIT STRING. */
export function bits(content: Buffer, unused = 0): Der {
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), content]))
}

/** OBJECT IDENTIFIER. */
export function oid(dotted: string): Der {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  const bytes = [first! * 40 + second!]
  for (const arc of rest) {
    const digits = [arc & 0x7f]
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
    bytes.push(...digits)
  }
  return tagged(0x06, Buffer.from(bytes))
}

/** RFC 5280: UTCTime up to 2049, GeneralizedTime after. */
export function time(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(0, 14)
  const generalized = digits >= '2050'
  return tagged(generalized ? 0x18 : 0x17, Buffer.from(`${generalized ? digits : digits.slice(2)}Z`, 'ascii'))
}

/** Returns the PEM form of a value. */
export function pem(label: string, der: Der): string {
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/**
 * Returns the values directly inside a constructed value, each with its header. The input must have been accepted
 * by OpenSSL.
 */
export function children(der: Der): Der[] {
  const items: Der[] = []
  const { content } = split(der)
  for (let at = 0; at < content.length; ) {
    const { length } = split(content.subarray(at))
    items.push(content.subarray(at, at + length))
    at += length
  }
  return items
}

/** Returns the content of the first value and the length of the whole value. */
export function split(der: Der): { readonly content: Buffer; readonly length: number } {
  const first = der[1]!
  const lengthBytes = first & 0x80 ? first & 0x7f : 0
  const size = lengthBytes === 0 ? first : der.readUIntBE(2, lengthBytes)
  const start = 2 + lengthBytes
  return { content: der.subarray(start, start + size), length: start + size }
}

function tagged(tag: number, content: Buffer): Der {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const length: number[] = []
  for (let left = content.length; left > 0; left >>= 8) length.unshift(left & 0xff)
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), content])
}
