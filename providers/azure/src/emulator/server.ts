import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type ArmAnswer, ResourceManager } from './arm.js'
import { Graph } from './graph.js'
import { Problem } from './problem.js'

import { World } from './world.js'

export interface EmulatorOptions {
  readonly port?: number
  /** Serve HTTPS with this key and certificate: clients such as Terraform insist on it. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** How long an operation takes. */
  readonly operationMs?: number
  /** How long reads of Microsoft Graph miss a change. */
  readonly consistencyMs?: number
  /** Seconds of `Retry-After` in every answer. `real`: those of Azure. */
  readonly retryAfter?: number | 'real'
  readonly now?: () => number
}

/** An answer that the emulator gives instead of its own: an outage, throttling, a lost answer. */
export interface Fault {
  readonly matches: (request: { readonly method: string; readonly path: string }) => boolean
  /** How many requests it concerns. */
  times: number
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The request takes effect, and the connection ends without an answer. */
  readonly loseAnswer?: boolean
}

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly apiVersion: string
}

const TENANT = '00000000-0000-0000-0000-000000000000'
const BODY_MAX = 4 * 1024 * 1024
const TOKEN_SECONDS = 3_599

/** An emulator of Azure Resource Manager, Microsoft Graph and the token endpoint, on the loopback interface. */
export class AzureEmulator implements AsyncDisposable {
  readonly #server: Server
  readonly #manager: ResourceManager
  readonly #graph: Graph
  readonly #faults: Fault[] = []
  /** The requests since the start, without polls. */
  readonly seen: SeenRequest[] = []
  url = ''

  private constructor(options: EmulatorOptions) {
    const { now = Date.now, operationMs = 300, consistencyMs = 100, retryAfter = 1, tls } = options
    this.#manager = new ResourceManager(
      new World({ now, operationMs, tenant: TENANT }),
      retryAfter === 'real' ? undefined : retryAfter,
    )
    this.#graph = new Graph(now, consistencyMs)
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    this.#server = tls ? createTlsServer(tls, listener) : createServer(listener)
  }

  static async start(options: EmulatorOptions = {}): Promise<AzureEmulator> {
    const emulator = new AzureEmulator(options)
    const server = emulator.#server
    server.listen(options.port ?? 0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : options.port
    emulator.url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    return emulator
  }

  get world(): World {
    return this.#manager.world
  }

  /** Answers the next requests that match with the fault. */
  inject(fault: Fault): void {
    this.#faults.push(fault)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url || 'http://127.0.0.1')
    const method = request.method ?? 'GET'
    try {
      const text = await bodyOf(request)
      const fault = this.#fault(method, url.pathname)
      if (fault && !fault.loseAnswer) {
        send(response, {
          status: fault.status ?? 503,
          ...(fault.headers ? { headers: fault.headers } : {}),
          body: fault.body,
        })
        return
      }
      const answer = this.#answer(request, method, url, text)
      if (fault?.loseAnswer) response.destroy()
      else send(response, answer)
    } catch (error) {
      if (!(error instanceof Problem)) {
        send(response, { status: 500, body: { error: { code: 'InternalServerError', message: String(error) } } })
        return
      }
      const { status, headers, code } = error
      send(response, { status, headers, ...(code === '' ? {} : { body: error.body }) })
    }
  }

  #fault(method: string, path: string): Fault | undefined {
    const fault = this.#faults.find(({ times, matches }) => times > 0 && matches({ method, path }))
    if (fault) fault.times--
    return fault
  }

  #answer(request: IncomingMessage, method: string, url: URL, text: string): ArmAnswer {
    const path = url.pathname
    if (path === '/metadata/endpoints')
      return { status: 200, body: this.#endpoints(url.searchParams.get('api-version')) }
    if (/\/oauth2\/(v2\.0\/)?token$/.test(path)) return token(request, text)
    if (/\/\.well-known\/openid-configuration$/.test(path)) return { status: 200, body: this.#openId(path) }
    if (!/^bearer \S/i.test(request.headers.authorization ?? '')) {
      throw new Problem(401, 'AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.", {
        'WWW-Authenticate': `Bearer authorization_uri="${this.url}/${TENANT}"`,
      })
    }
    const body = parsed(text)
    this.seen.push({ method, path, apiVersion: url.searchParams.get('api-version') ?? '' })
    if (/^\/(v1\.0|beta)\//.test(path)) return this.#graph.answer({ method, path, query: url.searchParams, body })
    return this.#manager.answer({ method, path, query: url.searchParams, body, origin: this.url })
  }

  /** Where the services of this cloud are, as clients ask for it. */
  #endpoints(apiVersion: string | null): unknown {
    const cloud = {
      name: 'AzureCloud',
      portal: this.url,
      authentication: {
        loginEndpoint: this.url,
        audiences: [this.url, 'https://management.core.windows.net/'],
        tenant: 'common',
        identityProvider: 'AAD',
      },
      resourceManager: this.url,
      graph: this.url,
      microsoftGraphResourceId: `${this.url}/`,
      graphAudience: this.url,
      media: this.url,
      batch: this.url,
      gallery: this.url,
      sqlManagement: this.url,
      suffixes: {
        storage: 'core.windows.net',
        keyVaultDns: 'vault.azure.net',
        sqlServerHostname: 'database.windows.net',
        mysqlServerEndpoint: 'mysql.database.azure.com',
        acrLoginServer: 'azurecr.io',
      },
    }
    return apiVersion !== null && apiVersion < '2019-05-01' ? cloud : [cloud]
  }

  #openId(path: string): unknown {
    const base = `${this.url}/${path.split('/')[1]}`
    return {
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
    }
  }
}

/** Tokens for service principals, federated identities and managed identities. Credentials are not compared, only required. */
function token(request: IncomingMessage, text: string): ArmAnswer {
  if (request.method === 'GET') {
    if (request.headers['metadata'] !== 'true')
      throw new Problem(400, 'invalid_request', "The header 'Metadata' is required.")
    const seconds = String(TOKEN_SECONDS)
    return {
      status: 200,
      body: {
        access_token: 'emulated',
        expires_in: seconds,
        expires_on: String(Math.floor(Date.now() / 1000) + TOKEN_SECONDS),
        token_type: 'Bearer',
      },
    }
  }
  const form = new URLSearchParams(text)
  const proven = form.get('client_secret') ?? form.get('client_assertion')
  if (form.get('grant_type') !== 'client_credentials' || !form.get('client_id') || !proven) {
    return {
      status: 401,
      body: {
        error: 'invalid_client',
        error_description: 'AADSTS7000216: client_assertion or client_secret is required.',
      },
    }
  }
  return {
    status: 200,
    body: {
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      ext_expires_in: TOKEN_SECONDS,
      access_token: unsigned(form),
    },
  }
}

/** Clients read the tenant and the object id from the token. */
function unsigned(form: URLSearchParams): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    tid: TENANT,
    oid: TENANT,
    appid: form.get('client_id'),
    exp: Math.floor(Date.now() / 1000) + TOKEN_SECONDS,
  }
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.emulated`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > BODY_MAX) throw new Problem(413, 'RequestContentTooLarge', 'The request content is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(400, 'InvalidRequestContent', 'The request content was invalid and could not be deserialized.')
  }
}

function send(response: ServerResponse, { status, headers, body }: ArmAnswer): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = text === '' ? {} : { 'Content-Type': 'application/json; charset=utf-8' }
  response.writeHead(status, { ...headers, ...type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
