import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { KubeconfigContent } from '@crosstie/apiserver'
import type { KubeObject } from '@crosstie/kube'

export interface Answer {
  readonly status: number
  readonly text: string
  /** What the text says, when it is JSON. */
  readonly body: Body
}

/** An object, a list or a Status: tests look into whichever it is. */
export interface Body extends KubeObject {
  readonly items?: readonly KubeObject[]
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly uid?: string }
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject & { readonly code?: number }
}

/** Nobody waits longer for an answer: a server that hangs is a failure. */
const PATIENCE_MS = 30_000

/** The connection ended before the answer did: nobody knows what came of the request. */
export class GoneError extends Error {
  override readonly name = 'GoneError'
}

/** One server over HTTP/2, on a few connections. */
export class Api {
  readonly #sessions: readonly ClientHttp2Session[]
  #next = 0

  constructor({ server, ca, client }: KubeconfigContent, connections = 3) {
    this.#sessions = Array.from({ length: connections }, () => {
      const session = connect(server, { ca, cert: client.cert, key: client.key })
      session.on('error', () => {}) // Its streams tell.
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
      let text = ''
      let complete = false
      stream.setEncoding('utf8')
      stream.setTimeout(PATIENCE_MS, () => stream.destroy(new Error(`${method} ${path} was never answered`)))
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
      })
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        complete = status > 0
      })
      stream.on('error', (error: Error) => {
        if (error.message.endsWith('was never answered')) reject(error)
      })
      stream.on('close', () => {
        if (!complete) return reject(new GoneError(`${method} ${path}`))
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

  /** Calls back with every event; resolves when the watch ends, whoever ends it. */
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
      return session.request(headers, { endStream: false })
    } catch {
      return undefined // It closed this very moment.
    }
  }
}
