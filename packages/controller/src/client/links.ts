import { isIP } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { messageOf } from '@crosstie/kube'
import type { Access, TlsMaterial } from './access.js'
import { Http1Link } from './http1.js'
import { Http2Link } from './http2.js'
import { type Answer, type Asked, ConnectionError, type Link } from './transport.js'

const CONNECT_WITHIN_MS = 15_000
/** Enough for thousands of watches; past that requests share what there is. */
const LINKS_MAX = 32

/** Connections to one server: opened when needed, used again, replaced when lost. */
export class Links {
  readonly #access: Access
  readonly #server: URL
  readonly #http1: boolean
  #links: Link[] = []
  #opening: Promise<Link> | undefined
  #closed = false

  constructor(access: Access, http1: boolean) {
    this.#access = access
    this.#http1 = http1
    this.#server = new URL(access.server)
  }

  async send(asked: Asked, signal: AbortSignal | undefined): Promise<Answer> {
    const link = await this.#free()
    return await link.send(asked, signal)
  }

  /** New requests go over new connections, with whatever certificate there is by then. */
  renew(): void {
    for (const link of this.#links) link.close()
    this.#links = []
  }

  destroy(): void {
    this.#closed = true
    for (const link of this.#links) link.destroy()
    this.#links = []
  }

  async #free(): Promise<Link> {
    for (;;) {
      if (this.#closed) throw new ConnectionError('the client is closed', { sent: false })
      this.#links = this.#links.filter((link) => !link.ended)
      const free = this.#links.find((link) => link.free)
      if (free) return free
      // Requests beyond what a connection takes at once wait inside of it.
      if (this.#links.length >= LINKS_MAX) return this.#links[Math.floor(Math.random() * LINKS_MAX)]!
      // Whoever comes while a connection is being opened waits for the same one, and looks again.
      await this.#open()
    }
  }

  #open(): Promise<Link> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<Link> {
    const tls = await this.#access.tls()
    const link = await openLink(this.#server, tls, this.#http1)
    if (this.#closed) {
      link.destroy()
      throw new ConnectionError('the client is closed', { sent: false })
    }
    this.#links.push(link)
    return link
  }
}

async function openLink(server: URL, tls: TlsMaterial, http1: boolean): Promise<Link> {
  if (http1 || server.protocol === 'http:') return new Http1Link(server, tls)
  const socket = await openSocket(server, tls)
  if (socket.alpnProtocol === 'h2') return new Http2Link(server.origin, socket)
  socket.destroy()
  return new Http1Link(server, tls)
}

function openSocket(server: URL, tls: TlsMaterial): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const host = server.hostname.replace(/^\[|\]$/g, '')
    const socket = tlsConnect({
      host,
      port: Number(server.port || 443),
      ALPNProtocols: ['h2', 'http/1.1'],
      // No server name is sent for addresses: the protocol has names only.
      ...(isIP(host) ? {} : { servername: host }),
      ...tls,
    })
    const fail = (cause: unknown) => {
      socket.destroy()
      const message = `cannot connect to ${server.host}: ${messageOf(cause)}`
      reject(new ConnectionError(message, { cause, sent: false }))
    }
    const failed = (error: Error) => {
      clearTimeout(timer)
      fail(error)
    }
    const timer = setTimeout(() => fail(new Error(`no answer in ${CONNECT_WITHIN_MS / 1000} s`)), CONNECT_WITHIN_MS)
    socket.setNoDelay(true)
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.removeListener('error', failed)
      resolve(socket)
    })
  })
}
