import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '@crosstie/kube'
import type { Receiver, Stream } from '../http2/stream.js'

/** kube-apiserver's own limit: three of etcd's one-megabyte values. */
const BODY_BYTES_MAX = 3 * 1024 * 1024

export type Headers = Record<string, string | string[] | number>

/** One request and its answer, whichever HTTP it came by. */
export interface Exchange {
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly socket: TLSSocket
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** Throws 413 when it is larger than a request may be. */
  body(): Promise<Buffer>
  /** `sent` is called when the body's memory may be used again; never, when the client is gone before. */
  respond(status: number, headers: Headers, body?: Uint8Array | readonly Uint8Array[], sent?: () => void): void
  /** An answer that goes on. */
  stream(status: number, headers: Headers): Outgoing
  /** Where the client asked for a WebSocket: a message for each chunk. Undefined when it did not ask properly. */
  messages?(binary: boolean): Outgoing | undefined
  /** Names the request in the answer and in the audit log. */
  readonly auditId: string
  /** Of the answer; 0 while there is none. */
  readonly status: number
}

export interface Outgoing {
  /** False when the client reads too slowly: then `drained` tells when to go on. */
  write(chunk: Uint8Array): boolean
  /** How much waits to be sent. */
  readonly waiting: number
  onDrain(listener: () => void): void
  end(): void
  /** Ends at once; what waits to be sent is dropped. */
  cut(): void
}

/** What clients that do not read or write may hold: so much memory altogether, each for so long. */
export class Patience {
  /** Bytes of answers that wait to be read. */
  waiting = 0

  constructor(readonly milliseconds: number) {}

  get exhausted(): boolean {
    return this.waiting > WAITING_BYTES_MAX
  }

  /** Counts an answer until it is read, or its reader was too slow. */
  hold(reader: { destroy(): void }, onClose: (listener: () => void) => void, bytes: number): void {
    if (bytes <= JOIN_BYTES_MAX) return
    this.waiting += bytes
    const timer = setTimeout(() => reader.destroy(), this.milliseconds).unref()
    onClose(() => {
      clearTimeout(timer)
      this.waiting -= bytes
    })
  }
}

/** Beyond it, new requests are told to come back later. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024

export function overHttp2(stream: Stream, patience: Patience): Exchange {
  return new Http2Exchange(stream, patience)
}

/** A class and no closures: one is made for every request, and most requests use few of its methods. */
class Http2Exchange implements Exchange {
  readonly auditId: string
  readonly method: string
  readonly url: string
  readonly headers: Stream['headers']
  readonly #stream: Stream
  readonly #patience: Patience
  #status = 0
  #gone: AbortController | undefined

  constructor(stream: Stream, patience: Patience) {
    const { headers } = stream
    this.auditId = auditIdOf(headers)
    this.method = headers[':method'] ?? 'GET'
    this.url = headers[':path'] ?? '/'
    this.headers = headers
    this.#stream = stream
    this.#patience = patience
  }

  get socket(): TLSSocket {
    return this.#stream.socket
  }

