import {
  CachedClient,
  Controllers,
  EventRecorder,
  Informers,
  type Log,
  type ShardFilter,
  sharedAbortController,
  sleep,
} from '@crosstie/controller'
import { type Client, groupResource, type KubeObject, type Metrics, messageOf, systemClock } from '@crosstie/kube'
import {
  aggregateClassCrd,
  aggregateController,
  aggregateCrd,
  aggregateType,
  approvalPolicy,
  type Binding,
  type Budgets,
  type ConversionEndpoint,
  claimController,
  countStates,
  defineBinding,
  discoveryRequestCrd,
  externalNamePolicy,
  type Features,
  findIn,
  kindRoles,
  type ManagedKind,
  type ManagedOptions,
  managedController,
  managedMetrics,
  operatorRoles,
  type Provider,
  type ProviderRuntime,
  planRequestCrd,
  providerConfigController,
  queryController,
  requestControllers,
  requestIdentityPolicy,
  requestRoles,
  reservationCrd,
} from '@crosstie/resources'
import { callBudgets } from './budgets.js'
import { awaitDefinitions, installPolicy, untilServed, writeConversion, writeDefinition } from './installation.js'
import { atMost } from './parallel.js'
import type { ProviderRegistry } from './registry.js'
import { installRole } from './roles.js'
import { RuntimeKinds } from './runtime-kinds.js'

