import { randomInt } from 'node:crypto'
import type { Answer, Credentials, Http, Loose } from './http.js'
import { Normalizer } from './normalize.js'
import type { Target } from './target.js'
import { Watch, type WatchEvent } from './watch.js'

/** One step of a case as it is compared: what was asked, and what came back. */
export interface Step {
  readonly step: string
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: Loose
}

export interface AskOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  /** Shorthand for the Content-Type. */
  readonly type?: string
  readonly accept?: string
  /** Response headers to compare beside the content type and warnings. */
  readonly show?: readonly string[]
  /** Reduces the body to what the case is about, before it is compared. */
  readonly pick?: (body: Loose, answer: Answer) => Loose
  readonly as?: Http
}

export interface CaseOptions {
  /** Instead of a random one, for a case that runs on two servers. */
  readonly id?: string
  /** Compare managedFields too; they are left out otherwise since most cases are not about them. */
  readonly managedFields?: boolean
}

export const JSON_PATCH = 'application/json-patch+json'
export const MERGE_PATCH = 'application/merge-patch+json'
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** What a case has at hand: requests that are compared with the recorded answers, and quiet ones to set the scene. */
export class Case {
  /** Random, unlike that of any other case: names made of it collide with nobody's. */
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

  /** Sends a request; its answer is part of what is compared. */
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

  /** Sends a request that only sets the scene: its answer is not compared. */
  quiet(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const { body, headers = {}, query = {}, type, accept, as = this.admin } = options
    const all = { ...headers, ...(type ? { 'content-type': type } : {}), ...(accept ? { accept } : {}) }
    return as.send({ method, path: path + queryOf(query), body, headers: all })
  }

  /** Like `quiet`, for a scene that must succeed. */
  async must(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const answer = await this.quiet(method, path, options)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 800)}`)
    return answer
  }

  /** Adds something computed by the case to what is compared. */
  see(step: string, value: Loose): void {
    this.steps.push({ step: step.replaceAll(this.id, 'ID'), body: this.normalizer.value(value) })
  }

  /** Opens a watch; the events that the case takes from it are compared when it passes them to `see`. */
  async watch(path: string, query: AskOptions['query'] = {}, options: AskOptions = {}): Promise<Watch> {
    const { as = this.admin, headers = {}, accept } = options
    const all = accept ? { ...headers, accept } : headers
    const watch = await Watch.open(as, { method: 'GET', path: path + queryOf({ watch: true, ...query }), headers: all })
    this.cleanup(() => watch.close())
    return watch
  }

  /** Asks again and again until `done` is true of the answer; fails after two minutes. */
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

  /** A namespace of this case's own. */
  async namespace(suffix = ''): Promise<string> {
    const name = `ns-${this.id}${suffix}`
    await this.must('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
    return name
  }

  /** A client with other credentials, closed with the case. */
  client(credentials: Credentials): Http {
    const http = this.admin.as(credentials)
    this.cleanup(() => http.close())
    return http
  }

  /** Runs when the case is over, the last added first. */
  cleanup(work: () => Promise<unknown> | unknown): void {
    this.#cleanups.push(work)
  }

  async end(): Promise<void> {
    for (const work of this.#cleanups.reverse()) await work()
  }
}

export const randomId = (): string => Array.from({ length: 9 }, () => 'bcdfghjkmnpqrstvwxz'[randomInt(19)]).join('')

/** Events with only what tells them apart. */
export const brief = (events: readonly WatchEvent[]): Loose =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.reason ?? object.kind}`)

function queryOf(query: NonNullable<AskOptions['query']>): string {
  const entries = Object.entries(query)
  if (entries.length === 0) return ''
  return `?${entries.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}
