import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** PEM. */
export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

const DAY_MS = 24 * 3600 * 1000
const VALID_DAYS = 3650

let issued: ClientCertificate | undefined

/** The certificate by which provider processes know this process. Its key exists in memory only. */
export function clientCertificate(): ClientCertificate {
  issued ??= issue(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  return issued
}

/** A certificate that signs itself. Providers take it for their only authority, so it must be allowed to be one. */
function issue(key: KeyObject): ClientCertificate {
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const commonName = sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from('localhost')))
  const name = sequence(tagged(0x31, commonName))
  const now = Date.now()
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  )
  const certificate = sequence(content, algorithm, bits(0, sign('sha256', content, key)))
  return {
    certificate: pem(certificate),
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** The encoding of X.690 (DER), as far as this one certificate needs it. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...items: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(items))
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes)
const oid = (...bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes))
const bits = (unused: number, content: Buffer): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unused]), content]))
const critical = tagged(0x01, Buffer.from([0xff]))

/** RFC 5280: years up to 2049 have two digits. The control plane restarts, and issues another, before that matters. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return digits >= '2050' ? tagged(0x18, Buffer.from(`${digits}Z`)) : tagged(0x17, Buffer.from(`${digits.slice(2)}Z`))
}

const extension = (id: Buffer, value: Buffer, ...flags: readonly Buffer[]): Buffer =>
  sequence(id, ...flags, tagged(0x04, value))

const extensions = [
  // Basic constraints: an authority.
  extension(oid(0x55, 0x1d, 0x13), sequence(critical), critical),
  // Key usage: digital signatures and certificates.
  extension(oid(0x55, 0x1d, 0x0f), bits(2, Buffer.from([0x84])), critical),
  // Extended key usage: client and server authentication.
  extension(
    oid(0x55, 0x1d, 0x25),
    sequence(oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02), oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01)),
  ),
  // Subject alternative name: the DNS name that TLS checks.
  extension(oid(0x55, 0x1d, 0x11), sequence(tagged(0x82, Buffer.from('localhost')))),
]

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
