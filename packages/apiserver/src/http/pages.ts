import { openidDocuments } from '../access/openid.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import type { Engine } from '../engine.js'
import type { ServerMetrics } from '../metrics.js'
import { openApiPages } from '../openapi/index.js'
import { BACKUP_PATH, backupPage } from './backup.js'
import type { Exchange } from './exchange.js'
import { requireJson } from './media.js'
import { sendText } from './paths.js'
import type { PathRoute } from './route.js'
import type { Page } from './serve.js'

/** The Kubernetes whose behaviour is served; clients decide by it what they may ask. */
export const KUBERNETES_VERSION = { major: '1', minor: '34', gitVersion: 'v1.34.4' }

export interface HealthCheck {
  readonly name: string
  /** Throws what is wrong. */
  check(): void
}

/** /healthz, /livez, /readyz with `?verbose`, `?exclude=` and one check each below them. */
function healthPages(checks: {
  healthz: readonly HealthCheck[]
  livez: readonly HealthCheck[]
  readyz: readonly HealthCheck[]
}): [string, Page][] {
  return Object.entries(checks).flatMap(([name, list]): [string, Page][] => [
    [`/${name}`, (exchange, route) => serveHealth(exchange, route, name, list)],
    ...list.map((one): [string, Page] => [
      `/${name}/${one.name}`,
      (exchange, route) => serveHealth(exchange, route, name, [one], true),
    ]),
  ])
}

function serveHealth(
  exchange: Exchange,
  { query }: PathRoute,
  name: string,
  list: readonly HealthCheck[],
  single = false,
): void {
  const excluded = new Set(query.getAll('exclude'))
  const lines: string[] = []
  let failed = false
  for (const one of list) {
    if (excluded.has(one.name)) {
      lines.push(`[+]${one.name} excluded: ok`)
      continue
    }
    try {
      one.check()
      lines.push(`[+]${one.name} ok`)
    } catch {
      // The reason is in the log: health is for everybody, reasons are not.
      failed = true
      lines.push(`[-]${one.name} failed: reason withheld`)
    }
  }
  if (failed) sendText(exchange, 500, `${lines.join('\n')}\n${name} check failed\n`)
  else if (query.has('verbose') && !single) sendText(exchange, 200, `${lines.join('\n')}\n${name} check passed\n`)
  else sendText(exchange, 200, 'ok')
}

function versionPage(): Page {
  const version = {
    ...KUBERNETES_VERSION,
    emulationMajor: '1',
    emulationMinor: '34',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '33',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'v8',
    platform: `${process.platform === 'win32' ? 'windows' : process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
  const bytes = Buffer.from(JSON.stringify(version, null, 2))
  return (exchange) => {
    requireJson(exchange.headers.accept)
    exchange.respond(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }, bytes)
  }
}

/** Every path that is neither resource nor discovery. */
export function pagesOf(
  engine: Engine,
  metrics: ServerMetrics,
  tokens: ServiceAccountTokens,
  dataDir: string,
  address: () => string,
): ReadonlyMap<string, Page> {
  const store: HealthCheck = {
    name: 'store',
    check: () => {
      if (engine.store.failure) throw engine.store.failure
    },
  }
  const ping: HealthCheck = { name: 'ping', check: () => {} }
  const openid: Page = (exchange, { path }) => {
    const document = openidDocuments(tokens, address()).get(path)!
    const headers = { 'content-type': document.contentType, 'cache-control': document.cacheControl }
    exchange.respond(200, headers, Buffer.from(document.body))
  }
  return new Map<string, Page>([
    ...healthPages({ healthz: [ping, store], livez: [ping], readyz: [ping, store] }),
    ['/version', versionPage()],
    ['/metrics', (exchange) => sendMetrics(exchange, metrics)],
    [BACKUP_PATH, backupPage(engine.store, dataDir)],
    ['/.well-known/openid-configuration', openid],
    ['/openid/v1/jwks', openid],
    ...openApiPages(() => engine.registry.definitions()),
  ])
}

function sendMetrics(exchange: Exchange, metrics: ServerMetrics): void {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  exchange.respond(200, headers, Buffer.from(metrics.registry.expose()))
}
