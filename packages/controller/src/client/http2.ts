import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { messageOf } from '@crosstie/kube'
import { type Connection, ConnectionError, type HttpRequest, type HttpResponse } from './transport.js'

const STREAM_WINDOW = 4 * 1024 * 1024
const SESSION_WINDOW = 32 * 1024 * 1024
/** Megabytes. Node's default is exhausted by a few large lists. */
const SESSION_MEMORY_MB = 128
/** The usual limit of servers, until this server announces its own. */
const STREAMS_MAX = 100
/** Interval of pings on an idle connection. Without them the watches of a lost connection would hang forever. */
const PING_EVERY_MS = 30_000
const PONG_WITHIN_MS = 15_000

/** Multiplexes requests over one HTTP/2 connection. */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session
  readonly #pings: NodeJS.Timeout
  /** Streams whose response is not complete. */
  readonly #streams = new Set<ClientHttp2Stream>()
  #draining = false
  /** The last stream that the server processed before it sent GOAWAY. Higher streams may be retried. */
  #lastTaken = Number.POSITIVE_INFINITY

  constructor(origin: string, socket: TLSSocket) {
    this.#session = connect(origin, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    })
    const session = this.#session
    // The event comes after the session was destroyed when the client is closed at once.
    session.on('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW)
    })
    // Each request learns the cause from its own stream.
    session.on('error', () => this.#drain())
    session.on('close', () => {
      this.#drain()
      // Node does not end streams that wait for a connection that failed.
      for (const stream of this.#streams) stream.destroy()
    })
    session.on('goaway', (_code, lastStream) => {
      if (lastStream > 0) this.#lastTaken = lastStream
      this.#drain()
    })
    this.#pings = setInterval(() => this.#ping(), PING_EVERY_MS).unref()
  }

  get ended(): boolean {
    return this.#draining || this.#session.destroyed || this.#session.closed
  }

  get free(): boolean {
    if (this.ended) return false
    return this.#streams.size < Math.min(this.#session.remoteSettings.maxConcurrentStreams ?? STREAMS_MAX, 1000)
  }

  send({ method, path, headers, body }: HttpRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const stream = this.#open(method, path, headers, body)
      if (stream instanceof ConnectionError) {
        reject(stream)
        return
      }
      this.#streams.add(stream)
      let failure: unknown
      let responded = false
      const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
      signal?.addEventListener('abort', cancel)
      stream.on('error', (error) => {
        failure = error
      })
      stream.on('close', () => {
        this.#streams.delete(stream)
        signal?.removeEventListener('abort', cancel)
        if (responded) return
        reject(signal?.aborted ? signal.reason : this.#lost(failure, stream.id, stream.rstCode))
      })
      stream.on('response', (response) => {
        responded = true
        // From here on the reader of the body cancels the request by destroying the body.
        signal?.removeEventListener('abort', cancel)
        resolve({ status: response[':status'] ?? 0, headers: response as HttpResponse['headers'], body: stream })
      })
      stream.end(body)
    })
  }

  close(): void {
    this.#drain()
  }

  destroy(): void {
    this.#drain()
    this.#session.destroy()
  }

  #open(method: string, path: string, headers: HttpRequest['headers'], body: string | undefined) {
    try {
      return this.#session.request(
        { ':method': method, ':path': path, ...headers },
        // Kubernetes accepts a body with DELETE; Node sends none unless `endStream` is false.
        { endStream: body === undefined },
      )
    } catch (cause) {
      this.#drain()
      return new ConnectionError(messageOf(cause), { cause, sent: false })
    }
  }

  #lost(cause: unknown, id: number | undefined, code: number | undefined): ConnectionError {
    const refused = code === constants.NGHTTP2_REFUSED_STREAM
    const sent = id !== undefined && id <= this.#lastTaken && !refused
    const why = cause === undefined ? 'the connection was closed before a response arrived' : messageOf(cause)
    return new ConnectionError(why, { cause, sent })
  }

  #drain(): void {
    if (this.#draining) return
    this.#draining = true
    clearInterval(this.#pings)
    if (!this.#session.destroyed && !this.#session.closed) this.#session.close()
  }

  #ping(): void {
    // The session may have ended before its event arrives. A ping would then throw without a handler.
    if (this.ended) {
      this.#drain()
      return
    }
    const timer = setTimeout(() => this.#session.destroy(new Error('no response to a ping')), PONG_WITHIN_MS).unref()
    this.#session.ping((error) => {
      if (!error) clearTimeout(timer)
    })
  }
}
