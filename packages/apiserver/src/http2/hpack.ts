import { decodeHuffman } from './huffman.js'
import { Code, ConnectionFailure } from './protocol.js'

/** A header as it was sent. */
export interface Field {
  readonly name: string
  readonly value: string
  /** Made of the characters that names and values may have. */
  readonly proper: boolean
}

const ENTRY_OVERHEAD_BYTES = 32
const TABLE_BYTES_MAX = 4_096

/** Unpacks headers (RFC 7541): what came before on a connection is referred to by number. */
export class HeaderDecoder {
  /** The newest last. */
  readonly #recent: Field[] = []
  #size = 0
  #max = TABLE_BYTES_MAX

  decode(block: Uint8Array, each: (field: Field) => void): void {
    const at = new Cursor(block)
    let begun = false
    while (at.more) {
      const first = at.peek
      if (first >= 0x80) {
        each(this.#entry(at.integer(7)))
      } else if (first >= 0x40) {
        const field = this.#literal(at, at.integer(6))
        this.#remember(field)
        each(field)
      } else if (first >= 0x20) {
        if (begun) throw corrupt('the size of the table changes amid headers')
        this.#resize(at.integer(5))
        continue
      } else {
        each(this.#literal(at, at.integer(4)))
      }
      begun = true
    }
  }

  #entry(index: number): Field {
    const field =
      index <= common.length ? common[index - 1] : this.#recent[this.#recent.length - (index - common.length)]
    if (!field) throw corrupt(`there is no header ${index} to refer to`)
    return field
  }

  #literal(at: Cursor, index: number): Field {
    const named = index > 0 ? this.#entry(index) : undefined
    const name = named ? named.name : at.string()
    const value = at.string()
    return { name, value, proper: (named ? named.proper : NAME.test(name)) && VALUE.test(value) }
  }

  #remember(field: Field): void {
    this.#recent.push(field)
    this.#size += sizeOf(field)
    this.#evict()
  }

  #resize(max: number): void {
    if (max > TABLE_BYTES_MAX) throw corrupt(`the table would have ${max} bytes`)
    this.#max = max
    this.#evict()
  }

  #evict(): void {
    while (this.#size > this.#max) this.#size -= sizeOf(this.#recent.shift()!)
  }
}

/** What a header counts for, by the reckoning of both RFCs. */
export function sizeOf({ name, value }: Field): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES
}

const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be there.
const VALUE = /^(?![\t ])[^\u0000\r\n]*(?<![\t ])$/

const INTEGER_MAX = 2 ** 28

class Cursor {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get more(): boolean {
    return this.#at < this.#bytes.length
  }

  get peek(): number {
    return this.#bytes[this.#at]!
  }

  #next(): number {
    if (!this.more) throw corrupt('headers end too early')
    return this.#bytes[this.#at++]!
  }

  integer(bits: number): number {
    const full = 2 ** bits - 1
    let value = this.#next() & full
    if (value < full) return value
    for (let factor = 1; factor <= INTEGER_MAX; factor *= 128) {
      const byte = this.#next()
      value += (byte & 0x7f) * factor
      if (value > INTEGER_MAX) break
      if (byte < 0x80) return value
    }
    throw corrupt('a number is too large')
  }

  string(): string {
    if (!this.more) throw corrupt('headers end too early')
    const packed = this.peek >= 0x80
    const start = this.integer(7)
    const from = this.#at
    const end = from + start
    if (end > this.#bytes.length) throw corrupt('headers end too early')
    this.#at = end
    if (!packed) return latin1(this.#bytes, from, end)
    const text = decodeHuffman(this.#bytes, from, end)
    if (text === undefined) throw corrupt('a string is not packed as it should be')
    return text
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', start, end)
}

function corrupt(why: string): ConnectionFailure {
  return new ConnectionFailure(Code.COMPRESSION_ERROR, why)
}

/** Appendix A: what everybody sends. */
const common: readonly Field[] = `
  :authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204
  :status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate
  accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control
  content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type
  cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since
  last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after
  server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`
  .trim()
  .split(/\||\n/)
  .map((line) => {
    const [, name, value] = /^\s*(\S+) ?(.*)$/.exec(line)!
    return { name: name!, value: value!, proper: true }
  })

const indexOfName = new Map<string, number>()
const indexOfStatus = new Map<number, number>()
common.forEach(({ name, value }, index) => {
  if (!indexOfName.has(name)) indexOfName.set(name, index + 1)
  if (name === ':status') indexOfStatus.set(Number(value), index + 1)
})

/** Nothing that we send is to be remembered: each block stands for itself. Said once, at the beginning. */
const NOTHING_REMEMBERED = 0x20

export type OutgoingHeaders = Readonly<Record<string, string | number | readonly string[]>>

/** Writes headers so that none of them needs to be remembered. */
export class HeaderEncoder {
  #bytes = Buffer.allocUnsafe(1024)
  #size = 0
  #first = true

  /** The bytes are good until the next call. */
  encode(status: number, headers: OutgoingHeaders): Uint8Array {
    this.#size = 0
    if (this.#first) this.#byte(NOTHING_REMEMBERED)
    this.#first = false
    const known = indexOfStatus.get(status)
    if (known) this.#byte(0x80 | known)
    else this.#field(':status', String(status))
    for (const name in headers) {
      const value = headers[name]!
      if (typeof value === 'string') this.#field(name, value)
      else if (typeof value === 'number') this.#field(name, String(value))
      else for (const one of value) this.#field(name, one)
    }
    return this.#bytes.subarray(0, this.#size)
  }

  #field(name: string, value: string): void {
    this.#room(name.length + value.length + 20)
    const index = indexOfName.get(name)
    this.#integer(0, 4, index ?? 0)
    if (index === undefined) this.#string(name)
    this.#string(value)
  }

  #string(text: string): void {
    this.#integer(0, 7, text.length)
    this.#size += this.#bytes.write(text, this.#size, 'latin1')
  }

  #integer(mark: number, bits: number, value: number): void {
    const full = 2 ** bits - 1
    if (value < full) {
      this.#byte(mark | value)
      return
    }
    this.#byte(mark | full)
    let rest = value - full
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte((rest % 128) | 128)
    this.#byte(rest)
  }

  #byte(byte: number): void {
    this.#bytes[this.#size++] = byte
  }

  #room(bytes: number): void {
    if (this.#size + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#size + bytes))
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