  get signal(): AbortSignal {
    if (!this.#gone) {
      const gone = new AbortController()
      this.#gone = gone
      if (this.#stream.closed) gone.abort(GONE)
      else this.#stream.onClose(() => gone.abort(GONE))
    }
    return this.#gone.signal
  }

  get status(): number {
    return this.#status
  }

  body(): Promise<Buffer> {
    // Node's HTTP/1 says so by itself.
    if (this.headers.expect?.toLowerCase() === '100-continue' && !isTooLarge(this.headers)) this.#stream.goOn()
    return collect((receiver) => this.#stream.receive(receiver), this.headers, this.#patience)
  }

  respond(status: number, extra: Headers, body?: Uint8Array | readonly Uint8Array[], sent?: () => void): void {
    const stream = this.#stream
    this.#status = status
    if (stream.closed || stream.headersSent) return
    const chunks = chunksOf(body)
    const size = bytesOf(chunks)
    this.#patience.hold(stream, (listener) => stream.onClose(listener), size)
    stream.respond(status, { 'audit-id': this.auditId, ...extra, 'content-length': size, date: dateNow() }, size === 0)
    for (const chunk of chunks) stream.write(chunk)
    stream.end(sent)
  }

  stream(status: number, extra: Headers): Outgoing {
    const stream = this.#stream
    this.#status = status
    stream.respond(status, { 'audit-id': this.auditId, ...extra, date: dateNow() })
    return {
      write: (chunk) => stream.write(chunk),
      get waiting() {
        return stream.waiting
      },
      onDrain: (listener) => stream.onDrain(listener),
      end: () => stream.end(),
      cut: () => stream.destroy(),
    }
  }
}

let dated = { second: 0, text: '' }

/** As Node's HTTP/1 says it, once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dated.second) dated = { second, text: new Date(second * 1000).toUTCString() }
  return dated.text
}

export function overHttp1(request: IncomingMessage, response: ServerResponse, patience: Patience): Exchange {
  const onClose = (listener: () => void) => void response.once('close', listener)
  const gone = lazySignal(onClose)
  response.on('error', () => {})
  const auditId = auditIdOf(request.headers)
  return {
    auditId,
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: request.headers,
    socket: request.socket as TLSSocket,
    get signal() {
      return gone()
    },
    get status() {
      return response.headersSent ? response.statusCode : 0
    },
    body: () => collect((receiver) => receive(request, receiver), request.headers, patience),
    respond(status, extra, body, sent) {
      if (response.headersSent || response.destroyed) return
      const chunks = chunksOf(body)
      const size = bytesOf(chunks)
      patience.hold(response, onClose, size)
      response.writeHead(status, phraseOf(status), { 'audit-id': auditId, ...extra, 'content-length': size })
      for (let i = 0; i < chunks.length - 1; i++) response.write(chunks[i])
      if (chunks.length > 0) sendLast(response, chunks.at(-1)!, sent)
      else response.end()
    },
    stream(status, extra) {
      response.writeHead(status, phraseOf(status), { 'audit-id': auditId, ...extra })
      response.flushHeaders()
      return outgoing(response)
    },
  }
}

/** What stands behind the status: clients show it to people. Go has other words than Node in one place. */
function phraseOf(status: number): string {
  return status === 413 ? 'Request Entity Too Large' : (STATUS_CODES[status] ?? `status code ${status}`)
}

const AUDIT_ID_MAX = 64

function auditIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['audit-id']
  return typeof given === 'string' && given !== '' && given.length <= AUDIT_ID_MAX ? given : randomUUID()
}

/** The callback of a write comes when TLS has taken the bytes over: encrypted, or as a copy. */
function sendLast(sink: ServerResponse, chunk: Uint8Array, sent: (() => void) | undefined): void {
  if (!sent) {
    sink.end(chunk)
    return
  }
  sink.write(chunk, (error) => {
    if (!error) sent()
  })
  sink.end()
}

function outgoing(sink: ServerResponse): Outgoing {
  // Asking the sink itself takes as long as writing to it does.
  let open = !sink.destroyed
  sink.once('close', () => {
    open = false
  })
  return {
    write: (chunk) => !open || sink.write(chunk),
    get waiting() {
      return sink.writableLength
    },
    onDrain: (listener) => void sink.on('drain', listener),
    end() {
      open = false
      if (!sink.destroyed) sink.end()
    },
    cut() {
      open = false
      sink.destroy()
    },
  }
}

const GONE = new Error('the client is gone')

// Most requests never look at their signal: an AbortController for each would be waste.
function lazySignal(onGone: (abort: () => void) => void): () => AbortSignal {
  let controller: AbortController | undefined
  let gone = false
  onGone(() => {
    gone = true
    controller?.abort(GONE)
  })
  return () => {
    controller ??= new AbortController()
    if (gone) controller.abort(GONE)
    return controller.signal
  }
}

/** HTTP/1's streams tell the same in more words. */
function receive(request: IncomingMessage, receiver: Receiver): void {
  request.on('data', receiver.data)
  request.on('end', receiver.end)
  request.on('close', receiver.cut)
  request.on('error', receiver.cut)
}

function collect(
  receive: (receiver: Receiver) => void,
  headers: IncomingHttpHeaders,
  { milliseconds }: Patience,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let over = isTooLarge(headers)
    const late = setTimeout(() => {
      fail(new StatusError(408, 'Timeout', 'the body of the request did not arrive in time', { details: {} }))
    }, milliseconds)
    late.unref()
    const settle = () => {
      over = true
      clearTimeout(late)
    }
    // Whatever comes after that is dropped.
    const fail = (error: StatusError) => {
      settle()
      chunks.length = 0
      reject(error)
    }
    if (over) fail(tooLarge())
    receive({
      data(chunk) {
        if (over) return
        size += chunk.length
        if (size <= BODY_BYTES_MAX) chunks.push(chunk)
        else fail(tooLarge())
      },
      end() {
        if (over) return
        settle()
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      },
      cut() {
        if (!over) fail(cutOff())
      },
    })
  })
}

function isTooLarge(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > BODY_BYTES_MAX
}

function cutOff(): StatusError {
  return new StatusError(400, 'BadRequest', 'the request ended before its body did')
}

function tooLarge(): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${BODY_BYTES_MAX}`)
}

// Small answers go out in one piece: a second write costs more than copying the first.
const JOIN_BYTES_MAX = 64 * 1024

function chunksOf(body: Uint8Array | readonly Uint8Array[] | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  if (body instanceof Uint8Array) return [body]
  return body.length > 1 && bytesOf(body) <= JOIN_BYTES_MAX ? [Buffer.concat(body)] : body
}

function bytesOf(chunks: readonly Uint8Array[]): number {
  let bytes = 0
  for (const chunk of chunks) bytes += chunk.byteLength
  return bytes
}
