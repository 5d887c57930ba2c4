import { badRequest, getOwn, messageOf, StatusError } from '@crosstie/kube'
import { type AuditLog, isAudited } from '../access/audit.js'
import type { Authenticator } from '../access/authenticate.js'
import { type Attributes, type Authorizer, forbiddenError } from '../access/authorize.js'
import { impersonatorOf, MisplacedImpersonation } from '../access/impersonate.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import { ANONYMOUS, MASTERS, type UserInfo } from '../access/user.js'
import { resourceNotFound } from '../definitions/refusals.js'
import type { Engine } from '../serving/engine.js'
import type { Served } from '../serving/served.js'
import type { Exchange } from '../transport/exchange.js'
import type { Demand } from '../transport/limits.js'
import { asStatusError, sendError } from './encode.js'
import { identify } from './gate.js'
import { errorMedia, readable } from './media.js'
import { methods } from './methods.js'
import type { ServerMetrics } from './metrics.js'
import { checkTimeout } from './parameters.js'
import { sendText, servePath } from './paths.js'
import { type PathRoute, type ResourceRoute, routeOf } from './route.js'

/** The dependencies of request handlers. */
export interface Site {
  readonly engine: Engine
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly tokens: ServiceAccountTokens
  readonly metrics: ServerMetrics
  readonly audit?: AuditLog
  readonly stopping: AbortSignal
  /** Called for internal errors. */
  readonly report: (what: string, error: unknown) => void
  /**
   * Handlers besides resources and discovery: health and documents. A name that ends in `/` serves all paths below
   * it.
   */
  readonly pages: ReadonlyMap<string, Page>
  /** `host:port` as clients reach it. */
  address(): string
}

/** The handler of a path. */
export type Page = (exchange: Exchange, route: PathRoute) => Promise<void> | void

/** A resource request with its user and kind. */
export interface ResourceCall {
  readonly site: Site
  readonly exchange: Exchange
  readonly route: ResourceRoute
  readonly served: Served
  readonly user: UserInfo
  readonly warnings: string[]
  /** For the audit log, if there is one. */
  readonly annotations?: Map<string, string>
}

/** Serves one request: authenticates, limits, authorizes and runs the verb. */
export async function serve(site: Site, exchange: Exchange): Promise<void> {
  const started = performance.now()
  const received = site.engine.clock.now()
  site.metrics.begin()
  const route = routeOf(exchange.method, exchange.url)
  const warnings: string[] = []
  const annotations = site.audit && new Map<string, string>()
  // Read at the start: over HTTP/2 the address is not available after the client disconnected.
  const from = site.audit && exchange.socket.remoteAddress
  let user: UserInfo | undefined
  let failure: unknown
  try {
    if (!('resource' in route && route.verb === 'watch')) checkTimeout(route.query)
    user = identify(site.authenticator, site.authorizer, exchange, warnings)
    exchange.admit({ name: requesterName(user, exchange), exempt: user.groups.includes(MASTERS) }, demandOf(route))
    authorize(site, exchange, user, route)
    if (!('resource' in route)) return await servePath(site, exchange, route)
    const call: ResourceCall = { site, exchange, route, served: resolve(site, route), user, warnings, annotations }
    warnIfDeprecated(call)
    await methodOf(call)(call)
  } catch (error) {
    failure = error
    await fail(site, exchange, route.query, warnings, error)
  } finally {
    exchange.finish()
    if (site.audit && user && 'resource' in route && isAudited(route.verb)) {
      record(site.audit, exchange, route, { user, from, received, failure, annotations: annotations! })
    }
    const labels = failure === undefined ? labelsOf(exchange, route) : labelsOfFailed(site, exchange, route)
    site.metrics.end(labels, exchange.status, (performance.now() - started) / 1000)
  }
}

/** Limits count anonymous clients by address. */
function requesterName({ name }: UserInfo, { socket }: Exchange): string {
  return name === ANONYMOUS ? `${name} at ${socket.remoteAddress}` : name
}

/** Health checks are exempt from limits. */
function demandOf(route: ResourceRoute | PathRoute): Demand {
  if ('resource' in route) return route.verb === 'watch' ? 'watch' : 'request'
  return /^\/(?:livez|readyz|healthz)(?:\/|$)/.test(route.path) ? 'exempt' : 'request'
}

function authorize({ authorizer }: Site, exchange: Exchange, user: UserInfo, route: ResourceRoute | PathRoute): void {
  const attributes: Attributes =
    'resource' in route
      ? { user, ...attributesOf(route) }
      : { user, verb: exchange.method.toLowerCase(), path: route.path }
  const { allowed, reason } = authorizer.authorize(attributes)
  if (!allowed) throw forbiddenError(attributes, reason)
}

function attributesOf({ verb, group, resource, subresource, name, namespace, query }: ResourceRoute) {
  return { verb, group, resource, subresource, name: name || nameSelected(verb, query), namespace }
}

