import { connect, type TLSSocket } from 'node:tls'
import type { Http } from './http.js'

/** The opcode of a text frame. */
export const TEXT = 1
/** The opcode of a ping frame. */
export const PING = 9
/** The opcode of a close frame. */
export const CLOSE = 8

/** The example of RFC 6455, so that the expected response is known. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const PATIENCE_MS = 120_000

/** A WebSocket frame. */
export interface Frame {
  readonly opcode: number
  readonly payload: Buffer
}

/** Headers of the handshake that a client overrides, or omits with ''. */
export type Handshake = Readonly<Record<string, string>>

/** A WebSocket request on a new connection, sent as raw bytes without corrections by a library. */
export class RawWebSocket {
  #received = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => {}

  private constructor(readonly socket: TLSSocket) {
    const wake = () => this.#wake()
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#ended = true
      wake()
    })
  }

  static async open(http: Http, path: string, handshake: Handshake = {}): Promise<RawWebSocket> {
    const { hostname, port, host } = new URL(http.url)
    const { ca, cert, key, token } = http.credentials
    const socket = connect({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] })
    const raw = new RawWebSocket(socket)
    const headers: Record<string, string> = {
      host,
      connection: 'Upgrade',
      upgrade: 'websocket',
      origin: 'https://console.example',
      'sec-websocket-version': '13',
      'sec-websocket-key': KEY,
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...handshake,
    }
    const lines = Object.entries(headers).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}\r\n`]))
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    return raw
  }

  /** Returns the status and the headers for the WebSocket. */
  async head(): Promise<string[]> {
    await this.#until(() => this.#received.includes('\r\n\r\n'))
    const end = this.#received.indexOf('\r\n\r\n')
    const lines = this.#received.subarray(0, end).toString().split('\r\n')
    this.#received = this.#received.subarray(end + 4)
    const shown = lines.filter((line, i) => i === 0 || /^(upgrade|sec-websocket-[a-z]+|content-type):/i.test(line))
    return shown.map((line) => line.replace(/^[\w-]+:/, (name) => name.toLowerCase()))
  }

  /** Returns all data until the server closes the connection. */
  async rest(): Promise<string> {
    await this.#until(() => this.#ended)
    return this.#received.toString()
  }

  /** Returns the next frame, or undefined if the connection is closed. */
  async next(): Promise<Frame | undefined> {
    let size = 0
    let length = 0
    await this.#until(() => {
      const bytes = this.#received
      if (bytes.length < 2) return this.#ended
      const short = bytes[1]!
      size = short === 127 ? 10 : short === 126 ? 4 : 2
      if (bytes.length < size) return this.#ended
      length = size === 2 ? short : size === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
      return this.#ended || bytes.length >= size + length
    })
    const bytes = this.#received
    if (bytes.length < size + length || size === 0) return undefined
    this.#received = bytes.subarray(size + length)
    return { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(size, size + length) }
  }

  send(opcode: number, text: string): void {
    const mask = Buffer.from([7, 11, 13, 17])
    const payload = Buffer.from(text, 'latin1').map((byte, i) => byte ^ mask[i & 3]!)
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, payload]))
  }

  close(): void {
    this.socket.destroy()
  }

  async #until(done: () => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (!done()) {
      if (Date.now() > deadline) throw new Error(`nothing more within ${PATIENCE_MS / 1000} s`)
      if (this.#ended) throw new Error(`the connection ended after ${JSON.stringify(this.#received.toString())}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}
