import { createHash, createHmac, pbkdf2, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const ITERATIONS = 4096
/** The maximum number of iterations that are checked. A stronger verifier would block the process. */
const ITERATIONS_CHECKED = 20_000
const KEY_BYTES = 32

/**
 * Returns the verifier that the server stores for a password (RFC 5802, RFC 7677). It is sent instead of the
 * password: a statement may be logged, visible to other sessions or part of an error, and the verifier does not
 * allow a login.
 */
export async function scramVerifier(
  password: string,
  salt = randomBytes(16),
  iterations = ITERATIONS,
): Promise<string> {
  const salted = await promisify(pbkdf2)(prepared(password), salt, iterations, KEY_BYTES, 'sha256')
  return verifierFrom(salted, salt, iterations)
}

function verifierFrom(salted: Buffer, salt: Buffer, iterations: number): string {
  const mac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(mac('Client Key')).digest('base64')
  const server = mac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${server}`
}

/** Reports whether a password fits a verifier. Returns undefined if the verifier cannot be checked. */
export function fits(password: string, user: string, kept: string): boolean | undefined {
  const digest = createHmac('sha256', processKey).update(`${user}\0${password}`).digest('base64')
  const known = checked.get(kept)
  if (known?.digest === digest) return known.fits
  const found = check(password, user, kept)
  if (checked.size >= CHECKED_MAX) checked.clear()
  checked.set(kept, { digest, fits: found })
  return found
}

/**
 * Caches checks, which cost milliseconds for every observation of every role. The cache has keyed digests and no
 * passwords.
 */
const checked = new Map<string, { readonly digest: string; readonly fits: boolean | undefined }>()
const CHECKED_MAX = 20_000
const processKey = randomBytes(32)

function check(password: string, user: string, kept: string): boolean | undefined {
  if (/^md5[0-9a-f]{32}$/.test(kept)) {
    return same(kept, `md5${createHash('md5').update(password).update(user).digest('hex')}`)
  }
  const [, count = '', salt = ''] = /^SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$/.exec(kept) ?? []
  const iterations = Number(count)
  if (iterations < 1 || iterations > ITERATIONS_CHECKED) return undefined
  const bytes = Buffer.from(salt, 'base64')
  return same(
    kept,
    verifierFrom(pbkdf2Sync(prepared(password), bytes, iterations, KEY_BYTES, 'sha256'), bytes, iterations),
  )
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** Prepares a password by SASLprep (RFC 4013) as the server does: one with prohibited characters is used as it is. */
function prepared(password: string): string {
  if (/^[\x20-\x7e]*$/.test(password)) return password
  const mapped = password
    .replace(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, ' ')
    .replace(/\u034f|[\u00ad\u1806\u200c\u2060\ufeff]|[\u180b-\u180d]|\u200d|[\ufe00-\ufe0f]/g, '')
    .normalize('NFKC')
  const prohibited = /[\p{Cc}\p{Co}\p{Cs}\ufff9-\uffff\u2ff0-\u2ffb\u200e\u200f\u202a-\u202e\u206a-\u206f]/u
  return mapped === '' || prohibited.test(mapped) ? password : mapped
}
