import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'

/** A response of a server, which has no static type. */
// biome-ignore lint/suspicious/noExplicitAny: answers come from outside, and the test is what checks them
export type Loose = any

/** The credentials of a client. */
export interface Credentials {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

/** A request. */
export interface Ask {
  readonly method: string
  readonly path: string
  /** An object is sent as JSON, a string or bytes unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A response. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The parsed body if it is JSON, else the text. */
  readonly body: Loose
}

/** The timeout of a request. */
const PATIENCE_MS = 120_000

/** A client of one server under one identity. */
export class Http {
  readonly #agent: Agent

  constructor(
    readonly url: string,
    readonly credentials: Credentials,
  ) {
    const { ca, cert, key } = credentials
    this.#agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 64 })
  }

  /** Returns a client of the same server with other credentials. */
  as(credentials: Credentials): Http {
    return new Http(this.url, { ca: this.credentials.ca, ...credentials })
  }

  async send(ask: Ask): Promise<Answer> {
    const response = await this.open(ask, AbortSignal.timeout(PATIENCE_MS))
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString('utf8')
    const json = /[/+]json/.test(response.headers['content-type'] ?? '')
    return { status: response.statusCode ?? 0, headers: response.headers, bytes, text, body: json ? parse(text) : text }
  }

  /** Sends a request. Resolves when the head of the response arrives. */
  async open(ask: Ask, signal?: AbortSignal): Promise<IncomingMessage> {
    const payload = payloadOf(ask.body)
    const headers: Record<string, string> = {
      'user-agent': 'conformance/1.0',
      accept: 'application/json',
      ...ask.headers,
    }
    if (payload !== undefined) {
      headers['content-type'] ??= 'application/json'
      headers['content-length'] = String(Buffer.byteLength(payload))
    }
    if (this.credentials.token) headers['authorization'] = `Bearer ${this.credentials.token}`
    for (const [name, value] of Object.entries(headers)) if (value === '') delete headers[name]
    const sent = request(this.url + ask.path, { method: ask.method, headers, agent: this.#agent, signal })
    sent.end(payload)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    // An error after the caller aborts an open response is ignored.
    sent.on('error', () => {})
    return response
  }

  close(): void {
    this.#agent.destroy()
  }
}

function payloadOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  return JSON.stringify(body)
}

function parse(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
