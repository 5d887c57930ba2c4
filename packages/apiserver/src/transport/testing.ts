import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { openPki } from '../access/pki.js'
import type { Exchange } from './exchange.js'
import type { ConnectionLimits } from './limits.js'
import { Listener } from './listener.js'

/** Types of HTTP/2 frames (RFC 9113, section 6). */
export const Frame = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

/** Flags of HTTP/2 frames. */
export const Flag = { END_STREAM: 1, END_HEADERS: 4, PADDED: 8 } as const

/** The id of the setting. */
export const INITIAL_WINDOW_SIZE = 4

/** Waits for a condition. */
export async function until(condition: () => boolean, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!condition()) {
    if (Date.now() > deadline) assert.fail(`not within ${withinMs} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Responds with the body of the request. The header `x-user` names the client. */
export function echo(exchange: Exchange): void {
  void serve(exchange, async () => exchange.respond(200, { 'content-type': 'text/plain' }, await exchange.body()))
}

/** Admits the request as the API server does, runs the handler, and responds with its error. */
export async function serve(exchange: Exchange, handle: () => void | Promise<void>): Promise<void> {
  try {
    exchange.admit({ name: String(exchange.headers['x-user'] ?? 'user'), exempt: false }, 'request')
    await handle()
  } catch (error) {
    const { code, message } = error as { code: number; message: string }
    exchange.respond(code, {}, Buffer.from(message))
  } finally {
    exchange.finish()
  }
}

/** The response to a request. */
export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Waits for the response on a stream. */
export function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => resolve({ status, body: Buffer.concat(chunks) }))
    stream.on('error', reject)
  })
}

/** Sends a request and waits for the response. */
export function request(client: ClientHttp2Session, path: string, body?: Buffer, user = 'user'): Promise<Answer> {
  const stream = client.request({ ':path': path, ':method': body ? 'POST' : 'GET', 'x-user': user })
  stream.end(body)
  return answerOf(stream)
}

/** Listeners and clients of a test file. */
export class Workbench {
  readonly #open: { close(): unknown }[] = []
  #folder = ''
  #tls = { cert: '', key: '', clientCa: '' }

  async prepare(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'crosstie-transport-'))
    const { serving, ca } = await openPki({ dataDir: this.#folder, host: '127.0.0.1', clock: { now: Date.now } })
    this.#tls = { ...serving, clientCa: ca }
  }

  get ca(): string {
    return this.#tls.clientCa
  }

  /** Closes the clients and listeners of a test, the newest first. */
  async clear(): Promise<void> {
    for (const one of this.#open.splice(0).reverse()) await one.close()
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  async listener(handle: (exchange: Exchange) => void, limits: Partial<ConnectionLimits> = {}): Promise<Listener> {
    return await Listener.open({ ...this.#tls, host: '127.0.0.1', port: 0, limits }, handle)
  }

  /** The port of a listener that is closed after the test. */
  async listen(handle: (exchange: Exchange) => void, limits?: Partial<ConnectionLimits>): Promise<number> {
    const listener = await this.listener(handle, limits)
    this.#open.push({ close: () => listener.close(0) })
    return listener.address.port
  }

  session(port: number, options: object = {}): ClientHttp2Session {
    const client = connectHttp2(`https://127.0.0.1:${port}`, { ca: this.ca, maxSessionMemory: 1_000, ...options })
    client.on('error', () => {})
    this.#open.push({ close: () => client.destroy() })
    return client
  }

  async socket(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
    const socket = connectTls({ port, host: '127.0.0.1', ca: this.ca, ALPNProtocols: [protocol] })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    socket.on('error', () => {})
    this.#open.push({ close: () => socket.destroy() })
    return socket
  }

  /** A connection on which the test writes the frames of HTTP/2 itself. */
  async raw(port: number, ...settings: (readonly [number, number])[]): Promise<RawConnection> {
    const raw = new RawConnection(await this.socket(port, 'h2'))
    raw.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settingsFrame(settings))
    return raw
  }
}

/** A frame that was received. */
export interface ReceivedFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

const FRAME_HEAD_BYTES = 9

/** A connection that speaks HTTP/2 frame by frame. */
export class RawConnection {
  readonly frames: ReceivedFrame[] = []
  closed = false
  #rest = Buffer.alloc(0)

  constructor(readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => {
      this.closed = true
    })
  }

  send(...frames: readonly Uint8Array[]): void {
    if (!this.closed) this.socket.write(Buffer.concat(frames))
  }

  /** Waits for a frame. */
  async frame(type: number, matches: (frame: ReceivedFrame) => boolean = () => true): Promise<ReceivedFrame> {
    const find = () => this.frames.find((frame) => frame.type === type && matches(frame))
    await until(() => find() !== undefined || this.closed)
    const found = find()
    assert.ok(found, `the connection ended without a frame of type ${type}`)
    return found
  }

  /** The body of a response so far. */
  data(stream: number): Buffer {
    const frames = this.frames.filter((frame) => frame.type === Frame.DATA && frame.stream === stream)
    return Buffer.concat(frames.map(({ payload }) => payload))
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      if (this.#rest.length < FRAME_HEAD_BYTES) return
      const end = FRAME_HEAD_BYTES + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) return
      const [type = 0, flags = 0] = this.#rest.subarray(3, 5)
      const stream = this.#rest.readUInt32BE(5)
      this.frames.push({ type, flags, stream, payload: this.#rest.subarray(FRAME_HEAD_BYTES, end) })
      this.#rest = this.#rest.subarray(end)
    }
  }
}

/** Returns the bytes of a frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A frame whose payload is one number, for example RST_STREAM and WINDOW_UPDATE. */
export function numberFrame(type: number, stream: number, number: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(number)
  return frame(type, 0, stream, payload)
}

/** Returns a SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length)
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  })
  return frame(Frame.SETTINGS, 0, 0, payload)
}

/** A header field in HPACK, without compression. */
export function literal(name: string, value: string): Buffer {
  const string = (text: string) => {
    assert.ok(text.length < 127)
    return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
  }
  return Buffer.concat([Buffer.from([0]), string(name), string(value)])
}

/** Returns the header block of a request. */
export function headerBlock(method = 'GET', path = '/', ...more: Buffer[]): Buffer {
  const fields = [literal(':method', method), literal(':scheme', 'https'), literal(':path', path)]
  return Buffer.concat([...fields, literal(':authority', 'localhost'), ...more])
}

/** Returns the HEADERS frame of a GET. */
export function getFrame(stream: number, path = '/'): Buffer {
  return frame(Frame.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, stream, headerBlock('GET', path))
}

/** Returns the HEADERS frame of a POST, whose body follows. */
export function postFrame(stream: number): Buffer {
  return frame(Frame.HEADERS, Flag.END_HEADERS, stream, headerBlock('POST'))
}
