import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { messageOf } from '@crosstie/kube'
import type { TlsMaterial } from './access.js'
import { type Connection, ConnectionError, type HttpRequest, type HttpResponse } from './transport.js'

/** Every watch occupies one connection. */
const CONNECTIONS_MAX = 512

/** HTTP/1.1 connections, for servers and proxies that do not support HTTP/2. */
export class Http1Connection implements Connection {
  readonly #server: URL
  readonly #agent: HttpAgent | HttpsAgent
  #closed = false

  /** `open` replaces the default way to connect, for example through a proxy. */
  constructor(server: URL, tls: TlsMaterial, open?: () => Promise<Socket>) {
    this.#server = server
    const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX }
    this.#agent = server.protocol === 'http:' ? new HttpAgent(options) : new HttpsAgent({ ...options, ...tls })
    if (open) {
      const createConnection = (_: unknown, done: (error: Error | null, socket?: Socket) => void) => {
        open().then((socket) => done(null, socket), done)
      }
      Object.assign(this.#agent, { createConnection })
    }
  }

  get free(): boolean {
    return !this.#closed
  }

  get ended(): boolean {
    return this.#closed
  }

  send({ method, path, headers, body }: HttpRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const { protocol, hostname, port } = this.#server
      const send = protocol === 'http:' ? httpRequest : httpsRequest
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const options = {
        agent: this.#agent,
        // URL keeps the brackets of an IPv6 address; sockets expect it without them.
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers: { ...headers, ...length },
        ...(signal ? { signal } : {}),
      }
      const request = send(options, (message: IncomingMessage) =>
        resolve({ status: message.statusCode ?? 0, headers: message.headers, body: message }),
      )
      request.on('error', (cause) => {
        if (signal?.aborted) reject(signal.reason)
        else reject(new ConnectionError(messageOf(cause), { cause, sent: request.reusedSocket || !isRefusal(cause) }))
      })
      request.end(body)
    })
  }

  close(): void {
    this.#closed = true
  }

  destroy(): void {
    this.#closed = true
    this.#agent.destroy()
  }
}

function isRefusal(error: unknown): boolean {
  const code = (error as { code?: string }).code
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH' || code === 'EAI_AGAIN'
}
