import type { Readable } from 'node:stream'

/** One request, whichever HTTP it goes by. */
export interface Asked {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer whose body is yet to be read. Destroying the body cancels the request. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Readable
}

/** A way to a server that takes many requests. */
export interface Link {
  /** May it take one more? */
  readonly free: boolean
  /** It takes no more requests, ever. */
  readonly ended: boolean
  /** Rejects with a ConnectionError. Aborting the signal cancels the request, at any time before its answer. */
  send(asked: Asked, signal: AbortSignal | undefined): Promise<Answer>
  /** Lets running requests finish. */
  close(): void
  /** Ends everything now. */
  destroy(): void
}

/** The server could not be reached, or was lost. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** False when the server cannot have acted on the request: anything may be sent again. */
  readonly sent: boolean

  constructor(message: string, options: ErrorOptions & { readonly sent: boolean }) {
    super(message, options)
    this.sent = options.sent
  }
}
