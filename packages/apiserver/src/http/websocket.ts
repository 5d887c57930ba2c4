import { createHash } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Exchange, type Outgoing, overHttp1, type Patience } from './exchange.js'

const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const VERSION = '13'
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.'

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10
const FINAL = 0x80
const MASKED = 0x80

const NORMAL = 1000
const PROTOCOL_ERROR = 1002

/**
 * A request that wants to leave HTTP. Those who watch may go on by WebSocket, as Java clients and browsers do; all
 * others are answered as if they had not asked, and the connection ends: Node no longer reads requests from it.
 */
export function overUpgrade(request: IncomingMessage, socket: Socket, head: Buffer, patience: Patience): Exchange {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => leave(socket, patience))
  // Unread, a connection would never be seen to end.
  socket.once('end', () => leave(socket, patience))
  socket.resume()
  const exchange = overHttp1(request, response, patience)
  if (!isWebSocket(request.headers)) return exchange
  takeToken(request.headers)
  let answered = 0
  return {
    ...exchange,
    get signal() {
      return exchange.signal
    },
    get status() {
      return answered || exchange.status
    },
    messages(binary) {
      const refused = refusal(request.headers)
      answered = refused ? refused.status : 101
      response.detachSocket(socket)
      socket.once('close', () => response.destroy())
      if (!refused) return shakeHands(request.headers, socket, head, { binary, patience })
      leave(socket, patience, refused.answer)
      return undefined
    },
  }
}

/** Ends a connection after what was written to it, whether the client ends its side or not. */
function leave(socket: Socket, { milliseconds }: Patience, last?: Uint8Array | string): void {
  if (socket.destroyed || socket.writableEnded) return
  const cut = setTimeout(() => socket.destroy(), milliseconds).unref()
  socket.once('close', () => clearTimeout(cut))
  const end = () => socket.destroy()
  if (last === undefined) socket.end(end)
  else socket.end(last, end)
}

function isWebSocket({ connection, upgrade }: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection ?? '') && upgrade?.toLowerCase() === 'websocket'
}

/** Browsers cannot send an Authorization header with a WebSocket: the token comes as one of the protocols. */
function takeToken(headers: IncomingHttpHeaders): void {
  const offered = protocolsOf(headers)
  const tokens = offered.filter((one) => one.startsWith(TOKEN_PROTOCOL))
  if (tokens.length === 0 || headers.authorization) return
  const others = offered.filter((one) => !one.startsWith(TOKEN_PROTOCOL))
  // One token, and another protocol that can be agreed upon; anything else is nobody's token.
  const encoded = tokens.length === 1 && others.length > 0 ? tokens[0]!.slice(TOKEN_PROTOCOL.length) : ''
  headers.authorization = `Bearer ${Buffer.from(encoded, 'base64url').toString() || 'none'}`
  headers['sec-websocket-protocol'] = others.join(', ')
}

function protocolsOf(headers: IncomingHttpHeaders): string[] {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
  return offered.filter((one) => one !== '')
}

/** Why there is no WebSocket: told in Go's way, without headers. */
function refusal(headers: IncomingHttpHeaders): { status: number; answer: string } | undefined {
  const bad = (rest = '\r\n') => ({ status: 400, answer: `HTTP/1.1 400 Bad Request\r\n${rest}` })
  if (!headers['sec-websocket-key']) return bad('\r\nmismatch challenge/response')
  if (headers['sec-websocket-version'] !== VERSION) {
    return bad(`Sec-WebSocket-Version: ${VERSION}\r\n\r\nmissing or bad WebSocket Version`)
  }
  const isOrigin = /^(?:[a-z][a-z\d+.-]*:)?\/\S*$/i.test(headers.origin ?? '')
  if (!isOrigin) return { status: 403, answer: 'HTTP/1.1 403 Forbidden\r\n\r\n' }
  return protocolsOf(headers).length > 1 ? bad() : undefined
}

interface Manner {
  readonly binary: boolean
  readonly patience: Patience
}

function shakeHands(headers: IncomingHttpHeaders, socket: Socket, head: Buffer, manner: Manner): Outgoing {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${ACCEPT_SUFFIX}`).digest('base64')
  const [protocol] = protocolsOf(headers)
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol}`] : []),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let open = true
  const close = (code: number) => {
    if (!open) return
    open = false
    leave(socket, manner.patience, frame(CLOSE, Buffer.from([code >> 8, code & 0xff])))
  }
  socket.once('close', () => {
    open = false
  })
  const listen = frameReader({
    control(opcode, payload) {
      if (opcode === CLOSE) close(NORMAL)
      else if (opcode === PING && open) socket.write(frame(PONG, payload))
    },
    refuse: () => close(PROTOCOL_ERROR),
  })
  if (head.length > 0) listen(head)
  socket.on('data', listen)
  return {
    write: (chunk) => !open || socket.write(frame(manner.binary ? BINARY : TEXT, chunk)),
    get waiting() {
      return socket.writableLength
    },
    onDrain: (listener) => void socket.on('drain', listener),
    end: () => close(NORMAL),
    cut() {
      open = false
      socket.destroy()
    },
  }
}

function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const wide = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const bytes = Buffer.allocUnsafe(2 + wide + length)
  bytes[0] = FINAL | opcode
  bytes[1] = wide === 0 ? length : wide === 2 ? 126 : 127
  if (wide === 2) bytes.writeUInt16BE(length, 2)
  else if (wide === 8) bytes.writeBigUInt64BE(BigInt(length), 2)
  bytes.set(payload, 2 + wide)
  return bytes
}

interface FrameHandler {
  control(opcode: number, payload: Buffer): void
  /** What came is no frame of a client. */
  refuse(): void
}

const CONTROL_BYTES_MAX = 125

/** Somebody who watches has nothing to say: only pings and the end are heard, the rest is let pass unkept. */
function frameReader({ control, refuse }: FrameHandler): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  let skip = 0
  let refused = false
  const next = (): boolean => {
    if (pending.length < 2) return false
    const opcode = pending[0]! & 0x0f
    if ((pending[1]! & MASKED) === 0 || (opcode >= CLOSE && (pending[1]! & 0x7f) > CONTROL_BYTES_MAX)) {
      refused = true
      refuse()
      return false
    }
    const size = headSize(pending)
    if (pending.length < size) return false
    const length = payloadLength(pending)
    if (opcode < CLOSE) {
      skip = length
      pending = pending.subarray(size)
      return true
    }
    if (pending.length < size + length) return false
    const mask = pending.subarray(size - 4, size)
    control(opcode, Buffer.from(pending.subarray(size, size + length).map((byte, i) => byte ^ mask[i & 3]!)))
    pending = pending.subarray(size + length)
    return true
  }
  return (chunk) => {
    if (refused) return
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk
    do {
      const passed = Math.min(skip, pending.length)
      skip -= passed
      pending = pending.subarray(passed)
    } while (skip === 0 && pending.length > 0 && next())
  }
}

/** Of a client's frame: two bytes, what the length takes beyond them, and the mask. */
function headSize(bytes: Buffer): number {
  const length = bytes[1]! & 0x7f
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + 4
}

function payloadLength(bytes: Buffer): number {
  const length = bytes[1]! & 0x7f
  if (length === 126) return bytes.readUInt16BE(2)
  return length === 127 ? Number(bytes.readBigUInt64BE(2)) : length
}
