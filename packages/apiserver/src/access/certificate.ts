import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import * as der from './der.js'

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** A certificate authority: its certificate and its key. */
export interface Authority {
  readonly certificate: X509Certificate
  readonly key: KeyObject
}

/** The period in which a certificate is valid. */
export interface Validity {
  readonly from: number
  readonly until: number
}

/** The content of a serving certificate. */
export interface ServingRequest extends Validity {
  readonly name: string
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[]
}

/** The content of a client certificate. */
export interface ClientRequest extends Validity {
  readonly user: string
  readonly groups: readonly string[]
}

const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
}
const ATTRIBUTE = { commonName: '2.5.4.3', organization: '2.5.4.10' }
const PURPOSE = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' }
const ALGORITHM: Record<string, der.Der> = {
  ec: der.sequence(der.oid('1.2.840.10045.4.3.2')),
  rsa: der.sequence(der.oid('1.2.840.113549.1.1.11'), Buffer.from([0x05, 0x00])),
}
const DIGITAL_SIGNATURE = der.bits(Buffer.from([0x80]), 7)
const SIGN_CERTIFICATES = der.bits(Buffer.from([0xa4]), 2)

/** Creates a P-256 key. This takes a millisecond, and every TLS client of Kubernetes supports it. */
export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** Returns the key as PEM. The common Java client expects RSA unless the first line says EC, so PKCS#8 is not used. */
export function keyPem(key: KeyObject): string {
  return key.export({ type: key.asymmetricKeyType === 'ec' ? 'sec1' : 'pkcs8', format: 'pem' }) as string
}

/** Creates a self-signed certificate of a certificate authority. */
export function selfSign(name: string, key: KeyObject, validity: Validity): string {
  const subject = nameOf([[ATTRIBUTE.commonName, name]])
  const id = keyId(key)
  return issue(key, subject, subject, key, validity, [
    extension(EXTENSION.keyUsage, SIGN_CERTIFICATES, true),
    extension(EXTENSION.basicConstraints, der.sequence(der.boolean(true)), true),
    extension(EXTENSION.subjectKeyId, der.octets(id)),
    extension(EXTENSION.authorityKeyId, der.sequence(der.context(0, id))),
  ])
}

/** Issues a serving certificate for the hosts. */
export function issueServing(authority: Authority, request: ServingRequest): KeyPair {
  const names = request.hosts.map((host) =>
    isIP(host) ? der.context(7, addressBytes(host)) : der.context(2, Buffer.from(host, 'ascii')),
  )
  return issueLeaf(authority, nameOf([[ATTRIBUTE.commonName, request.name]]), request, [
    extension(EXTENSION.extendedKeyUsage, der.sequence(der.oid(PURPOSE.serverAuth))),
    extension(EXTENSION.subjectAltName, der.sequence(...names)),
  ])
}

/**
 * Issues a client certificate. Kubernetes reads the user from the common name and the groups from the
 * organizations.
 */
export function issueClient(authority: Authority, request: ClientRequest): KeyPair {
  const organizations = request.groups.map((group) => [ATTRIBUTE.organization, group] as const)
  const subject = nameOf([...organizations, [ATTRIBUTE.commonName, request.user]])
  return issueLeaf(authority, subject, request, [
    extension(EXTENSION.extendedKeyUsage, der.sequence(der.oid(PURPOSE.clientAuth))),
  ])
}

function issueLeaf(authority: Authority, subject: der.Der, validity: Validity, purposes: readonly der.Der[]): KeyPair {
  const key = newKey()
  const issuer = subjectOf(authority.certificate)
  const id = subjectKeyIdOf(authority.certificate)
  const cert = issue(authority.key, issuer, subject, key, validity, [
    extension(EXTENSION.keyUsage, DIGITAL_SIGNATURE, true),
    ...purposes,
    extension(EXTENSION.basicConstraints, der.sequence(), true),
    extension(EXTENSION.subjectKeyId, der.octets(keyId(key))),
    ...(id ? [extension(EXTENSION.authorityKeyId, der.sequence(der.context(0, id)))] : []),
  ])
  return { cert, key: keyPem(key) }
}

function issue(
  signer: KeyObject,
  issuer: der.Der,
  subject: der.Der,
  key: KeyObject,
  { from, until }: Validity,
  extensions: readonly der.Der[],
): string {
  const algorithm = ALGORITHM[signer.asymmetricKeyType ?? '']
  if (!algorithm) throw new Error(`cannot sign certificates with a key of type ${signer.asymmetricKeyType}`)
  const serial = randomBytes(16)
  serial[0]! &= 0x7f
  const signed = der.sequence(
    der.context(0, der.integer(Buffer.from([2])), true),
    der.integer(serial),
    algorithm,
    issuer,
    der.sequence(der.time(from), der.time(until)),
    subject,
    publicKeyInfo(key),
    der.context(3, der.sequence(...extensions), true),
  )
  return der.pem('CERTIFICATE', der.sequence(signed, algorithm, der.bits(sign('sha256', signed, signer))))
}

function nameOf(attributes: readonly (readonly [string, string])[]): der.Der {
  return der.sequence(...attributes.map(([type, value]) => der.set(der.sequence(der.oid(type), der.utf8(value)))))
}

function extension(id: string, value: der.Der, critical = false): der.Der {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octets(value))
}

function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}

/** RFC 5280, 4.2.1.2, method 1: SHA-1 of the key's bits. */
function keyId(key: KeyObject): Buffer {
  const { content } = der.split(der.children(publicKeyInfo(key))[1]!)
  return createHash('sha1').update(content.subarray(1)).digest()
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // The URL parser normalizes all forms of an IPv6 address.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head, tail] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head!.length - (tail?.length ?? 0)
  const groups = tail ? [...head!, ...Array<string>(missing).fill('0'), ...tail] : head!
  const bytes = Buffer.alloc(16)
  groups.forEach((group, index) => {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  })
  return bytes
}

// The issuer name must equal the subject of the authority byte for byte, regardless of the tool that created the
// authority.
function subjectOf(certificate: X509Certificate): der.Der {
  return der.children(der.children(certificate.raw)[0]!)[5]!
}

function subjectKeyIdOf(certificate: X509Certificate): Buffer | undefined {
  const fields = der.children(der.children(certificate.raw)[0]!)
  const wrapped = fields.find((field) => field[0] === 0xa3)
  if (!wrapped) return undefined
  const wanted = der.oid(EXTENSION.subjectKeyId)
  const found = der.children(der.children(wrapped)[0]!).find((item) => der.children(item)[0]!.equals(wanted))
  return found && der.split(der.split(der.children(found).at(-1)!).content).content
}

/** Undefined when the text is not a certificate. */
export function parseCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text)
  } catch {
    return undefined
  }
}
