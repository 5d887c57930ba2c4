import { randomInt } from 'node:crypto'
import type { Answer, Credentials, Http, Loose } from './http.js'
import { Normalizer } from './normalize.js'
import type { Target } from './target.js'
import { Watch, type WatchEvent } from './watch.js'

/** A compared step of a case: a request and its response. */
export interface Step {
  readonly step: string
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: Loose
}

/** Options of a request. */
export interface AskOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  /** Shorthand for the Content-Type. */
  readonly type?: string
  readonly accept?: string
  /** Response headers to compare in addition to the content type and warnings. */
  readonly show?: readonly string[]
  /** Reduces the body to its relevant part before the comparison. */
  readonly pick?: (body: Loose, answer: Answer) => Loose
  readonly as?: Http
}

/** Options of a case. */
export interface CaseOptions {
  /** A fixed id instead of a random one, for a case that runs on two servers. */
  readonly id?: string
  /** Compares managedFields too. They are left out by default. */
  readonly managedFields?: boolean
}

/** The content type of a JSON patch. */
export const JSON_PATCH = 'application/json-patch+json'
/** The content type of a JSON merge patch. */
export const MERGE_PATCH = 'application/merge-patch+json'
/** The content type of a strategic merge patch. */
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
/** The content type of a server-side apply patch. */
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** The API of a test case: requests whose responses are compared with the recording, and requests for the setup. */
export class Case {
  /** A random id. Names that contain it are unique among all cases. */
  readonly id: string
  readonly steps: Step[] = []
  readonly normalizer: Normalizer
  readonly #cleanups: (() => Promise<unknown> | unknown)[] = []

  constructor(
    readonly target: Target,
    options: CaseOptions,
  ) {
    this.id = options.id ?? randomId()
    this.normalizer = new Normalizer(this.id, options)
  }

  get admin(): Http {
    return this.target.admin
  }

  /** Sends a request whose response is compared. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const answer = await this.quiet(method, path, options)
    const { as: _, query = {}, pick, show = [], ...rest } = options
    const headers: Record<string, string> = {}
    for (const name of ['content-type', 'warning', ...show]) {
      const value = answer.headers[name]
      if (value !== undefined) headers[name] = this.normalizer.text(String(value))
    }
    const body = this.normalizer.value(pick ? pick(answer.body, answer) : answer.body)
    const step = this.normalizer.text(`${method} ${path}${queryOf(query)}${rest.type ? ` (${rest.type})` : ''}`)
    this.steps.push({ step, status: answer.status, headers, body })
    return answer
  }

  get = (path: string, options?: AskOptions): Promise<Answer> => this.ask('GET', path, options)
  post = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('POST', path, { ...options, body })
  put = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('PUT', path, { ...options, body })
  delete = (path: string, body?: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('DELETE', path, { ...options, body })
  jsonPatch = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('PATCH', path, { type: JSON_PATCH, ...options, body })
  mergePatch = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('PATCH', path, { type: MERGE_PATCH, ...options, body })
  strategicPatch = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask('PATCH', path, { type: STRATEGIC_PATCH, ...options, body })
  apply = (path: string, manager: string, body: unknown, options: AskOptions = {}): Promise<Answer> =>
    this.ask('PATCH', path, {
      type: APPLY_PATCH,
      ...options,
      query: manager ? { fieldManager: manager, ...options.query } : options.query,
      body,
    })

  /** Sends a request for the setup. Its response is not compared. */
  quiet(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const { body, headers = {}, query = {}, type, accept, as = this.admin } = options
    const all = { ...headers, ...(type ? { 'content-type': type } : {}), ...(accept ? { accept } : {}) }
    return as.send({ method, path: path + queryOf(query), body, headers: all })
  }

  /** Like `quiet`, for a request that must succeed. */
  async must(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const answer = await this.quiet(method, path, options)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 800)}`)
    return answer
  }

  /** Adds a computed value to the comparison. */
  see(step: string, value: Loose): void {
    this.steps.push({ step: step.replaceAll(this.id, 'ID'), body: this.normalizer.value(value) })
  }

  /** Opens a watch. Its events are compared when the case passes them to `see`. */
  async watch(path: string, query: AskOptions['query'] = {}, options: AskOptions = {}): Promise<Watch> {
    const { as = this.admin, headers = {}, accept } = options
    const all = accept ? { ...headers, accept } : headers
    const watch = await Watch.open(as, { method: 'GET', path: path + queryOf({ watch: true, ...query }), headers: all })
    this.cleanup(() => watch.close())
    return watch
  }

  /** Repeats a request until `done` returns true for the response. Fails after two minutes. */
  async until(path: string, done: (answer: Answer) => boolean, options: AskOptions = {}): Promise<Answer> {
    const deadline = Date.now() + 120_000
    for (let wait = 5; ; wait = Math.min(wait * 1.5, 250)) {
      const answer = await this.quiet('GET', path, options)
      if (done(answer)) return answer
      if (Date.now() > deadline) {
        throw new Error(
          `${this.normalizer.text(path)} did not get there; last: ${answer.status} ${answer.text.slice(0, 800)}`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  /** Creates a namespace for this case. */
  async namespace(suffix = ''): Promise<string> {
    const name = `ns-${this.id}${suffix}`
    await this.must('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
    return name
  }

  /** Returns a client with other credentials, which is closed with the case. */
  client(credentials: Credentials): Http {
    const http = this.admin.as(credentials)
    this.cleanup(() => http.close())
    return http
  }

  /** Registers work for the end of the case. The last registered runs first. */
  cleanup(work: () => Promise<unknown> | unknown): void {
    this.#cleanups.push(work)
  }

  async end(): Promise<void> {
    for (const work of this.#cleanups.reverse()) await work()
  }
}

/** Returns a random id. */
export const randomId = (): string => Array.from({ length: 9 }, () => 'bcdfghjkmnpqrstvwxz'[randomInt(19)]).join('')

/** Reduces events to their distinguishing fields. */
export const brief = (events: readonly WatchEvent[]): Loose =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.reason ?? object.kind}`)

function queryOf(query: NonNullable<AskOptions['query']>): string {
  const entries = Object.entries(query)
  if (entries.length === 0) return ''
  return `?${entries.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}
