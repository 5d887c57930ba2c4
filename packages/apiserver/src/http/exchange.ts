import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '@crosstie/kube'

/** kube-apiserver's own limit: three of etcd's one-megabyte values. */
const BODY_BYTES_MAX = 3 * 1024 * 1024

export type Headers = Record<string, string | string[] | number>

/**
 * One request and its answer, whichever HTTP it came by. HTTP/2 is spoken through
 * streams directly: Node's compatibility layer costs almost half of a GET.
 */
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
  hold(sink: ServerHttp2Stream | ServerResponse, bytes: number): void {
    if (bytes <= JOIN_BYTES_MAX) return
    this.waiting += bytes
    const timer = setTimeout(() => sink.destroy(), this.milliseconds).unref()
    sink.once('close', () => {
      clearTimeout(timer)
      this.waiting -= bytes
    })
  }
}

/** Beyond it, new requests are told to come back later. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024

export function overHttp2(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders & { ':method'?: string; ':path'?: string },
  patience: Patience,
): Exchange {
  const gone = lazySignal((abort) => stream.once('close', abort))
  stream.on('error', () => {}) // A client that resets its stream is ordinary life; 'close' follows.
  let answered = 0
  const auditId = auditIdOf(headers)
  return {
    auditId,
    method: headers[':method'] ?? 'GET',
    url: headers[':path'] ?? '/',
    headers,
    socket: stream.session?.socket as TLSSocket,
    get signal() {
      return gone()
    },
    get status() {
      return answered
    },
    body: () => collect(stream, headers, patience),
    respond(status, extra, body, sent) {
      answered = status
      if (stream.destroyed || stream.headersSent) return
      const chunks = chunksOf(body)
      const size = bytesOf(chunks)
      patience.hold(stream, size)
      stream.respond({ ':status': status, 'content-length': size, ...extra }, { endStream: chunks.length === 0 })
      for (let i = 0; i < chunks.length - 1; i++) stream.write(chunks[i])
      if (chunks.length > 0) sendLast(stream, chunks.at(-1)!, sent)
    },
    stream(status, extra) {
      answered = status
      if (!stream.destroyed) stream.respond({ ':status': status, 'audit-id': auditId, ...extra })
      return outgoing(stream)
    },
  }
}

export function overHttp1(request: IncomingMessage, response: ServerResponse, patience: Patience): Exchange {
  const gone = lazySignal((abort) => response.once('close', abort))
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
    body: () => collect(request, request.headers, patience),
    respond(status, extra, body, sent) {
      if (response.headersSent || response.destroyed) return
      const chunks = chunksOf(body)
      const size = bytesOf(chunks)
      patience.hold(response, size)
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
function sendLast(sink: ServerHttp2Stream | ServerResponse, chunk: Uint8Array, sent: (() => void) | undefined): void {
  if (!sent) {
    sink.end(chunk)
    return
  }
  sink.write(chunk, (error) => {
    if (!error) sent()
  })
  sink.end()
}

function outgoing(sink: ServerHttp2Stream | ServerResponse): Outgoing {
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

function collect(
  source: ServerHttp2Stream | IncomingMessage,
  headers: IncomingHttpHeaders,
  { milliseconds }: Patience,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(headers['content-length'] ?? 0) > BODY_BYTES_MAX) {
      source.resume()
      reject(tooLarge())
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    let complete = false
    const late = setTimeout(() => {
      reject(new StatusError(408, 'Timeout', 'the body of the request did not arrive in time', { details: {} }))
      chunks.length = 0
      size = BODY_BYTES_MAX // Whatever comes now is dropped.
    }, milliseconds)
    late.unref()
    source.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_BYTES_MAX) chunks.push(chunk)
      else reject(tooLarge())
    })
    source.on('end', () => {
      // An HTTP/2 stream also ends when its client goes: half a YAML document would pass for a whole one.
      if (source.aborted) return
      clearTimeout(late)
      complete = true
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    source.on('close', () => {
      clearTimeout(late)
      if (!complete) reject(cutOff())
    })
    source.on('error', () => reject(cutOff()))
  })
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