/** Returns the name in a field selector. A collection of one name is authorized like that object. */
function nameSelected(verb: string, query: URLSearchParams): string {
  const selector = query.get('fieldSelector')
  if (!selector || (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection')) return ''
  return /^(?:.*,)?metadata\.name==?([^,=!]+)(?:,.*)?$/.exec(selector)?.[1] ?? ''
}

function resolve({ engine }: Site, route: ResourceRoute): Served {
  const served = engine.registry.resolve(route.group, route.version, route.resource)
  // A namespaced kind can be listed without a namespace in the URL, but not read or written by name.
  const scoped =
    served && (served.definition.namespaced ? route.namespaced || overAll(served, route) : !route.namespaced)
  if (served && scoped) return served
  // kube-apiserver serves its own groups and custom resources with different routers, which have different errors.
  throw isBuiltIn(engine, route) ? resourceNotFound() : new PageNotFoundError()
}

/** Whether the group belongs to built-in kinds. */
export function isBuiltIn({ registry }: Engine, { group }: { group: string }): boolean {
  return registry.isReserved(group)
}

function overAll({ definition }: Served, { verb, name }: ResourceRoute): boolean {
  if (name !== '') return false
  if (verb === 'list' || verb === 'watch') return true
  const { routesWritesWithoutNamespace } = definition.strategy
  return routesWritesWithoutNamespace && (verb === 'create' || verb === 'deletecollection')
}

/** The path is not served. kube-apiserver answers in plain text. */
export class PageNotFoundError extends Error {
  override readonly name = 'PageNotFoundError'
}

function methodOf(call: ResourceCall): (call: ResourceCall) => Promise<void> {
  const { verb, subresource, name, namespaced } = call.route
  const { definition, type } = call.served
  const method = getOwn(methods, subresource ? `${verb}/${subresource}` : verb)
  if (subresource && !knows(call.served, subresource)) throw definition.strategy.unknownSubresourceError(type, name)
  if (!method || !offered(call) || misplaced(call)) throw definition.strategy.methodNotAllowedError(type, verb)
  if (definition.namespaced && !namespaced) {
    if (verb === 'create' && !definition.strategy.answer) throw emptyNamespace()
    if (verb === 'deletecollection') throw definition.strategy.methodNotAllowedError(type, verb)
  }
  return method
}

/** Whether the method does not fit the URL, for kinds that check this. */
function misplaced({ route: { verb, name, subresource }, exchange: { method }, served }: ResourceCall): boolean {
  if (!served.definition.strategy.matchesMethodToUrl) return false
  if (method === 'HEAD' || (verb === 'watch' && method !== 'GET')) return true
  if (subresource) return false
  return verb === 'create' ? name !== '' : (verb === 'update' || verb === 'patch') && name === ''
}

function knows({ version }: Served, subresource: string): boolean {
  return Object.entries(version.subresources).some(([name, known]) => name === subresource && known)
}

function emptyNamespace(): StatusError {
  return badRequest('an empty namespace may not be set during creation')
}

function offered({ served, route }: ResourceCall): boolean {
  return route.subresource !== '' || (served.definition.verbs as readonly string[]).includes(route.verb)
}

function warnIfDeprecated({ served, warnings }: ResourceCall): void {
  const { deprecated, deprecationWarning } = served.version
  if (deprecated) warnings.push(deprecationWarning ?? `${served.apiVersion} ${served.type.kind} is deprecated`)
}

async function fail(
  site: Site,
  exchange: Exchange,
  query: URLSearchParams,
  warnings: readonly string[],
  error: unknown,
): Promise<void> {
  if (error instanceof PageNotFoundError) {
    sendText(exchange, 404, '404 page not found\n')
    return
  }
  if (error instanceof MisplacedImpersonation) {
    sendText(exchange, error.code, `${error.message}\n`)
    return
  }
  if (!(error instanceof StatusError)) site.report(`${exchange.method} ${exchange.url.split('?', 1)[0]}`, error)
  if (exchange.status !== 0) return
  try {
    const media = readable(errorMedia(exchange.headers.accept), query, exchange)
    await sendError({ exchange, media, warnings }, error)
  } catch (second) {
    site.report('sending an error response', second)
  }
}

interface Audited {
  readonly user: UserInfo
  readonly from: string | undefined
  readonly received: number
  readonly failure: unknown
  readonly annotations: ReadonlyMap<string, string>
}

function record(audit: AuditLog, exchange: Exchange, route: ResourceRoute, audited: Audited): void {
  const { group, version, resource, subresource, namespace, name } = route
  const { user, from, received, failure, annotations } = audited
  const status = failure === undefined ? {} : { reason: asStatusError(failure).reason, message: messageOf(failure) }
  const actor = impersonatorOf(user)
  audit.record({
    id: exchange.auditId,
    uri: exchange.url,
    verb: route.verb,
    user: actor ?? user,
    ...(actor ? { impersonated: user } : {}),
    sourceIps: [from ?? ''],
    userAgent: exchange.headers['user-agent'],
    target: { group, version, resource, subresource, namespace, name },
    status: { code: exchange.status, ...status },
    received,
    ...(annotations.size > 0 ? { annotations: Object.fromEntries(annotations) } : {}),
  })
}

type Labels = readonly [string, string, string, string, string, string]

function labelsOf({ method }: Exchange, route: ResourceRoute | PathRoute): Labels {
  if (!('resource' in route)) return [method, '', '', '', '', '']
  const { verb, group, version, resource, subresource, namespace, name } = route
  const scope = name ? 'resource' : namespace ? 'namespace' : 'cluster'
  return [verb.toUpperCase(), group, version, resource, subresource, scope]
}

/** Labels stay in memory, and a failed request may name anything. Only served resources are counted by name. */
function labelsOfFailed({ engine }: Site, exchange: Exchange, route: ResourceRoute | PathRoute): Labels {
  const [verb, ...labels] = labelsOf(exchange, route)
  const [group, version, resource, subresource] = labels
  const served = resource && engine.registry.resolve(group, version, resource)
  const known = served && (subresource === '' || knows(served, subresource))
  return [countedVerbs.has(verb) ? verb : 'other', ...(known ? labels : unnamed)]
}

const unnamed = ['', '', '', '', ''] as const
const countedVerbs = new Set(
  'GET HEAD POST PUT DELETE LIST WATCH CREATE UPDATE PATCH DELETECOLLECTION OPTIONS'.split(' '),
)
