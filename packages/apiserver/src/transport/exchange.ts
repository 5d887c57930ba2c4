import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type Body, readBody } from './body.js'
import type { Connection } from './connections.js'
import {
  type Account,
  type ClientLimits,
  CONNECTION_BODY_BYTES_MAX,
  type Demand,
  type PendingResponse,
} from './limits.js'

/** The headers of a response. */
export type Headers = Record<string, string | string[] | number>

/** The client that a request counts for. */
export interface Requester {
  readonly name: string
  readonly exempt: boolean
}

/** One request and its response, over any version of HTTP. */
export interface Exchange {
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly socket: TLSSocket
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /**
   * Counts the request for its client from now on. Throws 429 when the client exceeds its share. Must be called before
   * `body`.
   */
  admit(requester: Requester, demand: Demand): void
  /**
   * Called when the server has finished its work on the request. The response may still be unread, and a watch
   * continues.
   */
  finish(): void
  /** Throws 413 when the body is larger than allowed, 408 when it does not arrive in time, 429 when memory is short. */
  body(): Promise<Buffer>
  /** `sent` is called when the memory of the body may be reused, and not when the client disconnects before. */
  respond(status: number, headers: Headers, body?: Uint8Array | readonly Uint8Array[], sent?: () => void): void
  /** A response without a known end. */
  stream(status: number, headers: Headers): Outgoing
  /** Where the client requested a WebSocket: a message for each chunk. Undefined when the request was not valid. */
  messages?(binary: boolean): Outgoing | undefined
  /** Identifies the request in the response and in the audit log. */
  readonly auditId: string
  /** The status of the response. 0 before there is one. */
  readonly status: number
}

/** A response whose length is not known. */
export interface Outgoing {
  /** False when the client reads too slowly; `onDrain` then reports when to continue. */
  write(chunk: Uint8Array): boolean
  /** Bytes that wait to be sent. */
  readonly waiting: number
  onDrain(listener: () => void): void
  end(): void
  /** Ends at once and drops the bytes that wait to be sent. */
  cut(): void
}

const GONE = new Error('the client disconnected')
const unlimited: Demand = 'exempt'

/**
 * The part of an exchange that does not depend on the version of HTTP: limits, body and signal. A class without
 * closures, because there is one object for each request and most requests use few of its methods.
 */
export abstract class CountedExchange {
  readonly auditId: string
  readonly #limits: ClientLimits
  readonly #connection: Connection
  #account: Account | undefined
  #demand: Demand = unlimited
  #bodyBytes = 0
  #pending: PendingResponse | undefined
  #gone: AbortController | undefined
  #closed = false

  constructor(
    readonly headers: IncomingHttpHeaders,
    limits: ClientLimits,
    connection: Connection,
  ) {
    this.auditId = auditIdOf(headers)
    this.#limits = limits
    this.#connection = connection
    connection.begin()
  }

  /** The body of the request as it arrives. */
  protected abstract readonly incoming: Body
  /** Ends the exchange at once. */
  protected abstract cut(): void

  admit({ name, exempt }: Requester, demand: Demand): void {
    const account = this.#limits.account(name, exempt)
    this.#connection.account = account
    this.#account = account
    if (demand === 'exempt' || this.#closed) return
    this.#limits.admit(account, demand)
    this.#demand = demand
  }

  finish(): void {
    const account = this.#account
    if (!account) return
    if (this.#bodyBytes > 0) {
      this.#limits.bodies.give(account, this.#bodyBytes)
      this.#connection.bodyBytes -= this.#bodyBytes
      this.#bodyBytes = 0
    }
    if (this.#demand === 'request') this.#release(account)
    else if (this.#demand === 'watch' && this.#closed) this.#release(account)
  }

  get signal(): AbortSignal {
    this.#gone ??= new AbortController()
    if (this.#closed) this.#gone.abort(GONE)
    return this.#gone.signal
  }

  async body(): Promise<Buffer> {
    const timeoutMs = this.#limits.requestTimeoutMs
    return await readBody(this.incoming, this.headers, timeoutMs, (bytes) => this.#takeBody(bytes))
  }

  /** Counts a response until it is read. */
  protected hold(bytes: number): void {
    if (this.#closed) return
    const account = this.#account ?? this.#limits.account(this.#connection.address, false)
    this.#pending = this.#limits.pending(account, bytes, () => this.cut())
  }

  /** Counts the unread part of a stream. */
  protected holdStream(bytes: number): void {
    if (this.#closed || !this.#account) return
    if (this.#pending) this.#limits.backlog.resize(this.#pending, bytes)
    else if (bytes > 0) {
      const cut = () => this.cut()
      this.#pending = { account: this.#account, bytes, deadline: Number.POSITIVE_INFINITY, cut }
      this.#limits.backlog.add(this.#pending)
    }
  }

  /** Must be called when the exchange has ended for any reason. */
  protected closed(aborted: boolean): void {
    if (this.#closed) return
    this.#closed = true
    this.#connection.end()
    if (this.#pending) this.#limits.backlog.remove(this.#pending)
    if (aborted) this.#account?.aborts.spend()
    // A request counts until its work is finished, even when its client has disconnected.
    if (this.#demand === 'watch') this.#release(this.#account!)
    this.#gone?.abort(GONE)
  }

  /** The connection accepts no further request. */
  protected get closing(): boolean {
    return this.#connection.closing
  }

  #release(account: Account): void {
    if (this.#demand === 'exempt') return
    this.#limits.release(account, this.#demand)
    this.#demand = 'exempt'
  }

  #takeBody(bytes: number): boolean {
    const account = this.#account
    const connection = this.#connection
    if (!account) return false
    if (!account.exempt && connection.bodyBytes + bytes > CONNECTION_BODY_BYTES_MAX) return false
    if (!this.#limits.bodies.take(account, bytes)) return false
    connection.bodyBytes += bytes
    connection.bodyBytesTotal += bytes
    this.#bodyBytes += bytes
    return true
  }
}

const AUDIT_ID_MAX = 64

function auditIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['audit-id']
  return typeof given === 'string' && given !== '' && given.length <= AUDIT_ID_MAX ? given : randomUUID()
}

// Small responses are sent in one piece: a second write costs more than copying the first.
const JOIN_BYTES_MAX = 64 * 1024

/** Returns the body as a list of chunks. */
export function chunksOf(body: Uint8Array | readonly Uint8Array[] | undefined): readonly Uint8Array[] {
  if (body === undefined) return []
  if (body instanceof Uint8Array) return [body]
  return body.length > 1 && bytesOf(body) <= JOIN_BYTES_MAX ? [Buffer.concat(body)] : body
}

/** Returns the total length of the chunks. */
export function bytesOf(chunks: readonly Uint8Array[]): number {
  let bytes = 0
  for (const chunk of chunks) bytes += chunk.byteLength
  return bytes
}

interface Sink {
  write(chunk: Uint8Array, callback?: (error?: Error | null) => void): boolean
  end(chunk?: Uint8Array): unknown
}

/** Writes a whole response. A write calls back when TLS has encrypted or copied the bytes. */
export function sendChunks(sink: Sink, chunks: readonly Uint8Array[], sent: (() => void) | undefined): void {
  const last = chunks.length - 1
  for (let i = 0; i < last; i++) sink.write(chunks[i]!)
  if (!sent) {
    sink.end(chunks[last])
    return
  }
  sink.write(chunks[last]!, (error) => {
    if (!error) sent()
  })
  sink.end()
}
