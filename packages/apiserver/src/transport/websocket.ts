import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type WebSocket, WebSocketServer } from 'ws'
import { CLOSE_GRACE_MS, type Connection } from './connections.js'
import type { Exchange, Outgoing } from './exchange.js'
import { Http1Exchange } from './http1.js'
import { AbuseBudget, type ClientLimits } from './limits.js'

const VERSION = '13'
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.'
const NORMAL = 1000
/** Clients of a watch have nothing to send. Their messages are dropped. */
const MESSAGE_BYTES_MAX = 64 * 1024
/** Beyond this much unsent data a ping gets no answer. */
const UNSENT_BYTES_HIGH = 64 * 1024
const FRAMES_BURST = 1_000
const FRAMES_PER_SECOND = 33

interface Upgraded {
  readonly socket: TLSSocket
  /** The first bytes after the request. */
  readonly head: Buffer
}

const webSockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MESSAGE_BYTES_MAX,
  autoPong: false,
  closeTimeout: CLOSE_GRACE_MS,
} as ConstructorParameters<typeof WebSocketServer>[0])

/**
 * A request that asks for another protocol. A watch may continue over WebSocket, as Java clients and browsers do. All
 * other requests get the usual response, and the connection ends: Node no longer reads requests from it.
 */
export class UpgradeExchange extends Http1Exchange implements Exchange {
  readonly messages?: (binary: boolean) => Outgoing | undefined
  #status = 0

  constructor(request: IncomingMessage, upgraded: Upgraded, limits: ClientLimits, connection: Connection) {
    const { socket } = upgraded
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    const leave = () => end(socket, limits.requestTimeoutMs)
    response.once('finish', leave)
    // The end of a connection is seen only while it is read.
    socket.once('end', leave)
    socket.resume()
    super(request, response, limits, connection)
    if (!isWebSocket(request.headers)) return
    takeToken(request.headers)
    this.messages = (binary) => {
      const refused = refusal(request.headers)
      response.detachSocket(socket)
      socket.once('close', () => response.destroy())
      this.#status = refused ? refused.status : 101
      if (!refused) return this.#open(request, upgraded, binary)
      end(socket, limits.requestTimeoutMs, refused.answer)
      return undefined
    }
  }

  override get status(): number {
    return this.#status || super.status
  }

  #open(request: IncomingMessage, { socket, head }: Upgraded, binary: boolean): Outgoing | undefined {
    let outgoing: Outgoing | undefined
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      listen(webSocket)
      outgoing = messagesTo(webSocket, socket, binary, (bytes) => this.holdStream(bytes))
    })
    if (!outgoing) this.#status = 400
    return outgoing
  }
}

/**
 * Answers pings, and only while the client reads: a client that sends pings without reading would fill the memory with
 * answers. A client that sends more frames than its budget allows is cut off.
 */
function listen(webSocket: WebSocket): void {
  const budget = new AbuseBudget(FRAMES_BURST, FRAMES_PER_SECOND)
  const count = () => {
    if (!budget.spend()) webSocket.terminate()
  }
  webSocket.on('error', () => {}) // 'close' follows.
  webSocket.on('message', count)
  webSocket.on('pong', count)
  webSocket.on('ping', (payload) => {
    count()
    if (webSocket.readyState === webSocket.OPEN && webSocket.bufferedAmount < UNSENT_BYTES_HIGH) webSocket.pong(payload)
  })
}

function messagesTo(webSocket: WebSocket, socket: TLSSocket, binary: boolean, hold: (bytes: number) => void): Outgoing {
  let held = false
  socket.on('drain', () => {
    if (held) hold(0)
    held = false
  })
  return {
    write(chunk) {
      if (webSocket.readyState !== webSocket.OPEN) return true
      webSocket.send(chunk, { binary })
      if (!socket.writableNeedDrain) return true
      held = true
      hold(webSocket.bufferedAmount)
      return false
    },
    get waiting() {
      return webSocket.bufferedAmount
    },
    onDrain: (listener) => void socket.on('drain', listener),
    end: () => webSocket.close(NORMAL),
    cut: () => webSocket.terminate(),
  }
}

/** Ends a connection after the bytes that were written to it, whether the client ends its side or not. */
function end(socket: TLSSocket, timeoutMs: number, last?: string): void {
  if (socket.destroyed || socket.writableEnded) return
  const cut = setTimeout(() => socket.destroy(), timeoutMs).unref()
  socket.once('close', () => clearTimeout(cut))
  const destroy = () => socket.destroy()
  if (last === undefined) socket.end(destroy)
  else socket.end(last, destroy)
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
  // One token, and another protocol to agree upon. Anything else is not a valid token.
  const encoded = tokens.length === 1 && others.length > 0 ? tokens[0]!.slice(TOKEN_PROTOCOL.length) : ''
  headers.authorization = `Bearer ${Buffer.from(encoded, 'base64url').toString() || 'none'}`
  if (others.length > 0) headers['sec-websocket-protocol'] = others.join(', ')
  else delete headers['sec-websocket-protocol']
}

function protocolsOf(headers: IncomingHttpHeaders): string[] {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
  return offered.filter((one) => one !== '')
}

/** The reason to refuse a WebSocket, written as Go does: without headers. */
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
