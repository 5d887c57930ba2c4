import { Metrics, messageOf, quote } from '@crosstie/kube'
import type { Store } from '../store/store.js'
import type { Exchange } from '../transport/exchange.js'
import { sendMetrics, sendText } from './paths.js'
import type { PathRoute } from './route.js'
import type { Page } from './serve.js'

interface HealthCheck {
  readonly name: string
  /** Throws when the check fails. */
  check(): void
}

const passed = (name: string): HealthCheck => ({ name, check: () => {} })

/** These always pass: the port opens after they are done. */
const started = [
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/rbac/bootstrap-roles',
].map(passed)

/**
 * The checks of `/healthz`, `/livez` and `/readyz`, under the names of kube-apiserver, so that probes can request
 * and exclude them. The store is named `etcd`.
 */
function checksOf(store: Store, stopping: AbortSignal): Record<string, readonly HealthCheck[]> {
  const writable = (name: string): HealthCheck => ({
    name,
    check: () => {
      if (store.failure) throw store.failure
    },
  })
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (stopping.aborted) throw new Error('process is shutting down')
    },
  }
  const running = [passed('ping'), passed('log')]
  const ready = [writable('etcd-readiness'), passed('informer-sync')]
  return {
    healthz: [...running, writable('etcd'), ...started],
    // A restart does not fix a full disk. Liveness requires only that reads are answered.
    livez: [...running, passed('etcd'), ...started],
    readyz: [...running, writable('etcd'), ...ready, ...started, shutdown],
  }
}

/**
 * Health endpoints with `?verbose` and `?exclude=`, an endpoint for each check, and `/metrics/slis` with their
 * results.
 */
export function healthPages(store: Store, stopping: AbortSignal): [string, Page][] {
  const results = new Results()
  const pages = Object.entries(checksOf(store, stopping)).flatMap(([name, checks]): [string, Page][] => [
    [`/${name}`, (exchange, route) => serveHealth(exchange, route, name, checks, results)],
    ...checks.map((one): [string, Page] => [`/${name}/${one.name}`, (exchange) => serveCheck(exchange, one)]),
  ])
  return [...pages, ['/metrics/slis', (exchange) => sendMetrics(exchange, results.metrics)]]
}

/** The last result and the totals of each check. */
class Results {
  readonly metrics = new Metrics()
  readonly #last = this.metrics.gauge(
    'kubernetes_healthcheck',
    '[STABLE] This metric records the result of a single healthcheck.',
    ['name', 'type'],
  )
  readonly #all = this.metrics.counter(
    'kubernetes_healthchecks_total',
    '[STABLE] This metric records the results of all healthcheck.',
    ['name', 'status', 'type'],
  )

  add(name: string, type: string, ok: boolean): void {
    this.#last.with(name, type).set(ok ? 1 : 0)
    this.#all.with(name, ok ? 'success' : 'error', type).inc()
  }
}

function serveHealth(
  exchange: Exchange,
  { query }: PathRoute,
  name: string,
  checks: readonly HealthCheck[],
  results: Results,
): void {
  const excluded = new Set(query.getAll('exclude'))
  const lines: string[] = []
  let failed = false
  for (const one of checks) {
    if (excluded.delete(one.name)) {
      lines.push(`[+]${one.name} excluded: ok`)
      continue
    }
    const ok = failureOf(one) === undefined
    results.add(one.name, name, ok)
    // The reason is written to the log only, because the endpoint is public.
    lines.push(ok ? `[+]${one.name} ok` : `[-]${one.name} failed: reason withheld`)
    failed ||= !ok
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map(quote).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  if (failed) sendText(exchange, 500, `${lines.join('\n')}\n${name} check failed\n`)
  else if (query.has('verbose')) sendText(exchange, 200, `${lines.join('\n')}\n${name} check passed\n`)
  else sendText(exchange, 200, 'ok')
}

/** The endpoint of one check. It requires authorization, since it shows the reason. */
function serveCheck(exchange: Exchange, one: HealthCheck): void {
  const failure = failureOf(one)
  if (failure) sendText(exchange, 500, `internal server error: ${messageOf(failure.error)}\n`)
  else sendText(exchange, 200, 'ok')
}

function failureOf(one: HealthCheck): { readonly error: unknown } | undefined {
  try {
    one.check()
    return undefined
  } catch (error) {
    return { error }
  }
}
