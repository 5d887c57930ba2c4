import { type Family, Metrics, type Series } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Metrics of the server, under the names of kube-apiserver. */
export class ServerMetrics {
  readonly registry: Metrics
  readonly #requests: Family
  readonly #seconds: Family
  readonly #running: Series

  constructor(engine: Engine, registry = new Metrics()) {
    this.registry = registry
    const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'code']
    this.#requests = registry.counter('apiserver_request_total', 'Requests by verb, resource and answer.', labels)
    this.#seconds = registry.histogram(
      'apiserver_request_duration_seconds',
      'How long requests took, watches left out.',
      ['verb', 'group', 'version', 'resource', 'subresource', 'scope'],
      SECONDS,
    )
    const current = registry.gauge('apiserver_current_inflight_requests', 'Requests being worked on.', ['request_kind'])
    this.#running = current.with('all')
    this.#describeStore(engine)
    this.#describeProcess()
  }

  begin(): void {
    this.#running.inc()
  }

  end(labels: readonly [string, string, string, string, string, string], code: number, seconds: number): void {
    this.#running.inc(-1)
    this.#requests.with(...labels, String(code)).inc()
    if (labels[0] !== 'WATCH') this.#seconds.with(...labels).observe(seconds)
  }

  #describeStore({ store, registry, hub }: Engine): void {
    const objects = this.registry.gauge('apiserver_storage_objects', 'Objects kept, by resource.', ['resource'])
    const revision = this.registry.gauge('crosstie_store_revision', 'The newest durable revision.')
    const watchers = this.registry.gauge('apiserver_longrunning_requests', 'Watches being served.', ['verb'])
    this.registry.onCollect(() => {
      objects.clear()
      for (const { group, names, sharedWith } of registry.definitions()) {
        if (sharedWith) continue
        const name = group === '' ? names.plural : `${names.plural}.${group}`
        objects.with(name).set(store.count(`/${group}/${names.plural}/`))
      }
      revision.with().set(store.revision)
      watchers.with('WATCH').set(hub.watchers)
    })
  }

  #describeProcess(): void {
    const cpu = this.registry.counter('process_cpu_seconds_total', 'CPU time used, user and system.')
    const resident = this.registry.gauge('process_resident_memory_bytes', 'Memory in RAM.')
    const heap = this.registry.gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.')
    const start = this.registry.gauge('process_start_time_seconds', 'When the process started.')
    start.with().set(Date.now() / 1000 - process.uptime())
    this.registry.onCollect(() => {
      const { user, system } = process.cpuUsage()
      cpu.with().set((user + system) / 1e6)
      const { rss, heapUsed } = process.memoryUsage()
      resident.with().set(rss)
      heap.with().set(heapUsed)
    })
  }
}
