import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A certificate with its key, both PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Properties of a certificate. */
export interface CertificateRequest {
  readonly commonName: string
  readonly organizations?: readonly string[]
  /** Adds 127.0.0.1 and localhost as subject alternative names. */
  readonly loopback?: boolean
  /** Creates a certificate authority. */
  readonly authority?: boolean
}

/** Creates an X.509 certificate for test servers on loopback. It is signed by `issuer`, or self-signed without one. */
export function makeCertificate(request: CertificateRequest, issuer?: Certificate): Certificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = distinguishedName(request)
  const issuerName = issuer ? subjectOf(issuer.cert) : name
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    issuerName,
    sequence(time(Date.now() - 3_600_000), time(Date.now() + 30 * 86_400_000)),
    name,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions(request))),
  )
  const signature = sign('sha256', body, issuer?.key ?? keys.privateKey)
  return { cert: pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bits(signature))), key: pkcs8(keys.privateKey) }
}

/** Creates a key pair to sign service account tokens with. */
export function makeSigningKey(): { key: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    key: pkcs8(privateKey),
    publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
  }
}

const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string

function distinguishedName({ commonName, organizations = [] }: CertificateRequest): Buffer {
  const attribute = (id: string, value: string) => set(sequence(objectId(id), der(0x0c, Buffer.from(value))))
  return sequence(...organizations.map((each) => attribute('2.5.4.10', each)), attribute('2.5.4.3', commonName))
}

function extensions({ loopback, authority }: CertificateRequest): Buffer[] {
  const extension = (id: string, critical: boolean, value: Buffer) =>
    sequence(objectId(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))
  const usage = authority ? Buffer.from([1, 0x06]) : Buffer.from([5, 0xa0])
  const list = [
    extension('2.5.29.19', true, sequence(...(authority ? [der(0x01, Buffer.from([0xff]))] : []))),
    extension('2.5.29.15', true, der(0x03, usage)),
  ]
  if (!authority) {
    list.push(extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'), objectId('1.3.6.1.5.5.7.3.2'))))
  }
  if (loopback) {
    const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
    list.push(extension('2.5.29.17', false, names))
  }
  return list
}

/** Returns the encoded subject of a certificate, which issued certificates must repeat. */
function subjectOf(cert: string): Buffer {
  const bytes = Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const fields = children(children(bytes)[0]!)
  return fields[5]!
}

function children(bytes: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = header(bytes).start; at < bytes.length; ) {
    const { start, length } = header(bytes.subarray(at))
    found.push(bytes.subarray(at, at + start + length))
    at += start + length
  }
  return found
}

function header(bytes: Buffer): { start: number; length: number } {
  const first = bytes[1]!
  if (first < 0x80) return { start: 2, length: first }
  const size = first & 0x7f
  return { start: 2 + size, length: bytes.readUIntBE(2, size) }
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function objectId(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  const bytes = [first! * 40 + second!]
  for (const part of rest) {
    const septets = [part & 0x7f]
    for (let high = part >> 7; high > 0; high >>= 7) septets.unshift((high & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return der(0x06, Buffer.from(bytes))
}

function time(millis: number): Buffer {
  const digits = new Date(millis).toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return der(0x18, Buffer.from(`${digits}Z`))
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const set = (...parts: Buffer[]): Buffer => der(0x31, Buffer.concat(parts))
const integer = (content: Buffer): Buffer => der(0x02, content)
const tagged = (tag: number, content: Buffer): Buffer => der(0xa0 | tag, content)
const bits = (content: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.from([0]), content]))
const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
