import { createHash } from 'node:crypto'
import type { Metrics } from '@crosstie/kube'
import { methodUnknown, resourceNotFound } from '../definitions/refusals.js'
import type { Exchange } from '../transport/exchange.js'
import { aggregatedDiscoveryOffer, representationError, tryNegotiate } from '../wire/negotiate.js'
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions, groupsOf } from './discovery.js'
import { sendValue } from './encode.js'
import { type Media, plainJson, plainMedia, readable } from './media.js'
import type { PathRoute } from './route.js'
import { isBuiltIn, type Page, PageNotFoundError, type Site } from './serve.js'

/** Serves paths that are not resources: health, version, discovery, documents. */
export async function servePath(site: Site, exchange: Exchange, route: PathRoute): Promise<void> {
  const path = route.path.length > 1 && route.path.endsWith('/') ? route.path.slice(0, -1) : route.path
  const routed = isRouted(site, path)
  const answer = answerAt(site, route, path, routed)
  if (!answer) throw routed ? resourceNotFound() : new PageNotFoundError()
  if (routed && exchange.method !== 'GET') throw methodUnknown()
  await answer(exchange, route)
}

function answerAt(site: Site, { path: asked, query }: PathRoute, path: string, routed: boolean): Page | undefined {
  const page = pageFor(site, routed ? path : asked)
  if (page) return page
  if (path === '/' || path === '/index.html') return (exchange) => sendIndex(site, exchange)
  if (path === '/api' || path === '/apis') return (exchange) => serveRoots(site, exchange, path, query)
  const document = discoveryDocument(site, path)
  if (document === undefined) return undefined
  return (exchange) => sendPlain(exchange, query, document, routed)
}

const routedPages = new Set(['/version', '/openid/v1/jwks', '/.well-known/openid-configuration'])

/**
 * Whether kube-apiserver serves the path with its resource router, which ignores a trailing slash and permits only
 * GET.
 */
function isRouted({ engine }: Site, path: string): boolean {
  if (routedPages.has(path)) return true
  const [root, group, version] = path.slice(1).split('/')
  return (
    root === 'api' ||
    (root === 'apis' && Boolean(group) && version !== undefined && isBuiltIn(engine, { group: group! }))
  )
}

/** The list of paths at the root. */
function sendIndex({ pages, engine: { registry } }: Site, exchange: Exchange): void {
  const groups = groupsOf(registry).flatMap(({ name, versions }) =>
    ['', ...versions.map((one) => `/${one}`)].map((end) => `/apis/${name}${end}`),
  )
  const paths = ['/api', '/api/v1', '/apis', '/apis/', ...groups, ...pages.keys()].sort()
  const bytes = Buffer.from(JSON.stringify({ paths }, null, 2))
  exchange.respond(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }, bytes)
}

/** Returns the handler of a path. A handler whose name ends in `/` serves all paths below it. */
function pageFor({ pages }: Site, path: string) {
  const exact = pages.get(path)
  if (exact) return exact
  for (const [name, page] of pages) if (name.endsWith('/') && path.startsWith(name)) return page
  return undefined
}

async function serveRoots(site: Site, exchange: Exchange, path: string, query: URLSearchParams): Promise<void> {
  const { registry } = site.engine
  const wanted = tryNegotiate(exchange.headers.accept, aggregatedDiscoveryOffer)
  if (!wanted?.as) {
    return await sendPlain(exchange, query, path === '/api' ? apiVersions(site.address()) : apiGroupList(registry))
  }
  const { group, version } = wanted.as
  const document = aggregatedDiscovery(registry, path === '/api', `${group}/${version}`)
  const etag = `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`
  if (exchange.headers['if-none-match'] === etag) {
    exchange.respond(304, { etag, vary: 'Accept', 'cache-control': 'no-cache, private' })
    return
  }
  const media = { ...plainJson, contentType: `application/json;g=${group};v=${version};as=APIGroupDiscoveryList` }
  await sendValue({ exchange, media, warnings: [], now: 0 }, 200, document, { vary: 'Accept', etag })
}

function discoveryDocument({ engine: { registry } }: Site, path: string): unknown {
  const [root, group, version, ...rest] = path.slice(1).split('/')
  if (rest.length > 0 || group === undefined) return undefined
  if (root === 'api') return version === undefined ? apiResourceList(registry, '', group) : undefined
  if (root !== 'apis') return undefined
  return version === undefined ? apiGroup(registry, group) : apiResourceList(registry, group, version)
}

async function sendPlain(exchange: Exchange, query: URLSearchParams, value: unknown, routed = false): Promise<void> {
  const media = readable(mediaFor(exchange.headers.accept, routed), query, exchange)
  await sendValue({ exchange, media, warnings: [], now: 0 }, 200, value)
}

function mediaFor(accept: string | undefined, routed: boolean): Media {
  try {
    return plainMedia(accept)
  } catch (error) {
    throw routed ? representationError(error, accept) : error
  }
}

/** Sends plain text. */
export function sendText(exchange: Exchange, status: number, text: string): void {
  exchange.respond(
    status,
    {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache, private',
      'x-content-type-options': 'nosniff',
    },
    Buffer.from(text),
  )
}

/** Sends metrics in the text format of Prometheus. */
export function sendMetrics(exchange: Exchange, metrics: Metrics): void {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-cache, private' }
  exchange.respond(200, headers, Buffer.from(metrics.expose()))
}
