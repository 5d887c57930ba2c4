import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { type Body, expectsContinue } from './body.js'
import { CLOSE_GRACE_MS, type Connection, type Protocol } from './connections.js'
import {
  bytesOf,
  CountedExchange,
  chunksOf,
  type Exchange,
  type Headers,
  type Outgoing,
  sendChunks,
} from './exchange.js'
import { streamTo } from './http1.js'
import { AbuseBudget, type ClientLimits } from './limits.js'

const STREAMS_PER_CONNECTION_MAX = 1_000
/** A client that lists several kinds at once does so on one connection. The backlog bounds all connections together. */
const SESSION_MEGABYTES_MAX = 256
const HEADER_PAIRS_MAX = 1_000
const INVALID_FRAMES_MAX = 100

/** Pings, settings and aborted streams. nghttp2 uses the same figures for the resets of clients. */
const EVENTS_BURST = 1_000
const EVENTS_PER_SECOND = 33

/** Bytes that a client may send beyond its requests: a start, per second, per request and per byte of a response. */
const OVERHEAD_BYTES = 1024 * 1024
const OVERHEAD_BYTES_PER_SECOND = 8 * 1024
const OVERHEAD_PER_BODY_BYTE = 1.25
const OVERHEAD_PER_SENT_BYTE = 1 / 16

/** Headers, and the part of an unwanted body that is under way before the client learns so: Node's stream window. */
const REQUEST_BYTES = 72 * 1024

type RequestHeaders = IncomingHttpHeaders

/** A request of HTTP/2 through Node's streams. Node's compatibility API takes twice the CPU time. */
export class Http2Exchange extends CountedExchange implements Exchange {
  readonly #stream: ServerHttp2Stream
  readonly #socket: TLSSocket
  readonly #headers: RequestHeaders
  protected readonly incoming: Body
  #status = 0

  constructor(
    stream: ServerHttp2Stream,
    headers: RequestHeaders,
    { limits, connection, socket, aborted }: SessionContext & { aborted(): void },
  ) {
    super(headers, limits, connection)
    this.#stream = stream
    this.#socket = socket
    this.#headers = headers
    this.incoming = bodyOf(stream, headers)
    stream.on('error', () => {}) // 'close' follows.
    stream.once('close', () => {
      // Reset by the client, or by the server because of an error of the client. In both cases the work was wasted.
      const wasted = stream.rstCode !== constants.NGHTTP2_NO_ERROR
      this.closed(wasted)
      if (wasted) aborted()
    })
  }

  get method(): string {
    return this.#headers[':method'] ?? 'GET'
  }

  get url(): string {
    return this.#headers[':path'] ?? '/'
  }

  get socket(): TLSSocket {
    return this.#socket
  }

  get status(): number {
    return this.#status
  }

  respond(status: number, extra: Headers, body?: Uint8Array | readonly Uint8Array[], sent?: () => void): void {
    const stream = this.#stream
    this.#status = status
    if (stream.destroyed || stream.closed || stream.headersSent) return
    const chunks = chunksOf(body)
    const size = bytesOf(chunks)
    const bodyless = size === 0 || this.method === 'HEAD'
    this.hold(size)
    stream.respond(
      { ':status': status, 'audit-id': this.auditId, ...extra, 'content-length': size },
      { endStream: bodyless },
    )
    if (!bodyless) sendChunks(stream, chunks, sent)
    // The client still sends a body that is not read. After the response the stream is reset without an error.
    if (stream.readableFlowing && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
  }

  stream(status: number, extra: Headers): Outgoing {
    const stream = this.#stream
    this.#status = status
    if (!stream.destroyed && !stream.closed) stream.respond({ ':status': status, 'audit-id': this.auditId, ...extra })
    return streamTo(stream, (bytes) => this.holdStream(bytes))
  }

  protected cut(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }
}

function bodyOf(stream: ServerHttp2Stream, headers: RequestHeaders): Body {
  return {
    proceed() {
      if (expectsContinue(headers) && !stream.destroyed) stream.additionalHeaders({ ':status': 100 })
    },
    receive({ data, end, cut }) {
      stream.on('data', data)
      // A stream also ends when its client disconnects. A partial YAML document would count as a complete one.
      stream.on('end', () => (stream.aborted ? cut() : end()))
      stream.on('close', cut)
      stream.on('error', cut)
    },
  }
}

/** The connection of an HTTP/2 session and its limits. */
export interface SessionContext {
  readonly socket: TLSSocket
  readonly connection: Connection
  readonly limits: ClientLimits
  readonly headerBytesMax: number
}

/** Serves HTTP/2 on a connection through Node, and watches for floods that Node does not limit. */
export function serveHttp2(context: SessionContext, handle: (exchange: Exchange) => void): Protocol {
  const { socket, connection } = context
  const session = performServerHandshake(socket, {
    settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION_MAX, maxHeaderListSize: context.headerBytesMax },
    maxSessionMemory: SESSION_MEGABYTES_MAX,
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    maxSessionInvalidFrames: INVALID_FRAMES_MAX,
  } as object)
  const budget = new AbuseBudget(EVENTS_BURST, EVENTS_PER_SECOND)
  let refused = false
  // Node calls back while nghttp2 reads. Destroying the session at that moment fails an assertion of Node and ends the
  // process (nodejs/node#38964), so the end of a session always waits for the next turn of the event loop.
  const refuse = () => {
    if (!refused) setImmediate(() => end(session))
    refused = true
  }
  const spend = () => {
    if (!budget.spend()) refuse()
  }
  session.on('error', () => {}) // 'close' follows, and every stream gets it.
  session.on('ping', spend)
  session.on('remoteSettings', spend)
  session.on('stream', (stream, headers) => {
    if (refused) drop(stream)
    else handle(new Http2Exchange(stream, headers, { ...context, aborted: spend }))
  })
  let ended = Number.POSITIVE_INFINITY
  session.once('close', () => {
    ended = Date.now()
  })
  return {
    close: () => void setImmediate(() => session.close()),
    check(now) {
      // Node ends the session after an error and waits for the client to close the connection.
      if (now - ended > CLOSE_GRACE_MS) return false
      if (bytesOfNoUse(connection, socket, now) <= OVERHEAD_BYTES) return true
      end(session)
      return false
    },
  }
}

/** nghttp2 has no event for most frames. A flood shows in bytes that carry neither headers nor bodies. */
function bytesOfNoUse(connection: Connection, socket: TLSSocket, now: number): number {
  const seconds = (now - connection.since) / 1000
  const useful =
    connection.requests * REQUEST_BYTES +
    connection.bodyBytesTotal * OVERHEAD_PER_BODY_BYTE +
    socket.bytesWritten * OVERHEAD_PER_SENT_BYTE +
    seconds * OVERHEAD_BYTES_PER_SECOND
  return socket.bytesRead - useful
}

/** A request that arrived in the same read as the end of the budget. */
function drop(stream: ServerHttp2Stream): void {
  stream.on('error', () => {})
  stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
}

function end(session: ServerHttp2Session): void {
  if (!session.destroyed) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
}
