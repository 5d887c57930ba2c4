import { createServer, type Server } from 'node:https'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { Connections } from './connections.js'
import { connectionsAllowed } from './descriptors.js'
import type { Exchange } from './exchange.js'
import { Http1Exchange } from './http1.js'
import { serveHttp2 } from './http2.js'
import { ClientLimits, type ConnectionLimits, defaultConnectionLimits } from './limits.js'
import { UpgradeExchange } from './websocket.js'

/** The TLS options of a listener. */
export interface TlsOptions {
  readonly cert: string
  readonly key: string
  /** Client certificates of this CA are accepted. */
  readonly clientCa: string
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly limits?: Partial<ConnectionLimits>
}

// Selectors, and tokens of users in many groups, exceed Node's 16 KiB. Go accepts a megabyte.
const HEADER_BYTES_MAX = 256 * 1024
const SWEEP_MS = 1_000

/** HTTP/2, HTTP/1.1 and WebSocket on one TLS port. */
export class Listener {
  readonly #server: Server
  readonly #connections: Connections
  readonly #limits: ConnectionLimits
  readonly #clients: ClientLimits
  readonly #handle: (exchange: Exchange) => void
  readonly #sweeper: NodeJS.Timeout
  #closing = false

  private constructor(options: TlsOptions, handle: (exchange: Exchange) => void) {
    this.#limits = { ...defaultConnectionLimits, ...options.limits }
    this.#clients = new ClientLimits(this.#limits.requestTimeoutMs)
    this.#connections = new Connections(this.#limits.connections ?? connectionsAllowed())
    this.#handle = handle
    this.#server = openServer(options, this.#limits)
    this.#connect(this.#server)
    const { requestTimeoutMs, idleTimeoutMs, headerTimeoutMs } = this.#limits
    const sweepMs = Math.min(SWEEP_MS, requestTimeoutMs / 4, idleTimeoutMs / 4, headerTimeoutMs / 4)
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref()
  }

  static async open(options: TlsOptions, handle: (exchange: Exchange) => void): Promise<Listener> {
    const listener = new Listener(options, handle)
    const server = listener.#server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: options.host, port: options.port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return listener
  }

  #connect(server: Server): void {
    // Node's server treats every connection as HTTP/1.1. Connections that negotiated HTTP/2 are handled separately.
    const serveHttp1 = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
    server.removeAllListeners('secureConnection')
    server.prependListener('connection', (socket) => {
      if (socket instanceof Socket) this.#connections.accept(socket)
    })
    server.on('secureConnection', (socket) => {
      const connection = this.#connections.find(socket)
      if (!connection || this.#closing) {
        socket.destroy()
        return
      }
      connection.socket = socket
      socket.on('close', () => this.#connections.remove(connection))
      if (socket.alpnProtocol === 'h2') {
        const context = { socket, connection, limits: this.#clients, headerBytesMax: HEADER_BYTES_MAX }
        connection.protocol = serveHttp2(context, this.#handle)
        return
      }
      socket.on('error', () => {})
      for (const serve of serveHttp1) serve.call(server, socket)
      // Without this listener Node's parser reads from the TLS handle directly. TLS delivers records that are decrypted
      // already after the parser was paused for a full write buffer, and the parser fails with "Parse Error: Paused".
      socket.on('data', () => {})
      connection.protocol = {
        close() {
          if (connection.active === 0) socket.end()
        },
      }
    })
    server.on('request', (request, response) => {
      const connection = this.#connections.find(request.socket)
      if (connection) this.#handle(new Http1Exchange(request, response, this.#clients, connection))
      else request.socket.destroy()
    })
    server.on('checkContinue', (request, response) => server.emit('request', request, response))
    server.on('upgrade', (request, socket, head) => {
      const connection = socket instanceof TLSSocket && this.#connections.find(socket)
      if (connection) this.#handle(new UpgradeExchange(request, { socket, head }, this.#clients, connection))
      else socket.destroy()
    })
    server.on('tlsClientError', () => {})
  }

  #sweep(): void {
    const now = Date.now()
    this.#clients.sweep(now)
    this.#connections.check(now, this.#limits)
  }

  /** Uses new certificates for new connections. Open connections keep theirs. */
  renew({ cert, key, clientCa }: Pick<TlsOptions, 'cert' | 'key' | 'clientCa'>): void {
    this.#server.setSecureContext({ cert, key, ca: clientCa })
  }

  get address(): { readonly host: string; readonly port: number } {
    const bound = this.#server.address()
    if (bound === null || typeof bound === 'string') throw new Error('the server does not listen on a TCP port')
    return { host: bound.address, port: bound.port }
  }

  /** Accepts no new requests, waits for running ones within the grace period, then closes their connections. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#connections.close()
    const cut = setTimeout(() => this.#connections.destroy(), graceMs)
    await closed
    clearTimeout(cut)
    clearInterval(this.#sweeper)
  }
}

function openServer({ cert, key, clientCa }: TlsOptions, limits: ConnectionLimits): Server {
  return createServer({
    cert,
    key,
    ca: clientCa,
    requestCert: true,
    // A certificate of another CA is not an identity, but health and version are public.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeTimeoutMs,
    headersTimeout: limits.headerTimeoutMs,
    // A late body is answered before this timeout. It closes connections that send an unread body without end.
    requestTimeout: limits.headerTimeoutMs + 2 * limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headerTimeoutMs / 2),
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: limits.idleTimeoutMs,
    requireHostHeader: false,
  })
}
