import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type Body, expectsContinue } from './body.js'
import type { Connection } from './connections.js'
import {
  bytesOf,
  CountedExchange,
  chunksOf,
  type Exchange,
  type Headers,
  type Outgoing,
  sendChunks,
} from './exchange.js'
import type { ClientLimits } from './limits.js'

/** A request of HTTP/1.1 through Node's server. */
export class Http1Exchange extends CountedExchange implements Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  protected readonly incoming: Body
  /** The client waits for `100 Continue` and did not get it. */
  #waits: boolean

  constructor(request: IncomingMessage, response: ServerResponse, limits: ClientLimits, connection: Connection) {
    super(request.headers, limits, connection)
    this.#request = request
    this.#response = response
    this.#waits = expectsContinue(request.headers)
    this.incoming = {
      proceed: () => {
        if (this.#waits) response.writeContinue()
        this.#waits = false
      },
      receive({ data, end, cut }) {
        request.on('data', data)
        request.on('end', end)
        request.on('close', cut)
        request.on('error', cut)
      },
    }
    response.on('error', () => {})
    response.once('close', () => this.closed(!response.writableFinished))
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get url(): string {
    return this.#request.url ?? '/'
  }

  get socket(): TLSSocket {
    return this.#request.socket as TLSSocket
  }

  get status(): number {
    return this.#response.headersSent ? this.#response.statusCode : 0
  }

  respond(status: number, extra: Headers, body?: Uint8Array | readonly Uint8Array[], sent?: () => void): void {
    const response = this.#response
    if (response.headersSent || response.destroyed) return
    const chunks = chunksOf(body)
    const size = bytesOf(chunks)
    // Whether the body follows is up to the client, so the next request cannot be found on this connection.
    if (this.#waits || this.closing) response.shouldKeepAlive = false
    this.hold(size)
    response.writeHead(status, phraseOf(status), { 'audit-id': this.auditId, ...extra, 'content-length': size })
    if (chunks.length > 0) sendChunks(response, chunks, sent)
    else response.end()
  }

  stream(status: number, extra: Headers): Outgoing {
    const response = this.#response
    response.writeHead(status, phraseOf(status), { 'audit-id': this.auditId, ...extra })
    response.flushHeaders()
    return streamTo(response, (bytes) => this.holdStream(bytes))
  }

  protected cut(): void {
    this.#response.destroy()
  }
}

/** Clients show the reason phrase to people. Go and Node differ in one of them. */
function phraseOf(status: number): string {
  return status === 413 ? 'Request Entity Too Large' : (STATUS_CODES[status] ?? `status code ${status}`)
}

interface StreamSink {
  readonly destroyed: boolean
  readonly writableLength: number
  write(chunk: Uint8Array): boolean
  end(): unknown
  destroy(): unknown
  on(event: 'drain', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** @param hold Reports how much is unsent while the client reads too slowly. */
export function streamTo(sink: StreamSink, hold: (bytes: number) => void): Outgoing {
  // Reading the state of the sink takes as long as a write.
  let open = !sink.destroyed
  let held = false
  sink.once('close', () => {
    open = false
  })
  sink.on('drain', () => {
    if (held) hold(0)
    held = false
  })
  return {
    write(chunk) {
      if (!open || sink.write(chunk)) return true
      held = true
      hold(sink.writableLength)
      return false
    },
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
