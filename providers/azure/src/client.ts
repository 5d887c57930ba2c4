import { channel } from 'node:diagnostics_channel'
import { isObject } from '@crosstie/kube'
import type { ConnectContext, CountChange, ProviderConfiguration } from '@crosstie/resources/provider'
import { type AzureSettings, ConfigError, settingsOf } from './config.js'
import { errorOf, lost } from './errors.js'
import type { UnderWay } from './operations.js'
import { Tokens, tokenSource } from './tokens.js'
import { listOf, textOf, type Values, valuesOf } from './values.js'

/** Publishes the action of every request, for measurements and tests: `Microsoft.Network/virtualNetworks/read`. */
export const calls = channel('crosstie:azure:call')

export interface AzureRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE'
  /** A path, or the URL of an operation. */
  readonly path: string
  readonly apiVersion?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Values
  readonly headers?: Readonly<Record<string, string>>
  /** The permission that the request needs. */
  readonly action: string
  readonly signal: AbortSignal
}

export interface AzureAnswer {
  readonly status: number
  readonly body: Values
  /** Where the operation that goes on is polled. */
  readonly operation: string | undefined
  readonly retryAfter: number | undefined
}

const REQUEST_MS = 60_000
const PAGES_MAX = 1_000

interface Connection {
  readonly revision: string
  readonly settings: AzureSettings
  readonly tokens: Tokens
  /** Operations that go on, by the id of their resource: for as long as this process runs. */
  readonly operations: Map<string, UnderWay | 'over'>
}

const connections = new Map<string, Connection>()

/** One set of credentials per ProviderConfig, until the ProviderConfig or its credentials change. */
function connectionFor(config: ProviderConfiguration | undefined): Connection {
  const uid = config?.revision.split('/')[0] ?? ''
  const revision = `${config?.revision} ${JSON.stringify(config?.spec)}`
  const held = connections.get(uid)
  if (held?.revision === revision) return held
  const settings = settingsOf(config)
  const fresh = { revision, settings, tokens: new Tokens(tokenSource(settings)), operations: new Map() }
  connections.set(uid, fresh)
  return fresh
}

/** For `connect` of a kind. */
export const connect = ({ config, trackChanges }: ConnectContext): AzureClient =>
  new AzureClient(connectionFor(config), trackChanges())

/** Requests to Azure Resource Manager and Microsoft Graph with the credentials of one ProviderConfig. */
export class AzureClient {
  readonly #connection: Connection
  readonly #changing: CountChange

  constructor(connection: Connection, changing: CountChange) {
    this.#connection = connection
    this.#changing = changing
  }

  /** Throws a ConfigError when the ProviderConfig names none. */
  get subscription(): string {
    const { subscription, config } = this.#connection.settings
    if (subscription !== undefined) return subscription
    throw new ConfigError(`ProviderConfig ${config} does not name a subscription: set spec.subscriptionID`)
  }

  get graph(): string {
    return this.#connection.settings.graph
  }

  /** The operation on a resource that this process began, or found in the status of its object. */
  operationOf(id: string): UnderWay | 'over' | undefined {
    return this.#connection.operations.get(id.toLowerCase())
  }

  /** `over`: the status may still name the operation, which is not polled again. */
  keepOperation(id: string, operation: UnderWay | 'over'): void {
    this.#connection.operations.set(id.toLowerCase(), operation)
  }

  /** Throws an error that names the action, the code of Azure and the next step. */
  async send(request: AzureRequest): Promise<AzureAnswer> {
    const { method, action, body } = request
    const isRead = method === 'GET'
    const url = this.#urlOf(request)
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(REQUEST_MS)])
    const token = await this.#connection.tokens.of(this.#audience(url), signal)
    if (!isRead && !/\/listKeys\/action$/i.test(action)) this.#changing()
    if (calls.hasSubscribers) calls.publish(action)
    const headers = {
      Authorization: `Bearer ${token}`,
      'User-Agent': 'crosstie',
      ...request.headers,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    }
    const failed = (error: unknown) => {
      throw lost(error, action, isRead)
    }
    const payload = body ? { body: JSON.stringify(body) } : {}
    const response = await fetch(url, { method, headers, signal, ...payload }).catch(failed)
    const text = await response.text().catch(failed)
    return answerOf(response, text, action, isRead)
  }

  /** All items of a list, over all pages. */
  async list(request: Omit<AzureRequest, 'method'>): Promise<readonly Values[]> {
    const items: Values[] = []
    let next: AzureRequest = { ...request, method: 'GET' }
    for (let page = 0; page < PAGES_MAX; page++) {
      const { body } = await this.send(next)
      items.push(...listOf(body['value']).map(valuesOf))
      const link = textOf(body['nextLink']) ?? textOf(body['@odata.nextLink'])
      if (link === undefined) break
      next = {
        method: 'GET',
        path: link,
        action: request.action,
        signal: request.signal,
        ...(request.headers ? { headers: request.headers } : {}),
      }
    }
    return items
  }

  #urlOf({ path, apiVersion, query }: AzureRequest): string {
    if (/^https?:/.test(path)) return path
    const words = new URLSearchParams({ ...(apiVersion ? { 'api-version': apiVersion } : {}), ...query })
    const { resourceManager } = this.#connection.settings
    return `${resourceManager}${path}${words.size > 0 ? `?${words}` : ''}`
  }

  /** A token goes only to the hosts of the cloud, even if an answer names another one. */
  #audience(url: string): string {
    const { resourceManager, graph, config } = this.#connection.settings
    const { origin, pathname } = new URL(url)
    const isGraph = origin === new URL(graph).origin && /^\/(v1\.0|beta)\//.test(pathname)
    if (isGraph) return graph
    if (origin === new URL(resourceManager).origin) return resourceManager
    throw new ConfigError(
      `ProviderConfig ${config}: ${origin} is neither Azure Resource Manager nor Microsoft Graph of its cloud`,
    )
  }
}

function answerOf(response: Response, text: string, action: string, isRead: boolean): AzureAnswer {
  const body = parsed(text)
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined
  if (response.ok) {
    const operation =
      response.headers.get('Azure-AsyncOperation') ??
      (response.status === 202 ? response.headers.get('Location') : null)
    return { status: response.status, body, operation: operation ?? undefined, retryAfter }
  }
  const error = valuesOf(body['error'])
  const code = textOf(error['code']) ?? textOf(body['code']) ?? String(response.status)
  const message = textOf(error['message']) ?? textOf(body['message']) ?? response.statusText
  throw errorOf({ status: response.status, code, message, retryAfter, action, isRead })
}

function parsed(text: string): Values {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
