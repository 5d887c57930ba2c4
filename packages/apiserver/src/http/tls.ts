import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type Exchange, overHttp1, overHttp2, Patience } from './exchange.js'
import { overUpgrade } from './websocket.js'

export interface TlsOptions {
  readonly cert: string
  readonly key: string
  /** Whose client certificates are believed. */
  readonly clientCa: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** For a body to arrive, and for an answer to be read. */
  readonly requestTimeoutMs?: number
}

const STREAMS_PER_CONNECTION_MAX = 1_000
const SESSION_MEGABYTES_MAX = 256
const HEADER_TIMEOUT_MS = 32_000
const REQUEST_TIMEOUT_MS = 60_000
// Selectors, and tokens of people in many groups, get longer than Node's 16 KiB. Go takes a megabyte.
const HEADER_BYTES_MAX = 256 * 1024

/** HTTP/2 and HTTP/1.1 on one TLS port; clients choose. */
export class Listener {
  readonly #server: Http2SecureServer
  readonly #sessions = new Set<{ close(): void; destroy(): void }>()

  private constructor(server: Http2SecureServer) {
    this.#server = server
  }

  static async open(options: TlsOptions, handle: (exchange: Exchange) => void): Promise<Listener> {
    const server = createSecureServer({
      cert: options.cert,
      key: options.key,
      ca: options.clientCa,
      requestCert: true,
      // A certificate that is not ours is no identity, but health and version are for everybody.
      rejectUnauthorized: false,
      allowHTTP1: true,
      minVersion: 'TLSv1.2',
      settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION_MAX },
      // A client that lists several kinds at once does so on one connection; what all may hold is for Patience.
      maxSessionMemory: SESSION_MEGABYTES_MAX,
    })
    const listener = new Listener(server)
    const patience = new Patience(options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS)
    const take = (exchange: Exchange) => (patience.exhausted ? sendAway(exchange) : handle(exchange))
    server.on('request', (request, response) => take(overHttp1(request as never, response as never, patience)))
    server.on('upgrade', (request, socket, head) => take(overUpgrade(request, socket, head, patience)))
    // Listening to 'request' brought in the compatibility layer for HTTP/2 streams; they are ours.
    server.removeAllListeners('stream')
    server.on('stream', (stream: ServerHttp2Stream, headers) => take(overHttp2(stream, headers, patience)))
    server.on('session', (session) => {
      listener.#sessions.add(session)
      session.on('close', () => listener.#sessions.delete(session))
      session.on('error', () => {}) // 'close' follows, and the streams hear of it.
    })
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') return
      const connection = { close: () => socket.end(), destroy: () => socket.destroy() }
      listener.#sessions.add(connection)
      socket.on('close', () => listener.#sessions.delete(connection))
      socket.on('error', () => {})
    })
    server.on('tlsClientError', () => {})
    server.setTimeout(0)
    Object.assign(server, { headersTimeout: HEADER_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES_MAX })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: options.host, port: options.port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return listener
  }

  /** New connections get the new certificate; those that are open stay. */
  renew({ cert, key, clientCa }: Pick<TlsOptions, 'cert' | 'key' | 'clientCa'>): void {
    this.#server.setSecureContext({ cert, key, ca: clientCa })
  }

  get address(): { readonly host: string; readonly port: number } {
    const { address, port } = this.#server.address() as AddressInfo
    return { host: address, port }
  }

  /** Takes no new requests, lets those under way finish within the grace, then cuts. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    const cut = setTimeout(() => {
      for (const session of this.#sessions) session.destroy()
    }, graceMs)
    await closed
    clearTimeout(cut)
  }
}

/** The real server's words when it has too much to do. */
function sendAway(exchange: Exchange): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '1' }
  exchange.respond(429, headers, Buffer.from('Too many requests, please try again later.\n'))
}
