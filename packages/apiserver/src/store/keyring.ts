import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '@crosstie/kube'
import { StoreKeyError } from './failures.js'
import { Encoding } from './frame.js'
import type { Stored } from './store.js'

/** Which values are encrypted, and with which keys. */
export interface Encryption {
  readonly encrypt: (key: string) => boolean
  /** The key file. Default: `keys.json` in the data directory. Created when it is needed. */
  readonly keyFile?: string
}

/** Encodes a value for the disk. */
export type Encode = (stored: Stored) => { readonly encoding: number; readonly value: Uint8Array }

const KEY_BYTES = 32
const ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface KeyFile {
  /** The newest key is last. It encrypts, and all keys decrypt. */
  readonly keys: readonly { readonly id: string; readonly created: string; readonly key: string }[]
}

/** AES-256-GCM with keys from a file. A sealed value names its key and is bound to its store key and revision. */
export class Keyring {
  readonly #file: string
  readonly #keys = new Map<string, Buffer>()
  #newest: { readonly id: Buffer; readonly key: Buffer } | undefined

  private constructor(file: string) {
    this.#file = file
  }

  /** Reads the keys of the file. Without a file there are no keys. */
  static async read(file: string): Promise<Keyring> {
    const ring = new Keyring(file)
    let text: string
    try {
      text = await fs.promises.readFile(file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ring
      throw new StoreKeyError(`cannot read the encryption keys in ${file}: ${messageOf(error)}`, { cause: error })
    }
    for (const key of parse(text, file)) ring.#add(key)
    return ring
  }

  /** Creates the file with a first key if it does not exist. */
  async ensureKey(): Promise<void> {
    if (!this.#newest) this.#add(await addEncryptionKey(this.#file))
  }

  /** Returns an encoder that encrypts the values of the selected keys. */
  encoder(encrypt: (key: string) => boolean): Encode {
    return (stored) => {
      const { key, revision, bytes } = stored
      if (!encrypt(key)) return { encoding: Encoding.plain, value: bytes }
      return { encoding: Encoding.encrypted, value: this.seal(bytes, key, revision) }
    }
  }

  /** Whether the newest key sealed the value. */
  isNewest(sealed: Buffer): boolean {
    return this.#newest?.id.equals(sealed.subarray(0, ID_BYTES)) ?? false
  }

  seal(plain: Uint8Array, key: string, revision: number): Buffer {
    if (!this.#newest) throw new StoreKeyError(`${this.#file} has no encryption key`)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#newest.key, nonce)
    cipher.setAAD(placeOf(key, revision))
    const text = cipher.update(plain)
    cipher.final()
    return Buffer.concat([this.#newest.id, nonce, cipher.getAuthTag(), text])
  }

  unseal(sealed: Buffer, key: string, revision: number): Buffer {
    const id = sealed.toString('hex', 0, ID_BYTES)
    const secret = this.#keys.get(id)
    if (!secret) {
      const why = this.#keys.size === 0 ? `${this.#file} does not exist` : `it is not in ${this.#file}`
      throw new StoreKeyError(
        `${key} is encrypted with key ${id}, but ${why}. Restore the file with that key. Nothing was changed.`,
      )
    }
    const tagAt = ID_BYTES + NONCE_BYTES
    const textAt = tagAt + TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(ID_BYTES, tagAt))
    decipher.setAuthTag(sealed.subarray(tagAt, textAt))
    decipher.setAAD(placeOf(key, revision))
    const plain = decipher.update(sealed.subarray(textAt))
    try {
      decipher.final()
    } catch (error) {
      throw new StoreKeyError(`${key} cannot be decrypted: it was changed after it was encrypted with key ${id}`, {
        cause: error,
      })
    }
    return plain
  }

  #add(key: Buffer): void {
    const id = idOf(key)
    this.#keys.set(id.toString('hex'), key)
    this.#newest = { id, key }
  }
}

/** Returns the ids of the keys in a file, in hex. */
export async function keyIds(file: string): Promise<readonly string[]> {
  return parse(await fs.promises.readFile(file, 'utf8'), file).map((key) => idOf(key).toString('hex'))
}

/** Returns the id of the key that sealed the value. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.toString('hex', 0, ID_BYTES)
}

/**
 * Adds a new key to the file. The next process that opens the store encrypts with it. Older keys stay for reading.
 * Returns the key.
 */
export async function addEncryptionKey(file: string): Promise<Buffer> {
  let known: KeyFile = { keys: [] }
  try {
    const text = await fs.promises.readFile(file, 'utf8')
    parse(text, file)
    known = JSON.parse(text) as KeyFile
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const key = randomBytes(KEY_BYTES)
  const added = { id: idOf(key).toString('hex'), created: new Date().toISOString(), key: key.toString('base64') }
  const text = `${JSON.stringify({ keys: [...known.keys, added] }, undefined, 2)}\n`
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  const handle = await fs.promises.open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fs.promises.rename(temporary, file)
  await syncDirectory(dirname(file))
  return key
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await fs.promises.open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function parse(text: string, file: string): readonly Buffer[] {
  try {
    return (JSON.parse(text) as KeyFile).keys.map(({ id, key }) => {
      const secret = Buffer.from(key, 'base64')
      if (secret.length !== KEY_BYTES) throw new Error(`key ${id} does not have ${KEY_BYTES} bytes`)
      if (idOf(secret).toString('hex') !== id) throw new Error(`key ${id} was changed`)
      return secret
    })
  } catch (error) {
    const next = 'Restore the right file. Nothing was changed.'
    throw new StoreKeyError(`${file} does not hold encryption keys: ${messageOf(error)}. ${next}`, { cause: error })
  }
}

/** Derived from the key itself, so that a wrong key is detected before it is used. */
function idOf(key: Buffer): Buffer {
  return createHash('sha256').update('crosstie data key\0').update(key).digest().subarray(0, ID_BYTES)
}

function placeOf(key: string, revision: number): Buffer {
  return Buffer.from(`${revision}\0${key}`)
}
