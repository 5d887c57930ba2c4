import type { Readable } from 'node:stream'

/** A request, independent of the HTTP version. */
export interface HttpRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A response whose body has not been read. Destroying the body cancels the request. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Readable
}

/** A connection to a server, or a set of connections, that takes many requests. */
export interface Connection {
  /** Whether it can take another request now. */
  readonly free: boolean
  /** Whether it will never take another request. */
  readonly ended: boolean
  /** Rejects with a ConnectionError. Aborting the signal before the response arrives cancels the request. */
  send(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpResponse>
  /** Takes no new requests and lets pending ones finish. */
  close(): void
  /** Cancels all requests and closes immediately. */
  destroy(): void
}

/** The server could not be reached, or the connection was lost. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** False if the server cannot have processed the request, so that a retry is safe for every method. */
  readonly sent: boolean

  constructor(message: string, options: ErrorOptions & { readonly sent: boolean }) {
    super(message, options)
    this.sent = options.sent
  }
}
