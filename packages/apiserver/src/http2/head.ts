import type { IncomingHttpHeaders } from 'node:http'
import { type Field, sizeOf } from './hpack.js'

/** The headers of a request as they come in, checked as RFC 9113, section 8 wants it. */
export class Head {
  readonly headers: IncomingHttpHeaders & { ':method'?: string; ':path'?: string } = Object.create(null)
  /** Why no request can be made of it. */
  malformed: string | undefined
  tooLarge = false
  #bytes = 0
  #ordinary = false

  constructor(readonly bytesMax: number) {}

  readonly add = (field: Field): void => {
    this.#bytes += sizeOf(field)
    if (this.#bytes > this.bytesMax) this.tooLarge = true
    if (this.tooLarge || this.malformed !== undefined) return
    if (!field.proper) this.malformed = 'a header has characters that it may not have'
    else if (field.name.charCodeAt(0) === COLON) this.#addPseudo(field)
    else this.#addOrdinary(field)
  }

  #addPseudo({ name, value }: Field): void {
    if (this.#ordinary) this.malformed = `${name} comes after other headers`
    else if (!PSEUDO.has(name)) this.malformed = `${name} is not for requests`
    else if (this.headers[name] !== undefined) this.malformed = `${name} comes twice`
    else this.headers[name] = value
  }

  #addOrdinary({ name, value }: Field): void {
    this.#ordinary = true
    if (OF_CONNECTIONS.has(name) || (name === 'te' && value !== 'trailers')) {
      this.malformed = `${name} has no place in HTTP/2`
      return
    }
    const before = this.headers[name]
    if (before === undefined) this.headers[name] = value
    else if (!ONCE.has(name)) this.headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
    else if (name === 'content-length' && before !== value) this.malformed = 'content-length comes twice'
  }

  finishRequest(): void {
    const { ':method': method, ':path': path, ':scheme': scheme } = this.headers
    if (this.malformed !== undefined) return
    if (!method || !path || !scheme) this.malformed = 'a request has a method, a scheme and a path'
    else if (!/^\d*$/.test(this.headers['content-length'] ?? '')) this.malformed = 'content-length is no number'
  }

  /** Trailers are read so that later headers can refer to them, and dropped. */
  finishTrailers(): void {
    if (Object.keys(this.headers).some((name) => name.charCodeAt(0) === COLON))
      this.malformed ??= 'trailers name no path'
  }
}

const COLON = ':'.charCodeAt(0)
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path'])
const OF_CONNECTIONS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'])
/** Where several make no sense, the first counts. */
const ONCE = new Set(
  'authorization content-encoding content-length content-type date from host if-match if-none-match range referer user-agent'.split(
    ' ',
  ),
)
