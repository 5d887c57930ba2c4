import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Connection } from '../http2/connection.js'
import type { Stream } from '../http2/stream.js'
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
  /** Told of failures that are ours, not the caller's. */
  readonly report?: (what: string, error: unknown) => void
}

const STREAMS_PER_CONNECTION_MAX = 1_000
const CONNECTION_WAITING_BYTES_MAX = 256 * 1024 * 1024
const HEADER_TIMEOUT_MS = 32_000
const REQUEST_TIMEOUT_MS = 60_000
// Selectors, and tokens of people in many groups, get longer than Node's 16 KiB. Go takes a megabyte.
const HEADER_BYTES_MAX = 256 * 1024

/** HTTP/2 and HTTP/1.1 on one TLS port; clients choose. */
export class Listener {
  readonly #server: Server
  readonly #connections = new Set<{ close(): void; destroy(): void }>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(options: TlsOptions, handle: (exchange: Exchange) => void): Promise<Listener> {
    const server = createServer({
      cert: options.cert,
      key: options.key,
      ca: options.clientCa,
      requestCert: true,
      // A certificate that is not ours is no identity, but health and version are for everybody.
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      headersTimeout: HEADER_TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: 0,
      requireHostHeader: false,
    })
    const listener = new Listener(server)
    const patience = new Patience(options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS)
    const take = (exchange: Exchange) => (patience.exhausted ? sendAway(exchange) : handle(exchange))
    server.on('request', (request, response) => take(overHttp1(request, response, patience)))
    server.on('upgrade', (request, socket, head) => take(overUpgrade(request, socket as TLSSocket, head, patience)))
    const terms = {
      streamsMax: STREAMS_PER_CONNECTION_MAX,
      headerBytesMax: HEADER_BYTES_MAX,
      // A client that lists several kinds at once does so on one connection; what all may hold is for Patience.
      waitingBytesMax: CONNECTION_WAITING_BYTES_MAX,
      accept: (stream: Stream) => take(overHttp2(stream, patience)),
      report: options.report ?? (() => {}),
    }
    // Node's server takes every connection for HTTP/1; those that chose HTTP/2 are ours.
    const speakHttp1 = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') {
        listener.#keep(new Connection(socket, terms), socket)
      } else {
        socket.on('error', () => {})
        for (const speak of speakHttp1) speak.call(server, socket)
        listener.#keep({ close: () => socket.end(), destroy: () => socket.destroy() }, socket)
      }
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: options.host, port: options.port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return listener
  }

  #keep(connection: { close(): void; destroy(): void }, socket: TLSSocket): void {
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
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
    for (const connection of this.#connections) connection.close()
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy()
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
