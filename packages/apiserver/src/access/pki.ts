import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { attempt, type Clock } from '@crosstie/kube'
import {
  type Authority,
  issueClient,
  issueServing,
  type KeyPair,
  keyPem,
  newKey,
  parseCertificate,
  selfSign,
} from './certificate.js'
import { closeToOthers, writePrivately } from './files.js'

const DAY = 24 * 3600 * 1000
const AUTHORITY_DAYS = 3650
const LEAF_DAYS = 365
const ROTATE_BEFORE_DAYS = 30
/** Client clocks may be behind ours, and ours may be ahead by a time zone until it is set. */
const BACKDATE = DAY

/** Where keys and certificates are stored, and for which host. */
export interface PkiOptions {
  readonly dataDir: string
  /** The address or name that the server listens on. */
  readonly host: string
  readonly clock: Clock
  /**
   * Called with one line when a certificate was issued again because of the clock, or a key file was readable for
   * others.
   */
  readonly warn?: (message: string) => void
}

/** Keys and certificates of one server. */
export interface Pki {
  /** PEM. Clients trust it, and it signs client certificates. */
  readonly ca: string
  readonly serving: KeyPair
  /** A client certificate of the group system:masters, for the kubeconfig. */
  readonly admin: KeyPair
  /** Signs service account tokens. */
  readonly signingKey: KeyObject
  /** Issues a client certificate that is valid for a year. */
  issueClient(user: string, groups: readonly string[]): KeyPair
}

/**
 * Opens the keys and certificates in `<dataDir>/pki`. Missing ones are created. Certificates that expire soon or do
 * not name the host are issued again. Call it again to rotate certificates in a running server.
 *
 * The authority and the token key are never replaced when they are unreadable or damaged, because that would lock
 * out every client that trusts them. It throws instead.
 */
export function openPki(options: PkiOptions): Promise<Pki> {
  return attempt('open the keys and certificates', () => new Folder(options).open())
}

class Folder {
  readonly #folder: string
  readonly #host: string
  readonly #now: number
  readonly #warn: (message: string) => void

  constructor({ dataDir, host, clock, warn = () => {} }: PkiOptions) {
    this.#warn = warn
    this.#folder = join(dataDir, 'pki')
    this.#host = host
    this.#now = clock.now()
  }

