import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { KubeconfigContent } from '@crosstie/apiserver'
import type { KubeObject } from '@crosstie/kube'

/** A response of the server. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** The parsed text, if it is JSON. */
  readonly body: Body
}

/** An object, a list or a Status. */
export interface Body extends KubeObject {
  readonly items?: readonly KubeObject[]
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly uid?: string }
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject & { readonly code?: number }
}

/** The timeout of a request. A server that hangs is a failure. */
const PATIENCE_MS = 120_000

/** The connection ended before the response. The outcome of the request is unknown. */
export class GoneError extends Error {
  override readonly name = 'GoneError'
}

/** A client of one server over HTTP/2, on a few connections. */
export class Api {
  readonly #sessions: readonly ClientHttp2Session[]
  readonly #streams = new Map<ClientHttp2Session, Set<ClientHttp2Stream>>()
  #next = 0

  constructor({ server, ca, client }: KubeconfigContent, connections = 3) {
    this.#sessions = Array.from({ length: connections }, () => {
      const session = connect(server, { ca, cert: client.cert, key: client.key })
      session.on('error', () => {}) // Errors are reported by the streams.
      // A request that waits for the connection would wait forever: Node does not reject it when the connection
      // fails.
      session.on('close', () => {
        for (const stream of this.#streams.get(session) ?? []) stream.destroy()
      })
      this.#streams.set(session, new Set())
      return session
    })
  }

  send(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open({
        ':method': method,
        ':path': path,
        ...(body === undefined ? {} : { 'content-type': type }),
      })
      if (!stream) return reject(new GoneError(`${method} ${path}: no connection`))
      let status = 0
      let length: number | undefined
      const chunks: Buffer[] = []
      stream.setTimeout(PATIENCE_MS, () => stream.destroy(new Error(`${method} ${path} was never answered`)))
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
        length = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', (error: Error) => {
        if (error.message.endsWith('was never answered')) reject(error)
      })
      stream.on('close', () => {
        // Streams of a killed server end normally, so the length must be checked.
        const bytes = Buffer.concat(chunks)
        const whole = status > 0 && stream.rstCode === 0 && (length === undefined || length === bytes.length)
        if (!whole) return reject(new GoneError(`${method} ${path}`))
        const text = bytes.toString('utf8')
        try {
          const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Body
          resolve({ status, text, body })
        } catch {
          reject(new GoneError(`${method} ${path}: half an answer`))
        }
      })
      stream.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** Calls back with every event. Resolves when either side ends the watch. */
  watch(path: string, event: (event: WatchEvent) => void): { readonly ended: Promise<void>; stop(): void } {
    const stream = this.#open({ ':method': 'GET', ':path': path })
    let rest = ''
    stream?.setEncoding('utf8')
    stream?.on('error', () => {})
    stream?.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) event(JSON.parse(line) as WatchEvent)
    })
    const ended = new Promise<void>((resolve) => (stream ? stream.on('close', resolve) : resolve()))
    return { ended, stop: () => stream?.close() }
  }

  close(): void {
    for (const session of this.#sessions) session.destroy()
  }

  #open(headers: Record<string, string>): ClientHttp2Stream | undefined {
    const session = this.#sessions[this.#next++ % this.#sessions.length]!
    if (session.destroyed || session.closed) return undefined
    try {
      const stream = session.request(headers, { endStream: false })
      const open = this.#streams.get(session)!
      open.add(stream)
      stream.on('close', () => open.delete(stream))
      return stream
    } catch {
      return undefined // The session was closed concurrently.
    }
  }
}
