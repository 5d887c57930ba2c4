import { Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { posix } from 'node:path'
import { isObject, messageOf, stringify } from '@crosstie/kube'

const ANSWER_MAX = 16 * 1024 * 1024

/** The address of a webhook and its CA. */
export interface ClientConfig {
  readonly url?: string
  readonly caBundle?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    readonly port?: number
  }
}

/** The address of one webhook, with a pool of connections. */
export class Endpoint {
  readonly config: ClientConfig
  readonly #agent: Agent
  #calls = 0
  #closed = false

  constructor(config: ClientConfig) {
    this.config = config
    const ca = config.caBundle ? Buffer.from(config.caBundle, 'base64').toString('utf8') : undefined
    // Go trusts any certificate in the bundle. Many bundles hold the certificate of the webhook itself, without an
    // authority.
    const trust = ca ? { ca, allowPartialTrustChain: true } : {}
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64, ...trust })
  }

  /** Closes the connections when running calls have ended. */
  close(): void {
    this.#closed = true
    if (this.#calls === 0) this.#agent.destroy()
  }

  /**
   * Posts the review and returns the parsed response. Throws an error with the text of Go's client, which users
   * search for.
   */
  async post(review: unknown, timeoutSeconds: number, signal?: AbortSignal): Promise<unknown> {
    const url = this.#url(timeoutSeconds)
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000)
    const fail = (why: string, cause?: unknown) => new Error(`Post "${url}": ${why}`, { cause })
    const { service } = this.config
    if (service) throw fail(`service "${service.name}" not found`)
    let answer: { status: number; body: string }
    this.#calls++
    try {
      answer = await this.#send(url, stringify(review), signal ? AbortSignal.any([timeout, signal]) : timeout)
    } catch (error) {
      if (timeout.aborted) throw fail('context deadline exceeded', error)
      if (signal?.aborted) throw fail('context canceled', error)
      throw fail(wordsOf(error, new URL(url)), error)
    } finally {
      if (--this.#calls === 0 && this.#closed) this.#agent.destroy()
    }
    if (answer.status < 200 || answer.status > 206) throw new Error(statusWords(answer.status, answer.body))
    try {
      return objectIn(JSON.parse(answer.body))
    } catch (cause) {
      throw new Error(`couldn't get version/kind; json parse error: ${messageOf(cause)}`, { cause })
    }
  }

  #url(timeoutSeconds: number): string {
    const { service, url } = this.config
    if (service) {
      const path = clean(service.path ?? '')
      return `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${path}?timeout=${timeoutSeconds}s`
    }
    const parsed = new URL(url ?? '')
    parsed.pathname = clean(parsed.pathname)
    parsed.searchParams.set('timeout', `${timeoutSeconds}s`)
    return parsed.href
  }

  #send(url: string, body: string, signal: AbortSignal): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'kube-apiserver-admission',
      }
      const outgoing = request(url, { method: 'POST', agent: this.#agent, headers, signal }, (incoming) => {
        const chunks: Buffer[] = []
        let size = 0
        incoming.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > ANSWER_MAX) incoming.destroy(new Error('the response is too large'))
          else chunks.push(chunk)
        })
        incoming.on('error', reject)
        incoming.on('end', () => {
          resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

/** Cleans the path as client-go does: `//a/` becomes `/a`. */
function clean(path: string): string {
  return posix.join('/', path).replace(/(?<=.)\/$/, '')
}

function wordsOf(error: unknown, url: URL): string {
  const { code, message } = error as NodeJS.ErrnoException
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const address = `${isIP(host) === 6 ? `[${host}]` : host}:${url.port || 443}`
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`
  if (code === 'ECONNRESET') return 'EOF'
  const certificate = 'tls: failed to verify certificate: x509: certificate'
  if (code === 'CERT_HAS_EXPIRED') return `${certificate} has expired or is not yet valid`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${certificate} is not valid for ${host}`
  if (code && UNTRUSTED.has(code)) return `${certificate} signed by unknown authority`
  return message
}

const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

const statusTexts: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** Returns the error of client-go for a response that is not a success. */
function statusWords(status: number, body: string): string {
  const reported = statusMessage(body)
  if (reported !== undefined) return reported
  const text = body.trim().slice(0, 2048)
  if (status === 403 || status === 415) return text || 'unknown'
  if (status === 406 && text) return text
  const words = statusTexts[status]
  if (words !== undefined) return words
  if (status >= 500) {
    return `an error on the server (${JSON.stringify(text || 'unknown')}) has prevented the request from succeeding`
  }
  return `the server responded with the status code ${status} but did not return more information`
}

function statusMessage(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    if (isObject(parsed) && parsed['kind'] === 'Status' && typeof parsed['message'] === 'string')
      return parsed['message']
  } catch {
    return undefined
  }
  return undefined
}

/** Returns the response. Throws Go's error when it is not an object. */
function objectIn(value: unknown): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) return value
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  throw new Error(`json: cannot unmarshal ${type} into Go value of type ${target}`)
}
