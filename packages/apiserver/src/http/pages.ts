import { openidDocuments } from '../access/openid.js'
import type { ServiceAccountTokens } from '../access/tokens.js'
import type { Engine } from '../serving/engine.js'
import { BACKUP_PATH, backupPage } from './backup.js'
import { healthPages } from './health.js'
import { requireJson, requireType } from './media.js'
import type { ServerMetrics } from './metrics.js'
import { openApiPages } from './openapi-pages.js'
import { sendMetrics } from './paths.js'
import type { Page } from './serve.js'

/** The version of Kubernetes whose behavior is implemented. Clients choose features by it. */
export const KUBERNETES_VERSION = { major: '1', minor: '34', gitVersion: 'v1.34.4' }

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

interface PagesOptions {
  readonly engine: Engine
  readonly metrics: ServerMetrics
  readonly tokens: ServiceAccountTokens
  readonly dataDir: string
  readonly stopping: AbortSignal
  /** `host:port` as clients reach it. */
  address(): string
}

/** Returns the handlers of paths that are neither resources nor discovery. */
export function pagesOf({
  engine,
  metrics,
  tokens,
  dataDir,
  stopping,
  address,
}: PagesOptions): ReadonlyMap<string, Page> {
  const openid = (path: string): [string, Page] => [
    path,
    (exchange) => {
      const document = openidDocuments(tokens, address()).get(path)!
      requireType(exchange.headers.accept, document.contentType)
      const headers = { 'content-type': document.contentType, 'cache-control': document.cacheControl }
      exchange.respond(200, headers, Buffer.from(document.body))
    },
  ]
  return new Map<string, Page>([
    ...healthPages(engine.store, stopping),
    ['/version', versionPage()],
    ['/metrics', (exchange) => sendMetrics(exchange, metrics.registry)],
    [BACKUP_PATH, backupPage(engine.store, dataDir)],
    openid('/.well-known/openid-configuration'),
    openid('/openid/v1/jwks'),
    ...openApiPages(() => engine.registry.definitions()),
  ])
}