  async open(): Promise<Pki> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const [authority, signingKey] = await Promise.all([this.#authority(), this.#signingKey()])
    const hosts = servingHosts(this.#host)
    const serving = await this.#leaf(
      'apiserver',
      authority,
      (certificate) => coversHosts(certificate, hosts),
      () => issueServing(authority, { name: 'kube-apiserver', hosts, ...this.#validity(LEAF_DAYS, authority) }),
    )
    const client = (user: string, groups: readonly string[]) =>
      issueClient(authority, { user, groups, ...this.#validity(LEAF_DAYS, authority) })
    const admin = await this.#leaf(
      'admin',
      authority,
      () => true,
      () => client('kubernetes-admin', ['system:masters']),
    )
    return { ca: authority.certificate.toString(), serving, admin, signingKey, issueClient: client }
  }

  async #signingKey(): Promise<KeyObject> {
    return (await this.#key('sa.key')) ?? (await this.#newKey('sa.key'))
  }

  async #authority(): Promise<Authority> {
    const text = await this.#read('ca.crt')
    const key = await this.#key('ca.key')
    if (text === undefined) return await this.#newAuthority(key ?? (await this.#newKey('ca.key')))

    const certificate = parseCertificate(text)
    if (!certificate) throw this.#broken('ca.crt', 'holds no certificate')
    if (!key) throw this.#broken('ca.key', 'is missing, but ca.crt exists')
    if (!certificate.checkPrivateKey(key)) throw this.#broken('ca.key', 'does not belong to ca.crt')
    // The key stays the same, so certificates that it signed before stay valid for clients that trust the new one.
    if (this.#expires(certificate) || this.#notYetValid(certificate, 'ca.crt')) return await this.#newAuthority(key)
    return { certificate, key }
  }

  async #newAuthority(key: KeyObject): Promise<Authority> {
    const text = selfSign('crosstie', key, this.#validity(AUTHORITY_DAYS))
    await writePrivately(join(this.#folder, 'ca.crt'), text, true)
    return { certificate: parseCertificate(text)!, key }
  }

  /** Serving and client certificates can be issued again at any time, so a damaged file is replaced. */
  async #leaf(
    name: string,
    authority: Authority,
    suits: (certificate: X509Certificate) => boolean,
    make: () => KeyPair,
  ): Promise<KeyPair> {
    const pair = { cert: await this.#read(`${name}.crt`), key: await this.#read(`${name}.key`) }
    const { cert, key } = pair
    if (cert !== undefined && key !== undefined) {
      if (this.#usable({ cert, key }, authority, suits, `${name}.crt`)) return { cert, key }
    }

    const made = make()
    await writePrivately(join(this.#folder, `${name}.key`), made.key, false)
    await writePrivately(join(this.#folder, `${name}.crt`), made.cert, false)
    return made
  }

  #usable(
    pair: KeyPair,
    authority: Authority,
    suits: (certificate: X509Certificate) => boolean,
    file: string,
  ): boolean {
    const certificate = parseCertificate(pair.cert)
    const key = parseKey(pair.key)
    if (!certificate || !key || !certificate.checkPrivateKey(key)) return false
    if (this.#expires(certificate) || this.#notYetValid(certificate, file)) return false
    if (!certificate.checkIssued(authority.certificate)) return false
    return certificate.verify(authority.certificate.publicKey) && suits(certificate)
  }

  async #key(name: string): Promise<KeyObject | undefined> {
    const text = await this.#read(name)
    if (text === undefined) return undefined
    const key = parseKey(text)
    if (!key) throw this.#broken(name, 'holds no private key')
    return key
  }

  async #newKey(name: string): Promise<KeyObject> {
    const key = newKey()
    await writePrivately(join(this.#folder, name), keyPem(key), true)
    return key
  }

  async #read(name: string): Promise<string | undefined> {
    try {
      const file = join(this.#folder, name)
      if (name.endsWith('.key')) await closeToOthers(file, { warn: this.#warn })
      return await readFile(file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  #broken(name: string, how: string): Error {
    const file = join(this.#folder, name)
    return new Error(
      `${file} ${how}; restore it from a backup, or remove ${this.#folder} to start with new keys (every kubeconfig and token of the old ones stops working)`,
    )
  }

  #expires(certificate: X509Certificate): boolean {
    return Date.parse(certificate.validTo) - this.#now < ROTATE_BEFORE_DAYS * DAY
  }

  /**
   * Whether the certificate is not valid yet, as after a first start with a clock that was ahead. Clients refuse
   * it.
   */
  #notYetValid(certificate: X509Certificate, file: string): boolean {
    const from = Date.parse(certificate.validFrom)
    if (from <= this.#now) return false
    this.#warn(
      `${join(this.#folder, file)} is not valid before ${new Date(from).toISOString()}: the clock was ahead when it was issued, or is behind now. It is issued again; copies of the old one stop working`,
    )
    return true
  }

  #validity(days: number, authority?: Authority): { from: number; until: number } {
    const until = this.#now + days * DAY
    const last = authority ? Date.parse(authority.certificate.validTo) : until
    return { from: this.#now - BACKDATE, until: Math.min(until, last) }
  }
}

function parseKey(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}

/** Returns every name and address that clients may use for this server. */
function servingHosts(listen: string): string[] {
  const host = listen.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  const wildcard = host === '0.0.0.0' || host === '::' || host === ''
  const addresses = wildcard
    ? Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map((entry) => entry.address))
    : [host]
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']
  const named = ['localhost', hostname(), ...service, '127.0.0.1', '::1', ...addresses]
  return [...new Set(named.map((name) => name.replace(/%.*$/, '')).filter((name) => /^[\x21-\x7e]+$/.test(name)))]
}

function coversHosts(certificate: X509Certificate, hosts: readonly string[]): boolean {
  return hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
}
