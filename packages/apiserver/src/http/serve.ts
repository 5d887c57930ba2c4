import { randomUUID } from 'node:crypto'
import { badRequest, messageOf, StatusError } from '@crosstie/kube'
import { type AuditLog, isAudited } from '../access/audit.js'
import type { Authenticator } from '../access/authenticate.js'
import { type Attributes, type Authorizer, forbiddenError } from '../access/authorize.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import type { UserInfo } from '../access/user.js'
import type { Engine } from '../engine.js'
import type { ServerMetrics } from '../metrics.js'
import type { Served } from '../serving/served.js'
import { asStatusError, sendError } from './encode.js'
import type { Exchange } from './exchange.js'
import { identify } from './gate.js'
import { errorMedia } from './media.js'
import { methods } from './methods.js'
import { servePath } from './paths.js'
import { type PathRoute, type ResourceRoute, routeOf } from './route.js'

/** All that requests are served from. */
export interface Site {
  readonly engine: Engine
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly tokens: ServiceAccountTokens
  readonly metrics: ServerMetrics
  readonly audit?: AuditLog
  readonly stopping: AbortSignal
  /** Told of failures that are ours, not the caller's. */
  readonly report: (what: string, error: unknown) => void
  /** Beyond resources and discovery: health and documents. A name that ends in `/` stands for all below. */
  readonly pages: ReadonlyMap<string, Page>
  /** `host:port` as clients reach it. */
  address(): string
}

export type Page = (exchange: Exchange, route: PathRoute) => Promise<void> | void

/** A resource request with everything known about it. */
export interface Call {
  readonly site: Site
  readonly exchange: Exchange
  readonly route: ResourceRoute
  readonly served: Served
  readonly user: UserInfo
  readonly warnings: string[]
}

/** One request from the wire to its answer: who, what, may they, then the verb. */
export async function serve(site: Site, exchange: Exchange): Promise<void> {
  const started = performance.now()
  const received = site.engine.clock.now()
  site.metrics.begin()
  const route = routeOf(exchange.method, exchange.url)
  const warnings: string[] = []
  let user: UserInfo | undefined
  let failure: unknown
  try {
    user = identify(site.authenticator, site.authorizer, exchange, warnings)
    authorize(site, exchange, user, route)
    if (!('resource' in route)) return await servePath(site, exchange, route)
    const call: Call = { site, exchange, route, served: resolve(site, route), user, warnings }
    warnIfDeprecated(call)
    await methodOf(call)(call)
  } catch (error) {
    failure = error
    await fail(site, exchange, warnings, error)
  } finally {
    if (site.audit && user && 'resource' in route && isAudited(route.verb)) {
      record(site.audit, exchange, route, user, received, failure)
    }
    site.metrics.end(labelsOf(exchange, route), exchange.status, (performance.now() - started) / 1000)
  }
}

function authorize({ authorizer }: Site, exchange: Exchange, user: UserInfo, route: ResourceRoute | PathRoute): void {
  const attributes: Attributes =
    'resource' in route
      ? { user, ...attributesOf(route) }
      : { user, verb: exchange.method === 'HEAD' ? 'get' : exchange.method.toLowerCase(), path: route.path }
  const { allowed, reason } = authorizer.authorize(attributes)
  if (!allowed) throw forbiddenError(attributes, reason)
}

function attributesOf({ verb, group, resource, subresource, name, namespace }: ResourceRoute) {
  return { verb, group, resource, subresource, name, namespace }
}

function resolve({ engine }: Site, route: ResourceRoute): Served {
  const served = engine.registry.resolve(route.group, route.version, route.resource)
  // A namespaced kind is listed over all namespaces without one in the URL, but never written or read by name.
  const scoped = served && (served.definition.namespaced ? route.namespaced || collective(route) : !route.namespaced)
  if (!served || !scoped) throw pageNotFound()
  return served
}

function collective({ verb, name }: ResourceRoute): boolean {
  return name === '' && (verb === 'list' || verb === 'watch' || verb === 'create' || verb === 'deletecollection')
}

export function pageNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
}

function methodOf(call: Call): (call: Call) => Promise<void> {
  const { verb, subresource, namespaced } = call.route
  const method = methods[subresource ? `${verb}/${subresource}` : verb]
  if (!method && subresource) throw pageNotFound()
  if (!method || !offered(call)) throw subresource ? pageNotFound() : methodNotAllowed(call)
  if (call.served.definition.namespaced && !namespaced) {
    if (verb === 'create' && !call.served.definition.strategy.answer) throw emptyNamespace()
    if (verb === 'deletecollection') throw methodNotAllowed(call)
  }
  return method
}

function emptyNamespace(): StatusError {
  return badRequest('an empty namespace may not be set during creation')
}

function methodNotAllowed({ served }: Call): StatusError {
  const { group, resource } = served.type
  return new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: { ...(group ? { group } : {}), kind: resource },
  })
}

function offered({ served, route }: Call): boolean {
  const { verb, subresource } = route
  const { subresources } = served.version
  if (subresource === 'status') return subresources.status === true
  if (subresource === 'scale') return subresources.scale !== undefined
  if (subresource) return true
  return (served.definition.verbs as readonly string[]).includes(verb)
}

function warnIfDeprecated({ served, warnings }: Call): void {
  const { deprecated, deprecationWarning } = served.version
  if (deprecated) warnings.push(deprecationWarning ?? `${served.apiVersion} ${served.type.kind} is deprecated`)
}

async function fail(site: Site, exchange: Exchange, warnings: readonly string[], error: unknown): Promise<void> {
  if (!(error instanceof StatusError)) site.report(`${exchange.method} ${exchange.url.split('?', 1)[0]}`, error)
  if (exchange.status !== 0) return
  try {
    await sendError({ exchange, media: errorMedia(exchange.headers.accept), warnings }, error)
  } catch (second) {
    site.report('answering with an error', second)
  }
}

function record(
  audit: AuditLog,
  exchange: Exchange,
  route: ResourceRoute,
  user: UserInfo,
  received: number,
  failure: unknown,
): void {
  const { group, version, resource, subresource, namespace, name } = route
  const status = failure === undefined ? {} : { reason: asStatusError(failure).reason, message: messageOf(failure) }
  audit.record({
    id: randomUUID(),
    uri: exchange.url,
    verb: route.verb,
    user,
    sourceIps: [exchange.socket.remoteAddress ?? ''],
    userAgent: exchange.headers['user-agent'],
    target: { group, version, resource, subresource, namespace, name },
    status: { code: exchange.status, ...status },
    received,
  })
}

type Labels = readonly [string, string, string, string, string, string]

function labelsOf({ method }: Exchange, route: ResourceRoute | PathRoute): Labels {
  if (!('resource' in route)) return [method, '', '', '', '', '']
  const { verb, group, version, resource, subresource, namespace, name } = route
  const scope = name ? 'resource' : namespace ? 'namespace' : 'cluster'
  return [verb.toUpperCase(), group, version, resource, subresource, scope]
}
