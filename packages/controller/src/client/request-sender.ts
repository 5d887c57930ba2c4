import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import { messageOf, StatusError } from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import { sleep } from '../sleep.js'
import type { Access } from './access.js'
import { ConnectionPool } from './connection-pool.js'
import { errorOf, textOf } from './response.js'
import { ConnectionError, type HttpRequest, type HttpResponse } from './transport.js'

/** Options of `RequestSender` and `HttpClient`. */
export interface HttpClientOptions {
  /** The timeout of a request. It does not limit how long a watch stays open. */
  readonly timeoutMs?: number
  /** The part before the slash is the default field manager of writes. */
  readonly userAgent?: string
  /** Use HTTP/1.1 only, for proxies that do not support HTTP/2. */
  readonly http1?: boolean
  readonly log?: Log
}

/** Slightly more than the request timeout of API servers (60 s). */
const TIMEOUT_MS = 70_000
const ATTEMPTS_MAX = 6
const RETRY_AFTER_MAX_SECONDS = 30
const WARNINGS_REMEMBERED = 200

/** Sends requests with credentials, a timeout and safe retries. Failures are reported as StatusErrors. */
export class RequestSender {
  readonly #access: Access
  readonly #pool: ConnectionPool
  readonly #prefix: string
  readonly #timeoutMs: number
  readonly #userAgent: string
  readonly #log: Log
  readonly #loggedWarnings = new Set<string>()

  constructor(access: Access, options: HttpClientOptions) {
    const { timeoutMs = TIMEOUT_MS, userAgent = 'crosstie', http1 = false, log = silentLog } = options
    this.#access = access
    this.#pool = new ConnectionPool(access, http1)
    this.#prefix = new URL(access.server).pathname.replace(/\/+$/, '')
    this.#timeoutMs = timeoutMs
    this.#userAgent = userAgent
    this.#log = log
  }

  close(): void {
    this.#pool.destroy()
  }

  /** Returns the body of a successful response. */
  async call(request: HttpRequest, signal: AbortSignal | undefined): Promise<string> {
    const deadline = new Deadline(this.#timeoutMs, signal)
    try {
      const response = await this.#sendWithRetries(request, deadline.signal)
      const cancel = () => response.body.destroy()
      deadline.signal.addEventListener('abort', cancel)
      return await textOf(response)
    } catch (error) {
      signal?.throwIfAborted()
      throw asStatusError(error, deadline, request)
    } finally {
      deadline.clear()
    }
  }

  /** Returns the body of a successful response as a stream. */
  async open(request: HttpRequest, signal: AbortSignal | undefined): Promise<Readable> {
    const deadline = new Deadline(this.#timeoutMs, signal)
    try {
      return (await this.#sendWithRetries(request, deadline.signal)).body
    } catch (error) {
      signal?.throwIfAborted()
      throw asStatusError(error, deadline, request)
    } finally {
      deadline.clear()
    }
  }

  async #sendWithRetries(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    let renewed = false
    for (let tries = 1; ; tries++) {
      const response = await this.#send(request, signal, tries)
      if (!response) continue
      if (response.status < 300) return response
      const error = errorOf(response.status, await textOf(response))
      if (error.code === 401 && !renewed) {
        renewed = true
        this.#access.renew()
        // Client certificates are bound to connections.
        this.#pool.renew()
        continue
      }
      const wait = retryAfter(response, error)
      if (wait === undefined || tries >= ATTEMPTS_MAX) throw error
      await sleep(wait * 1000, signal)
      signal.throwIfAborted()
    }
  }

  /** Returns undefined if the request failed and may be sent again. */
  async #send(request: HttpRequest, signal: AbortSignal, tries: number): Promise<HttpResponse | undefined> {
    try {
      const identity = await this.#access.headers()
      const headers = { accept: 'application/json', 'user-agent': this.#userAgent, ...identity, ...request.headers }
      const response = await this.#pool.send({ ...request, path: this.#prefix + request.path, headers }, signal)
      this.#warn(response)
      return response
    } catch (error) {
      if (!(error instanceof ConnectionError) || signal.aborted || tries >= 3) throw error
      // Reads may be repeated. If the server cannot be reached at all, the caller decides when to retry.
      const safeToRepeat = !error.sent || request.method === 'GET'
      if (!safeToRepeat || isUnreachable(error)) throw error
      return undefined
    }
  }

  /** Logs each `Warning` header of the server once. */
  #warn({ headers }: HttpResponse): void {
    const warnings = headers['warning']
    if (warnings === undefined) return
    for (const warning of typeof warnings === 'string' ? [warnings] : warnings) {
      if (this.#loggedWarnings.has(warning) || this.#loggedWarnings.size >= WARNINGS_REMEMBERED) continue
      this.#loggedWarnings.add(warning)
      this.#log.warn('warning from the API server', { warning: warning.replace(/^299 - /, '') })
    }
  }
}

/** Aborts after a time, or when the outer signal does. Unlike AbortSignal.any it removes its listener. */
class Deadline {
  readonly #abort = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #outer: AbortSignal | undefined
  readonly #follow = () => this.#abort.abort(this.#outer!.reason)
  passed = false

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.#outer = outer
    this.#timer = setTimeout(() => {
      this.passed = true
      this.#abort.abort(new Error(`no response within ${milliseconds / 1000} s`))
    }, milliseconds)
    if (outer?.aborted) this.#follow()
    else if (outer) {
      // Many concurrent requests may share one signal.
      setMaxListeners(0, outer)
      outer.addEventListener('abort', this.#follow)
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#follow)
  }
}

/** Returns the number of seconds to wait if the server refused the request because it is overloaded. */
function retryAfter({ headers }: HttpResponse, { code, details }: StatusError): number | undefined {
  if (code !== 429 && code !== 503) return undefined
  const said = headers['retry-after'] ?? details?.retryAfterSeconds
  return said === undefined ? undefined : Math.min(Number(said) || 1, RETRY_AFTER_MAX_SECONDS)
}

function isUnreachable({ cause }: ConnectionError): boolean {
  const code = (cause as { code?: string } | undefined)?.code
  return code !== undefined && code !== 'ECONNRESET' && !code.startsWith('ERR_HTTP2')
}

function asStatusError(error: unknown, deadline: Deadline, { method, path }: HttpRequest): StatusError {
  if (error instanceof StatusError) return error
  const what = `${method} ${path.replace(/\?.*/, '')}`
  if (deadline.passed)
    return new StatusError(504, 'Timeout', `${what}: no response within the timeout`, { cause: error })
  return new StatusError(503, 'ServiceUnavailable', `${what}: ${messageOf(error)}`, { cause: error })
}
