import type { TLSSocket } from 'node:tls'
import type { Head } from './head.js'
import type { OutgoingHeaders } from './hpack.js'
import { Code } from './protocol.js'

/** Takes a request's body as it comes. */
export interface Receiver {
  data(chunk: Buffer): void
  /** That was all of it. */
  end(): void
  /** The rest will never come. */
  cut(): void
}

/** What a stream needs of its connection. */
export interface Carrier {
  readonly socket: TLSSocket
  sendHead(stream: Stream, status: number, headers: OutgoingHeaders, end: boolean): void
  /** So many bytes more wait to be sent, or the end. */
  queued(stream: Stream, bytes: number): void
  sent(bytes: number): void
  /** The client may send as much again. */
  took(stream: Stream, bytes: number): void
  reset(stream: Stream, code: Code): void
}

/** Beyond it a writer had better wait. */
const WAITING_BYTES_HIGH = 64 * 1024

/** One request and its answer on a connection that carries many. */
export class Stream {
  /** Nothing comes or goes any more. */
  closed = false
  /** The whole request is here. */
  complete = false
  headersSent = false
  /** How many bytes of the answer are not on their way yet. */
  waiting = 0
  /** How many bytes of the request nobody has read yet. */
  unread = 0
  readonly headers: Head['headers']
  readonly #carrier: Carrier
  readonly #queue: Uint8Array[] = []
  /** How much of the first in the queue has gone. */
  #gone = 0
  #ended = false
  #sent: (() => void) | undefined
  #receiver: Receiver | undefined
  readonly #early: Buffer[] = []
  #received = 0
  #closeListeners: (() => void)[] | undefined
  #drainListener: (() => void) | undefined

  constructor(
    readonly id: number,
    head: Head,
    /** How much the client wants to be sent, and how much it may send. */
    readonly window: { send: number; receive: number },
    carrier: Carrier,
  ) {
    this.headers = head.headers
    this.#carrier = carrier
  }

  get socket(): TLSSocket {
    return this.#carrier.socket
  }

  /** @param end There is no body. */
  respond(status: number, headers: OutgoingHeaders, end = false): void {
    if (this.closed || this.headersSent) return
    this.headersSent = true
    const bare = end || this.headers[':method'] === 'HEAD'
    this.#ended = bare
    this.#carrier.sendHead(this, status, headers, bare)
  }

  /** For a client that asked whether its body is wanted. */
  goOn(): void {
    if (!this.closed && !this.headersSent && !this.complete) this.#carrier.sendHead(this, 100, {}, false)
  }

  /** False when the client reads more slowly than this writes. */
  write(chunk: Uint8Array): boolean {
    if (this.closed || this.#ended || chunk.byteLength === 0) return true
    this.#queue.push(chunk)
    this.waiting += chunk.byteLength
    this.#carrier.queued(this, chunk.byteLength)
    return this.waiting < WAITING_BYTES_HIGH
  }

  /** @param sent Called when nothing that was written is read any more; never, when the client is gone before. */
  end(sent?: () => void): void {
    if (this.closed || this.#ended) return
    this.#ended = true
    this.#sent = sent
    this.#carrier.queued(this, 0)
  }

  /** Ends at once; what waits to be sent is dropped. */
  destroy(): void {
    if (!this.closed) this.#carrier.reset(this, Code.CANCEL)
  }

  receive(receiver: Receiver): void {
    this.#receiver = receiver
    for (const chunk of this.#early.splice(0)) this.#hand(receiver, chunk)
    if (this.complete) receiver.end()
    else if (this.closed) receiver.cut()
  }

  onClose(listener: () => void): void {
    this.#closeListeners ??= []
    this.#closeListeners.push(listener)
  }

  onDrain(listener: () => void): void {
    this.#drainListener = listener
  }

  /** Of the answer, nothing is left to send. */
  get answered(): boolean {
    return this.#ended && this.waiting === 0
  }

  /** The next pieces of the answer, at most so many bytes of them. */
  take(max: number, into: Uint8Array[]): number {
    let size = 0
    while (size < max && this.#queue.length > 0) {
      const chunk = this.#queue[0]!
      const rest = chunk.byteLength - this.#gone
      const piece = Math.min(rest, max - size)
      into.push(piece === chunk.byteLength ? chunk : chunk.subarray(this.#gone, this.#gone + piece))
      size += piece
      if (piece === rest) {
        this.#queue.shift()
        this.#gone = 0
      } else this.#gone += piece
    }
    this.waiting -= size
    this.#carrier.sent(size)
    return size
  }

  /** Called when all that was taken has been copied. */
  drained(): void {
    if (this.waiting > 0) return
    if (this.#ended) this.#sent?.()
    else this.#drainListener?.()
  }

  /** False when this is more than was announced. */
  deliver(chunk: Buffer): boolean {
    this.#received += chunk.byteLength
    if (this.#received > this.#announced) return false
    if (this.#receiver) this.#hand(this.#receiver, chunk)
    else if (chunk.byteLength > 0) this.#early.push(chunk)
    return true
  }

  #hand(receiver: Receiver, chunk: Buffer): void {
    receiver.data(chunk)
    this.#carrier.took(this, chunk.byteLength)
  }

  /** False when less came than was announced. */
  deliverEnd(): boolean {
    if (this.#announced !== Number.POSITIVE_INFINITY && this.#received !== this.#announced) return false
    this.complete = true
    this.#receiver?.end()
    return true
  }

  get #announced(): number {
    const length = this.headers['content-length']
    return length === undefined ? Number.POSITIVE_INFINITY : Number(length)
  }

  /** To be called by the connection alone. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.#queue.length = 0
    this.waiting = 0
    if (!this.complete) this.#receiver?.cut()
    for (const listener of this.#closeListeners ?? []) listener()
  }
}
