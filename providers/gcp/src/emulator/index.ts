import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Json } from '@crosstie/kube'
import { compute } from './compute.js'
import { container } from './container.js'
import { errorBody, Failure } from './failure.js'
import { kms, pubsub } from './generic.js'
import { iam } from './iam.js'
import { redis } from './redis.js'
import { isHost, matchRoute } from './routes.js'
import type { Service } from './service.js'
import { sql } from './sql.js'
import { State, type StateOptions } from './state.js'
import { storage } from './storage.js'
import { checkedBody, checkParameters } from './validate.js'
import { type Item, inSchema, withEnumNumbers } from './values.js'

const services: Readonly<Record<string, Service>> = {
  compute,
  container,
  iam,
  sqladmin: sql,
  storage,
  redis,
  cloudkms: kms,
  pubsub,
}

export interface EmulatorOptions extends StateOptions {
  /** Refuse requests without this access token. Absent: every token is accepted, and none is needed. */
  readonly token?: string
  /** The port on loopback. Absent: one that is free. */
  readonly port?: number
}

export interface EmulatedRequest {
  readonly http: string
  readonly host: string
  /** Path and query. */
  readonly url: string
  readonly body?: string
  readonly authorization?: string | undefined
}

export interface EmulatedResponse {
  readonly status: number
  readonly body: Item | undefined
}

/**
 * A stateful emulator of Google Cloud, derived from the official discovery documents: it accepts what they describe and
 * nothing else. Resources change by long-running operations, which take time.
 *
 * It serves HTTP on loopback. The host name of the API is the first part of the path:
 * `http://127.0.0.1:5100/compute.googleapis.com/compute/v1/projects/…`
 *
 * @example
 * await using emulator = await GoogleEmulator.start({ operationMs: 50 })
 * const response = await fetch(`${emulator.url}/storage.googleapis.com/storage/v1/b/none`) // 404
 */
export class GoogleEmulator implements AsyncDisposable {
  readonly #state: State
  readonly #token: string | undefined
  #server: Server | undefined
  readonly #failures: {
    readonly test: (request: EmulatedRequest) => boolean
    readonly failure: Failure
    left: number
  }[] = []

  static async start(options: EmulatorOptions = {}): Promise<GoogleEmulator> {
    const emulator = new GoogleEmulator(options)
    const server = createServer((request, response) => void emulator.#serve(request, response))
    emulator.#server = server
    server.listen(options.port ?? 0, '127.0.0.1')
    await once(server, 'listening')
    return emulator
  }

  constructor(options: EmulatorOptions = {}) {
    this.#state = new State(options)
    this.#token = options.token
  }

  get url(): string {
    const address = this.#server?.address()
    if (!address || typeof address === 'string') throw new Error('the emulator is not started')
    return `http://127.0.0.1:${address.port}`
  }

  /** Answers requests that pass a test with an error, a number of times. */
  fail(test: (request: EmulatedRequest) => boolean, status: number, reason: string, message: string, times = 1): void {
    this.#failures.push({ test, failure: new Failure(status, message, reason), left: times })
  }

  /** Answers one request, without HTTP. */
  handle(request: EmulatedRequest): EmulatedResponse {
    const matched = /^([^?]*)(?:\?(.*))?$/.exec(request.url)
    const path = decodeURIComponent(matched?.[1] ?? '')
    const query = new URLSearchParams(matched?.[2] ?? '')
    this.#state.advance()
    const route = matchRoute(request.host, request.http, path)
    const service = route?.api.name ?? request.host.split('.')[0] ?? ''
    try {
      this.#inject(request)
      if (this.#token !== undefined && request.authorization !== `Bearer ${this.#token}`) {
        throw new Failure(401, 'Request had invalid authentication credentials.', 'UNAUTHENTICATED')
      }
      if (!route) throw new Failure(404, `The requested URL ${request.http} ${path} was not found.`, 'NOT_FOUND')
      return this.#answer(route, query, request.body)
    } catch (error) {
      if (error instanceof Failure) return { status: error.status, body: errorBody(service, error) }
      throw error
    }
  }

  #answer(
    route: NonNullable<ReturnType<typeof matchRoute>>,
    query: URLSearchParams,
    text: string | undefined,
  ): EmulatedResponse {
    const { api, name, method, params, path } = route
    checkParameters(method, params, query)
    const body = method.request ? checkedBody(api, name, method.request, parsed(text)) : {}
    const parts = name.split('.')
    const verb = parts.pop() ?? ''
    const service = services[api.name]
    if (!service) throw new Failure(501, `The emulator does not implement ${api.name}.`, 'UNIMPLEMENTED')
    const state = this.#state
    const request = { ...route, query, body, state, key: `${api.name}:${path}`, verb, resource: parts.join('.') }
    const { status = 200, body: answer } = service(request)
    if (!answer || !method.response) return { status, body: answer }
    const shaped = inSchema(api, method.response, answer)
    const asNumbers = /enum-encoding=int/.test(query.get('$alt') ?? '')
    return { status, body: asNumbers ? withEnumNumbers(api, method.response, shaped) : shaped }
  }

  #inject(request: EmulatedRequest): void {
    const found = this.#failures.find(({ left, test }) => left > 0 && test(request))
    if (!found) return
    found.left--
    throw found.failure
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host, url } = splitHost(request)
    try {
      const { status, body } = this.handle({
        http: request.method ?? 'GET',
        host,
        url,
        body: Buffer.concat(chunks).toString(),
        authorization: request.headers.authorization,
      })
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
      response.end(body === undefined ? '' : JSON.stringify(body))
    } catch (error) {
      response.writeHead(500, { 'content-type': 'application/json; charset=UTF-8' })
      const message = error instanceof Error ? error.message : String(error)
      response.end(JSON.stringify({ error: { code: 500, message, status: 'INTERNAL' } }))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
}

/** Starts an emulator for `crosstie up --emulators gcp`. */
export async function startEmulator() {
  const emulator = await GoogleEmulator.start()
  return {
    summary: `${emulator.url}, project ${EMULATED_PROJECT}`,
    env: { CROSSTIE_GCP_ENDPOINT: emulator.url, GOOGLE_CLOUD_PROJECT: EMULATED_PROJECT },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}

const EMULATED_PROJECT = 'example-project'

/** The API is named by the Host header, or by the first part of the path. */
function splitHost({ headers, url = '/' }: IncomingMessage): { readonly host: string; readonly url: string } {
  const named = headers.host ?? ''
  if (isHost(named)) return { host: named, url }
  const [, host = '', rest = ''] = /^\/([^/?]+)(.*)$/s.exec(url) ?? []
  return { host, url: rest }
}

function parsed(text: string | undefined): Json {
  if (text === undefined || text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure(400, 'Invalid JSON payload received. Unexpected token.', 'INVALID_ARGUMENT')
  }
}