/** Options of a {@link ControlPlane}. */
export interface ControlOptions {
  readonly registry: ProviderRegistry
  readonly client: Client
  readonly metrics: Metrics
  readonly log: Log
  /** Request initial states as streams. For remote servers. */
  readonly watchList?: boolean
  /** Read watched objects from memory. For remote servers. */
  readonly cached?: boolean
  /** Do not install CustomResourceDefinitions. */
  readonly skipDefinitions?: boolean
  /** The endpoint that converts versions of kinds. Absent: only the newest version of each kind is served. */
  readonly conversion?: ConversionEndpoint | undefined
  /** The poll interval of resources that are in sync. */
  readonly pollSeconds?: number
  /** The rate limit of provider calls per set of credentials. */
  readonly callsPerSecond?: number
  readonly concurrency?: number
  readonly share?: ShardFilter
  readonly features?: Features
  /** The namespace of the controllers' own objects. */
  readonly namespace?: string
  /** Options for single providers, by the name of the provider. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const POLL_SECONDS = 60
/** The jitter of poll intervals, so that resources do not stay synchronized. */
const SPREAD = 0.1
/** The page size of initial lists, which bounds the time that others wait. */
const PAGE_SIZE = 500
/** The number of definitions that are written at a time. A busy server answers too late with more. */
const WRITE_AT_ONCE = 8
const INSTALL_RETRY_MS = 2_000
const STOP_GRACE_MS = 8_000
const CONTROLLERS_NAMESPACE = 'crosstie-system'

type ConfigKind = NonNullable<ManagedKind['providerConfig']>

/** The controllers of all kinds, for any Kubernetes API. */
export class ControlPlane implements AsyncDisposable {
  readonly #options: ControlOptions
  readonly #informers: Informers
  readonly #controllers: Controllers
  readonly #events: EventRecorder
  readonly #managed: Omit<ManagedOptions, 'budgets'>
  readonly #stopCounting: () => void
  readonly #stop = sharedAbortController()
  readonly #writing = atMost(WRITE_AT_ONCE)
  readonly #starting: Promise<unknown>
  /** Whether each definition is served, by name. */
  readonly #definitions = new Map<string, Promise<boolean>>()
  /** External names are reserved before resources are managed. */
  readonly #reservations: Promise<boolean>
  /** Kinds that providers added while the control plane runs. */
  readonly #runtimeKinds = new RuntimeKinds({
    startConfig: (config) => this.#startRuntimeConfig(config),
    stopConfig: ({ type }) => this.#controllers.remove(groupResource(type)),
    startKind: (kind) => this.#startRuntimeKind(kind),
    stopKind: (kind) => this.#stopKind(kind),
    changed: (owner, kinds) => this.#runtimeKindsChanged(owner, kinds),
  })
  readonly #budgets = new Map<ConfigKind, Budgets>()
  readonly #runtimes: ProviderRuntime[] = []
  #claimsRun = false
  /** Resolves when the kinds of all providers are served, or when the control plane stops. */
  readonly served: Promise<unknown>

  constructor(options: ControlOptions) {
    this.#options = options
    const { client, metrics, log } = options
    const { kinds } = options.registry
    const clock = systemClock
    this.#informers = new Informers(client, {
      log,
      watchList: options.watchList,
      pageSize: PAGE_SIZE,
      // Controllers of other kinds may watch a kind before it is served.
      served: (type) => this.#definitions.get(groupResource(type)),
    })
    this.#controllers = new Controllers({
      informers: this.#informers,
      metrics,
      log,
      concurrency: options.concurrency,
      shardFilter: options.share,
    })
    this.#events = new EventRecorder({ client, component: 'crosstie', clock, metrics, log })
    this.#managed = {
      client: options.cached ? new CachedClient(client, this.#informers) : client,
      api: client,
      clock,
      events: this.#events,
      metrics: managedMetrics(metrics),
      pollSeconds: options.pollSeconds ?? POLL_SECONDS,
      ...(options.features ? { features: options.features } : {}),
      adjustPoll: (_, seconds) => seconds * (1 - SPREAD + 2 * SPREAD * Math.random()),
    }
    this.#stopCounting = countStates(metrics, () => this.#ours())
    this.#reservations = this.#install(reservationCrd())
    const configs = new Set(kinds.flatMap(({ providerConfig }) => providerConfig ?? []))
    const { claims } = options.registry
    const claimsServed = this.#install(aggregateCrd(), aggregateClassCrd(), ...claims.map((kind) => kind.crd()))
    this.served = Promise.all([
      ...[...configs].map((config) => this.#startConfig(config)),
      ...kinds.map((kind) => this.#startKind(kind)),
      ...options.registry.providers.map((provider) => this.#startRuntime(provider)),
      claimsServed,
      this.#startRequests(),
    ])
    this.#starting = Promise.all([this.#startClaims(), this.#installRoles(), this.#installPolicies()])
  }

  /** Returns all managed resources in memory. */
  *managed(): IterableIterator<KubeObject> {
    for (const { type } of this.#kinds()) yield* this.#informers.known(type)?.cache.values() ?? []
  }

  *#kinds(): IterableIterator<ManagedKind> {
    yield* this.#options.registry.kinds
    yield* this.#runtimeKinds.all()
  }

  /** Returns the managed resources of this process, with their kinds. */
  *#ours(): IterableIterator<readonly [ManagedKind, KubeObject]> {
    const { share } = this.#options
    for (const kind of this.#kinds()) {
      for (const [key, object] of this.#informers.known(kind.type)?.cache.entries() ?? []) {
        if (!share || share.includes(key)) yield [kind, object]
      }
    }
  }

  /** Stops. Reconciliations in progress may finish within the grace period. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stop.abort()
    await this.#starting
    await this.#runtimeKinds.idle()
    await Promise.all([this.#controllers.stop(graceMs), this.#informers.stop()])
    await Promise.all(this.#runtimes.map((runtime) => runtime[Symbol.asyncDispose]()))
    await this.#events.stop()
    this.#stopCounting()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #startKind(kind: ManagedKind): Promise<void> {
    const served = [this.#install(...this.#definitionsOf(kind)), this.#reservations]
    if ((await Promise.all(served)).every(Boolean)) this.#startControllers(kind)
  }

  #definitionsOf(kind: ManagedKind): readonly KubeObject[] {
    return [kind.crd(this.#options.conversion), kind.classCrd(), ...(kind.query ? [kind.query.crd()] : [])]
  }

  #startControllers(kind: ManagedKind): void {
    const budgets = kind.providerConfig && this.#budgetsOf(kind.providerConfig)
    const options = { ...this.#managed, ...(budgets ? { budgets } : {}) }
    this.#controllers.start(managedController(kind, options))
    // Not cached: a query must see objects that it just created.
    const queries = queryController(kind, { ...options, client: this.#options.client })
    if (queries) this.#controllers.start(queries)
  }

  /** Returns the rate limits that all kinds of a ProviderConfig share. */
  #budgetsOf(config: ConfigKind): Budgets {
    const budgets = this.#budgets.get(config) ?? callBudgets(this.#options.callsPerSecond)
    this.#budgets.set(config, budgets)
    return budgets
  }

  /** Starts the controllers of a provider that adds kinds at run time. */
  async #startRuntime(provider: Provider): Promise<void> {
    if (!provider.run || !(await this.#install(...(provider.definitions ?? [])))) return
    const { client, log, namespace = CONTROLLERS_NAMESPACE, settings = {}, share } = this.#options
    const runtime = provider.run({
      client,
      namespace,
      events: this.#events,
      settings: settings[provider.name] ?? {},
      signal: this.#stop.signal,
      log: (message, fields) => log.info(message, { provider: provider.name, ...fields }),
      reportsOn: (name) => share?.includes(name) ?? true,
      setKinds: (owner, kinds) => this.#runtimeKinds.set(owner, kinds),
    })
    this.#runtimes.push(runtime)
    for (const controller of runtime.controllers) this.#controllers.start(controller)
  }

  async #startRuntimeConfig(config: ConfigKind): Promise<void> {
    await this.#write(config.crd(), config.usageCrd())
    this.#controllers.start(providerConfigController(config, { client: this.#managed.client, events: this.#events }))
  }

  async #startRuntimeKind(kind: ManagedKind): Promise<void> {
    await this.#write(...this.#definitionsOf(kind))
    if ((await this.#reservations) && !this.#stop.signal.aborted) this.#startControllers(kind)
  }

  async #stopKind(kind: ManagedKind): Promise<void> {
    if (kind.query) await this.#controllers.remove(groupResource(kind.query.type))
    await this.#controllers.remove(groupResource(kind.type))
  }

  /** Claims, roles and admission policies follow the kinds. Roles and policies need rights that controllers may not have. */
  async #runtimeKindsChanged(owner: string, kinds: readonly ManagedKind[]): Promise<void> {
    if (this.#claimsRun) await this.#restartClaims()
    const { client, log } = this.#options
    const { signal } = this.#stop
    try {
      if (kinds.length === 0) return
      for (const role of kindRoles(owner, kinds)) await installRole(client, role, log, signal)
      const policies = [...externalNamePolicy(owner, kinds), ...approvalPolicy(owner, kinds)]
      for (const object of policies) await installPolicy(client, object, log, signal)
    } catch (error) {
      if (!signal.aborted) log.warn('cannot install roles and admission policies', { owner, error: messageOf(error) })
    }
  }

  /** Starts the claim controllers after the kinds that they watch are served. */
  async #startClaims(): Promise<void> {
    await this.served
    if (this.#stop.signal.aborted) return
    this.#runClaims()
    this.#claimsRun = true
  }

  async #restartClaims(): Promise<void> {
    const { claims } = this.#options.registry
    const names = [...claims.map(({ type }) => type), aggregateType].map(groupResource)
    await Promise.all(names.map((name) => this.#controllers.remove(name)))
    this.#runClaims()
  }

  #bindings(): readonly Binding[] {
    const { claims, bindings } = this.#options.registry
    // For kinds that were added at run time only the class decides.
    const added = [...this.#runtimeKinds.all()]
    return [...bindings, ...claims.flatMap((claim) => added.map((managed) => defineBinding({ claim, managed })))]
  }

  #runClaims(): void {
    const { claims } = this.#options.registry
    const bindings = this.#bindings()
    const { client, events, clock, pollSeconds } = this.#managed
    const find = findIn(this.#informers, this.#options.client)
    const options = {
      client,
      bindings,
      find,
      ...(events ? { events } : {}),
      ...(clock ? { clock } : {}),
      ...(pollSeconds ? { pollSeconds } : {}),
    }
    for (const kind of claims) this.#controllers.start(claimController(kind, options))
    this.#controllers.start(aggregateController(options))
  }

  /** Answers requests for plans and lists with the credentials of this control plane. */
  async #startRequests(): Promise<void> {
    if (!(await this.#install(planRequestCrd(), discoveryRequestCrd()))) return
    const { client, registry, features } = this.#options
    const controllers = requestControllers({
      client,
      catalog: () => ({
        kinds: [...this.#kinds()],
        claims: registry.claims,
        bindings: this.#bindings(),
        providers: [...registry.providers, ...this.#runtimeKinds.owners()],
      }),
      budgetsFor: ({ providerConfig }) => providerConfig && this.#budgetsOf(providerConfig),
      ...(features ? { features } : {}),
    })
    for (const controller of controllers) this.#controllers.start(controller)
  }

  async #installRoles(): Promise<void> {
    const { client, log, skipDefinitions, registry } = this.#options
    const { signal } = this.#stop
    if (skipDefinitions) return
    await this.#untilDone('install roles', async () => {
      const roles = registry.providers.flatMap((provider) => provider.roles ?? [])
      for (const role of [
        ...operatorRoles(registry.claims, registry.kinds),
        ...requestRoles(registry.kinds),
        ...roles,
      ]) {
        await installRole(client, role, log, signal)
      }
    })
  }

  /** Names of existing external resources are protected at admission. Without the policies the reconciler restores them. */
  async #installPolicies(): Promise<void> {
    const { client, log, skipDefinitions, registry } = this.#options
    const { signal } = this.#stop
    if (skipDefinitions) return
    await this.#untilDone('install admission policies', async () => {
      for (const object of requestIdentityPolicy()) await installPolicy(client, object, log, signal)
      for (const { name, kinds } of registry.providers.filter((provider) => provider.kinds.length > 0)) {
        const policies = [...externalNamePolicy(name, kinds), ...approvalPolicy(name, kinds)]
        for (const object of policies) await installPolicy(client, object, log, signal)
      }
    })
  }

  async #startConfig(config: ConfigKind): Promise<void> {
    if (!(await this.#install(config.crd(), config.usageCrd()))) return
    const { client } = this.#managed
    this.#controllers.start(providerConfigController(config, { client, events: this.#events }))
  }

  /** Writes definitions and waits until they are served. Throws when that fails. */
  async #write(...definitions: readonly KubeObject[]): Promise<void> {
    const { client, log } = this.#options
    const { signal } = this.#stop
    await Promise.all(
      definitions.map(async (crd) => {
        await this.#writing(() => writeDefinition(client, crd, log, signal))
        await untilServed(client, crd, signal)
      }),
    )
  }

  /** Resolves to true when the definitions are served, and to false when the control plane stops before. */
  #install(...definitions: readonly KubeObject[]): Promise<boolean> {
    const { client, log, skipDefinitions } = this.#options
    const { signal } = this.#stop
    const served = skipDefinitions
      ? this.#untilDone('look for definitions', async () => {
          await awaitDefinitions(client, definitions, log, signal)
          for (const crd of definitions) await writeConversion(client, crd, log, signal)
        })
      : this.#untilDone('install definitions', () => this.#write(...definitions))
    for (const { metadata } of definitions) this.#definitions.set(metadata.name!, served)
    return served
  }

  /** Retries until it succeeds: the server may not be ready, or permissions may be granted later. */
  async #untilDone(what: string, run: () => Promise<void>): Promise<boolean> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await run()
        return !signal.aborted
      } catch (error) {
        if (signal.aborted) return false
        this.#options.log.error(`cannot ${what}`, { error: messageOf(error) })
        await sleep(INSTALL_RETRY_MS, signal)
      }
    }
    return false
  }
}
