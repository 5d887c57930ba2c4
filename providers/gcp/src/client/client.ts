import { channel } from 'node:diagnostics_channel'
import type { Json } from '@crosstie/kube'
import { isObject } from '@crosstie/kube'
import { UncertainError } from '@crosstie/resources/provider'
import { type Api, methodOf } from '../discovery/api.js'
import type { Values } from '../schema/convert.js'
import { failureOf, GoogleError } from './errors.js'
import { permissionOf } from './permissions.js'

/** Receives every request that is sent, for tests and measurements: a GoogleCall. */
export const calls = channel('crosstie:gcp:call')

export interface GoogleCall {
  readonly permission: string
  readonly method: string
  readonly url: string
}

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

/** The transport that the clients of all resources with the same credentials share. */
export interface Transport {
  /** An access token; undefined when requests carry none. */
  readonly token: (signal: AbortSignal) => Promise<string | undefined>
  /** Base URL instead of the host of the API. */
  readonly endpoint: string | undefined
  readonly quotaProject: string | undefined
}

const READ_ATTEMPTS = 3
const REQUEST_MS = 60_000

/** A client of one API for one reconciliation. */
export class GoogleClient {
  constructor(
    readonly api: Api,
    /** The project of the resource. */
    readonly project: string,
    private readonly transport: Transport,
    /** Called before each request that changes something. */
    private readonly changing: () => void,
  ) {}

  /** Calls a method of the API by its name in the discovery document, such as `networks.get`. */
  async call(method: string, params: Parameters, signal: AbortSignal, body?: object): Promise<Values> {
    const { http } = methodOf(this.api, method)
    const isRead = http === 'GET'
    if (!isRead) this.changing()
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.send(method, params, signal, body)
      } catch (error) {
        const mayRetry = isRead && error instanceof GoogleError && error.trouble === 'unreachable'
        if (!mayRetry || attempt >= READ_ATTEMPTS || signal.aborted) throw error
      }
    }
  }

  /** All items of a list, page by page. `field` holds them in each page. */
  async list(method: string, params: Parameters, field: string, signal: AbortSignal): Promise<readonly Values[]> {
    const items: Values[] = []
    let pageToken: string | undefined
    do {
      const page = await this.call(method, { ...params, pageToken }, signal)
      for (const item of asList(page[field])) if (isObject(item)) items.push(item)
      const next = page['nextPageToken']
      pageToken = typeof next === 'string' && next !== '' ? next : undefined
    } while (pageToken !== undefined)
    return items
  }

  private async send(method: string, params: Parameters, signal: AbortSignal, body?: object): Promise<Values> {
    const { http } = methodOf(this.api, method)
    const path = pathOf(this.api, method, params)
    const url = `${this.transport.endpoint?.replace(/\/$/, '') ?? 'https:/'}/${this.api.host}${path}`
    const permission = permissionOf(this.api, method)
    const request = { permission, target: targetOf(path), isRead: http === 'GET' }
    const token = await this.transport.token(signal)
    calls.publish({ permission, method: `${this.api.name}.${method}`, url } satisfies GoogleCall)
    const { status, text, retryAfter } = await exchange(request, url, {
      method: http,
      headers: this.headers(token, body !== undefined),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    })
    if (status >= 300) throw failureOf({ ...request, status, retryAfter, body: text })
    return text === '' ? {} : parsed(text, request.target)
  }

  private headers(token: string | undefined, hasBody: boolean): Record<string, string> {
    const { quotaProject } = this.transport
    return {
      accept: 'application/json',
      'user-agent': 'crosstie',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(quotaProject === undefined ? {} : { 'x-goog-user-project': quotaProject }),
    }
  }
}

interface Request {
  readonly permission: string
  readonly target: string
  readonly isRead: boolean
}

/** One HTTP exchange. A response that is lost says nothing about whether a change took effect. */
async function exchange({ permission, target, isRead }: Request, url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init)
    return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') }
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error
    const { code, reason, sent } = causeOf(error)
    const host = new URL(url).host
    const text = `${permission} on ${target}: ${host} cannot be reached: ${reason} (${code})`
    if (isRead || !sent) {
      throw new GoogleError(`${text}. Check spec.endpoint of the ProviderConfig and the network`, 'unreachable', code)
    }
    throw new UncertainError(`${text}. The outcome of the request is unknown`)
  }
}

const unsent = new Set(['ENOTFOUND', 'ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

function causeOf(error: unknown): { readonly code: string; readonly reason: string; readonly sent: boolean } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = isObject(cause) && typeof cause['code'] === 'string' ? cause['code'] : 'no response'
  return { code, reason: cause instanceof Error ? cause.message : String(cause), sent: !unsent.has(code) }
}

/** The path and query of a call. Throws when the discovery document has no such parameter or requires another. */
export function pathOf(api: Api, method: string, params: Parameters): string {
  const { path, params: known = {} } = methodOf(api, method)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    const parameter = known[name]
    if (!parameter) throw new Error(`${api.name} ${method} has no parameter ${name}`)
    if (parameter.in !== 'path') query.append(name, String(value))
  }
  const filled = path.replace(/\{(\+?)(\w+)\}/g, (_, reserved: string, name: string) => {
    const value = params[name]
    if (value === undefined || value === '') throw new Error(`${api.name} ${method} needs the parameter ${name}`)
    return reserved ? encodeURI(String(value)) : encodeURIComponent(String(value))
  })
  const search = query.toString()
  return `${api.base}${filled}${search === '' ? '' : `?${search}`}`
}

/** `/compute/v1/projects/p/global/networks/n?x=y` is `projects/p/global/networks/n` in messages. */
const targetOf = (path: string): string => decodeURI(path.replace(/\?.*/, '').replace(/^.*?(?=projects\/|b\/|b$)/, ''))

function parsed(text: string, target: string): Values {
  const value: Json = JSON.parse(text)
  if (isObject(value)) return value
  throw new Error(`the response for ${target} is not a JSON object`)
}

const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
