import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { messageOf } from '@crosstie/kube'
import type { Access, TlsMaterial } from './access.js'
import { Http1Connection } from './http1.js'
import { Http2Connection } from './http2.js'
import { openTunnel, proxyFor } from './proxy.js'
import { type Connection, ConnectionError, type HttpRequest, type HttpResponse } from './transport.js'

const CONNECT_WITHIN_MS = 15_000
/** Enough for thousands of watches. Beyond that, requests share the existing connections. */
const CONNECTIONS_MAX = 32

/** A pool of connections to one server. Connections are opened on demand, reused, and replaced when lost. */
export class ConnectionPool {
  readonly #access: Access
  readonly #server: URL
  readonly #http1: boolean
  #connections: Connection[] = []
  #opening: Promise<Connection> | undefined
  #closed = false

  constructor(access: Access, http1: boolean) {
    this.#access = access
    this.#http1 = http1
    this.#server = new URL(access.server)
  }

  async send(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const connection = await this.#free()
    return await connection.send(request, signal)
  }

  /** Routes new requests over new connections, so that a renewed certificate is used. */
  renew(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections = []
  }

  destroy(): void {
    this.#closed = true
    for (const connection of this.#connections) connection.destroy()
    this.#connections = []
  }

  async #free(): Promise<Connection> {
    for (;;) {
      if (this.#closed) throw new ConnectionError('the client is closed', { sent: false })
      this.#connections = this.#connections.filter((connection) => !connection.ended)
      const free = this.#connections.find((connection) => connection.free)
      if (free) return free
      // A connection queues requests beyond its stream limit.
      if (this.#connections.length >= CONNECTIONS_MAX)
        return this.#connections[Math.floor(Math.random() * CONNECTIONS_MAX)]!
      // Concurrent requests wait for the same connection attempt, then check again.
      await this.#open()
    }
  }

  #open(): Promise<Connection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<Connection> {
    const tls = await this.#access.tls()
    const proxy = this.#access.proxy ?? proxyFor(this.#server, process.env)
    const connection = await openConnection(this.#server, tls, this.#http1, proxy)
    if (this.#closed) {
      connection.destroy()
      throw new ConnectionError('the client is closed', { sent: false })
    }
    this.#connections.push(connection)
    return connection
  }
}

async function openConnection(
  server: URL,
  tls: TlsMaterial,
  http1: boolean,
  proxy: string | undefined,
): Promise<Connection> {
  const open = (protocols: readonly string[]) => openSocket(server, tls, protocols, proxy)
  const oldFashioned = () =>
    new Http1Connection(server, tls, proxy === undefined ? undefined : () => open(['http/1.1']))
  if (http1 || server.protocol === 'http:') return oldFashioned()
  const socket = await open(['h2', 'http/1.1'])
  if (socket.alpnProtocol === 'h2') return new Http2Connection(server.origin, socket)
  socket.destroy()
  return oldFashioned()
}

async function openSocket(
  server: URL,
  tls: TlsMaterial,
  protocols: readonly string[],
  proxy: string | undefined,
): Promise<TLSSocket> {
  try {
    return await within(CONNECT_WITHIN_MS, async (track) => {
      const tunnel = proxy === undefined ? undefined : track(await openTunnel(server, proxy))
      const host = server.hostname.replace(/^\[|\]$/g, '')
      const socket = track(
        tlsConnect({
          ...(tunnel ? { socket: tunnel } : { host, port: Number(server.port || 443) }),
          ALPNProtocols: [...protocols],
          // TLS server names must not be IP addresses.
          ...(isIP(host) ? { host } : { servername: host }),
          ...tls,
        }),
      )
      socket.setNoDelay(true)
      await once(socket, 'secureConnect')
      return socket
    })
  } catch (cause) {
    throw new ConnectionError(`cannot connect to ${server.host}: ${messageOf(cause)}`, { cause, sent: false })
  }
}

/** Runs a step with a timeout. When it fails, the sockets that the step registered are destroyed. */
async function within<T>(
  milliseconds: number,
  step: (track: <S extends Socket>(socket: S) => S) => Promise<T>,
): Promise<T> {
  const sockets: Socket[] = []
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${milliseconds / 1000} s`)), milliseconds)
  })
  const track = <S extends Socket>(socket: S): S => {
    sockets.push(socket)
    return socket
  }
  try {
    return await Promise.race([step(track), late])
  } catch (error) {
    for (const socket of sockets) socket.on('error', () => {}).destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}
