import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import { messageOf, StatusError } from '@crosstie/kube'
import { type Log, silentLog } from '../log.js'
import { sleep } from '../sleep.js'
import type { Access } from './access.js'
import { errorOf, textOf } from './answer.js'
import { Links } from './links.js'
import { type Answer, type Asked, ConnectionError } from './transport.js'

/** Options of `RequestSender` and `HttpClient`. */
export interface CallerOptions {
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
const TRIES_MAX = 6
const RETRY_AFTER_MAX_SECONDS = 30
const WARNINGS_REMEMBERED = 200

/** Sends requests with credentials, a timeout and safe retries. Failures are reported as StatusErrors. */
export class Caller {
  readonly #access: Access
  readonly #links: Links
  readonly #prefix: string
  readonly #timeoutMs: number
  readonly #userAgent: string
  readonly #log: Log
  readonly #warned = new Set<string>()

  constructor(access: Access, options: CallerOptions) {
    const { timeoutMs = TIMEOUT_MS, userAgent = 'crosstie', http1 = false, log = silentLog } = options
    this.#access = access
    this.#links = new Links(access, http1)
    this.#prefix = new URL(access.server).pathname.replace(/\/+$/, '')
    this.#timeoutMs = timeoutMs
    this.#userAgent = userAgent
    this.#log = log
  }

  close(): void {
    this.#links.destroy()
  }

  /** Returns the body of a successful response. */
  async call(asked: Asked, signal: AbortSignal | undefined): Promise<string> {
    const deadline = new Deadline(this.#timeoutMs, signal)
    try {
      const answer = await this.#ask(asked, deadline.signal)
      const cancel = () => answer.body.destroy()
      deadline.signal.addEventListener('abort', cancel)
      return await textOf(answer)
    } catch (error) {
      signal?.throwIfAborted()
      throw asStatusError(error, deadline, asked)
    } finally {
      deadline.clear()
    }
  }

  /** Returns the body of a successful response as a stream. */
  async open(asked: Asked, signal: AbortSignal | undefined): Promise<Readable> {
    const deadline = new Deadline(this.#timeoutMs, signal)
    try {
      return (await this.#ask(asked, deadline.signal)).body
    } catch (error) {
      signal?.throwIfAborted()
      throw asStatusError(error, deadline, asked)
    } finally {
      deadline.clear()
    }
  }

  async #ask(asked: Asked, signal: AbortSignal): Promise<Answer> {
    let renewed = false
    for (let tries = 1; ; tries++) {
      const answer = await this.#send(asked, signal, tries)
      if (!answer) continue
      if (answer.status < 300) return answer
      const error = errorOf(answer.status, await textOf(answer))
      if (error.code === 401 && !renewed) {
        renewed = true
        this.#access.renew()
        // Client certificates are bound to connections.
        this.#links.renew()
        continue
      }
      const wait = retryAfter(answer, error)
      if (wait === undefined || tries >= TRIES_MAX) throw error
      await sleep(wait * 1000, signal)
      signal.throwIfAborted()
    }
  }

  /** Returns undefined if the request failed and may be sent again. */
  async #send(asked: Asked, signal: AbortSignal, tries: number): Promise<Answer | undefined> {
    try {
      const identity = await this.#access.headers()
      const headers = { accept: 'application/json', 'user-agent': this.#userAgent, ...identity, ...asked.headers }
      const answer = await this.#links.send({ ...asked, path: this.#prefix + asked.path, headers }, signal)
      this.#warn(answer)
      return answer
    } catch (error) {
      if (!(error instanceof ConnectionError) || signal.aborted || tries >= 3) throw error
      // Reads may be repeated. If the server cannot be reached at all, the caller decides when to retry.
      const harmless = !error.sent || asked.method === 'GET'
      if (!harmless || isUnreachable(error)) throw error
      return undefined
    }
  }

  /** Logs each `Warning` header of the server once. */
  #warn({ headers }: Answer): void {
    const warnings = headers['warning']
    if (warnings === undefined) return
    for (const warning of typeof warnings === 'string' ? [warnings] : warnings) {
      if (this.#warned.has(warning) || this.#warned.size >= WARNINGS_REMEMBERED) continue
      this.#warned.add(warning)
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
function retryAfter({ headers }: Answer, { code, details }: StatusError): number | undefined {
  if (code !== 429 && code !== 503) return undefined
  const said = headers['retry-after'] ?? details?.retryAfterSeconds
  return said === undefined ? undefined : Math.min(Number(said) || 1, RETRY_AFTER_MAX_SECONDS)
}

function isUnreachable({ cause }: ConnectionError): boolean {
  const code = (cause as { code?: string } | undefined)?.code
  return code !== undefined && code !== 'ECONNRESET' && !code.startsWith('ERR_HTTP2')
}

function asStatusError(error: unknown, deadline: Deadline, { method, path }: Asked): StatusError {
  if (error instanceof StatusError) return error
  const what = `${method} ${path.replace(/\?.*/, '')}`
  if (deadline.passed) return new StatusError(504, 'Timeout', `${what}: no response within the timeout`, { cause: error })
  return new StatusError(503, 'ServiceUnavailable', `${what}: ${messageOf(error)}`, { cause: error })
}
