import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { attempt, type Client, type Clock, type Metrics, messageOf, systemClock } from '@crosstie/kube'
import { runAggregation } from './access/aggregation.js'
import { AuditLog, type AuditRotation } from './access/audit.js'
import { Authenticator, parseTokenFile } from './access/authenticate.js'
import { bootstrap } from './access/bootstrap.js'
import { closeToOthers } from './access/files.js'
import { signingKey } from './access/jwt.js'
import type { KubeconfigContent } from './access/kubeconfig.js'
import { openPki, type Pki } from './access/pki.js'
import { RbacAuthorizer } from './access/rbac.js'
import { runRotation } from './access/rotation.js'
import { runServiceAccounts } from './access/serviceaccounts.js'
import { ServiceAccountTokens } from './access/tokens.js'
import { authenticated, MASTERS, type UserInfo } from './access/user.js'
import { checkedKindsOf, ExtensibleAdmission } from './admission/extensible.js'
import { checkExpression, checkTypes } from './admission/policies/check.js'
import { runPolicyStatus } from './admission/policies/status.js'
import { DefinitionLifecycle } from './controllers/crd-lifecycle.js'
import { EventExpiry } from './controllers/event-expiry.js'
import { GarbageCollector } from './controllers/garbage-collector.js'
import { NamespaceLifecycle } from './controllers/namespaces.js'
import { validateCrd } from './definitions/validate.js'
import { ServerMetrics } from './http/metrics.js'
import { pagesOf } from './http/pages.js'
import { type Site, serve } from './http/serve.js'
import { LocalClient } from './local.js'
import { builtIn } from './serving/built-in.js'
import type { Engine } from './serving/engine.js'
import { KindRegistry } from './serving/registry.js'
import { defaultKeyFile } from './store/durable.js'
import { openStore } from './store/index.js'
import type { Store } from './store/store.js'
import type { ConnectionLimits } from './transport/limits.js'
import { Listener } from './transport/listener.js'
import { Hub } from './watch/hub.js'

/** Options of startServer. */
export interface ServerOptions {
  /** The directory of objects, keys and certificates. */
  readonly dataDir: string
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly clock?: Clock
  /** A file of bearer tokens that are accepted besides service account tokens. */
  readonly tokenFile?: string
  readonly auditLog?: string
  readonly auditRotation?: AuditRotation
  /** The file of the keys that encrypt Secrets. Default: `keys.json` in the data directory. */
  readonly keyFile?: string
  readonly eventTtlMs?: number
  /** Overrides of timeouts and of the number of connections. Defaults are those of kube-apiserver. */
  readonly connectionLimits?: Partial<ConnectionLimits>
  readonly metrics?: Metrics
  /** Called with one line for the operator. It never holds a secret. */
  readonly log?: (message: string) => void
}

const EVENT_TTL_MS = 3_600_000
const STOP_GRACE_MS = 5_000
const SECRETS = '//secrets/'
/** The issuer and default audience of service account tokens, as kube-apiserver is commonly configured. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local'

/** A running API server, reached by HTTPS and by `client()` in the process. */
export class Server implements AsyncDisposable {
  readonly engine: Engine
  readonly metrics: Metrics
  readonly #pki: Pki
  readonly #authorizer: RbacAuthorizer
  readonly #tokens: ServiceAccountTokens
  readonly #listener: Listener
  readonly #stops: readonly (() => Promise<void> | void)[]

  constructor(parts: {
    engine: Engine
    metrics: Metrics
    pki: Pki
    authorizer: RbacAuthorizer
    tokens: ServiceAccountTokens
    listener: Listener
    /** Functions that stop parts of the server, in the order of their calls. */
    stops: readonly (() => Promise<void> | void)[]
  }) {
    this.engine = parts.engine
    this.metrics = parts.metrics
    this.#pki = parts.pki
    this.#authorizer = parts.authorizer
    this.#tokens = parts.tokens
    this.#listener = parts.listener
    this.#stops = parts.stops
  }

  get url(): string {
    const { host, port } = this.#listener.address
    const name = host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host === '0.0.0.0' ? '127.0.0.1' : host
    return `https://${name}:${port}`
  }

  /** Returns the content of a kubeconfig for the administrator. */
  adminAccess(): KubeconfigContent {
    return { server: this.url, ca: this.#pki.ca, client: this.#pki.admin }
  }

  /** Returns a Client that acts as the user. Default: the administrator. */
  client(user: UserInfo = administrator): Client {
    return new LocalClient(this.engine, user, this.#authorizer, this.#tokens)
  }

  /** Ends watches, waits for running requests, then closes the store. */
  async close(): Promise<void> {
    for (const stop of this.#stops) await stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

const administrator = authenticated({ name: 'system:admin', groups: [MASTERS] })

/**
 * Opens the data directory, starts the controllers and serves HTTPS. Resolves when the server answers requests.
 * Throws when the directory is in use or damaged.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { dataDir, host, clock = systemClock, log = () => {} } = options
  const keys = openPki({ dataDir, host, clock, warn: log })
  keys.catch(() => {}) // A rejection is reported below, where the store can be closed.
  const store = await openData(options, clock, log)
  try {
    return await assemble({ ...options, clock, log }, store, await keys)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openData(options: ServerOptions, clock: Clock, log: (message: string) => void): Promise<Store> {
  const { dataDir, keyFile } = options
  await closeToOthers(keyFile ?? defaultKeyFile(dataDir), { groupMayRead: keyFile !== undefined, warn: log })
  const encryption = { encrypt: (key: string) => key.startsWith(SECRETS), keyFile }
  const health = (failure: Error | undefined) => log(failure?.message ?? 'writes to the store succeed again')
  return await attempt(`open the data in ${dataDir}`, () =>
    openStore({ dataDir, clock, encryption, health, warn: log }),
  )
}

type Report = (what: string, error: unknown) => void
type CompleteOptions = ServerOptions & Required<Pick<ServerOptions, 'clock' | 'log'>>

async function assemble(options: CompleteOptions, store: Store, pki: Pki): Promise<Server> {
  const { clock, log } = options
  const report: Report = (what, error) => log(`${what}: ${messageOf(error)}`)
  const authorizer = new RbacAuthorizer(store)
  const tokens = new ServiceAccountTokens({
    objects: store,
    key: signingKey(pki.signingKey),
    issuer: ISSUER,
    audiences: [ISSUER],
    clock,
    newId: randomUUID,
  })
  const staticTokens = await readTokens(options.tokenFile, log)
  const authenticator = new Authenticator({ tokens, staticTokens, clock })
  const registry = new KindRegistry(builtIn(authorizer, authenticator, validateCrd, checkExpression))
  const hub = new Hub(store)
  const admission = new ExtensibleAdmission({ store, registry, authorizer, newId: randomUUID })
  const engine: Engine = { store, registry, hub, clock, admission, authorizer }
  const keepers = [
    new DefinitionLifecycle(engine, report),
    new GarbageCollector(engine, report),
    new NamespaceLifecycle(engine, report),
    new EventExpiry(engine, options.eventTtlMs ?? EVENT_TTL_MS, report),
  ]
  for (const keeper of keepers) keeper.start()

  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // Every watch adds a listener.
  const client = new LocalClient(engine, administrator, authorizer, tokens)
  await bootstrap(client)
  const kinds = checkedKindsOf(registry)
  const background = Promise.all([
    runAggregation({ client, failed: report }, stopping.signal),
    runServiceAccounts({ client, tokens, ca: pki.ca, failed: report }, stopping.signal),
    runPolicyStatus({ client, check: (policy) => checkTypes(policy, kinds), failed: report }, stopping.signal),
  ])
  const metrics = new ServerMetrics(engine, options.metrics)
  const audit = await openAudit(options, report)
  const address = () => addressOf(listener)
  const site: Site = {
    engine,
    authenticator,
    authorizer,
    tokens,
    metrics,
    audit,
    stopping: stopping.signal,
    report,
    pages: pagesOf({ engine, metrics, tokens, dataDir: options.dataDir, stopping: stopping.signal, address }),
    address,
  }
  const listener = await Listener.open(
    {
      host: options.host,
      port: options.port,
      cert: pki.serving.cert,
      key: pki.serving.key,
      clientCa: pki.ca,
      limits: options.connectionLimits,
    },
    // An unexpected error must fail one request, not the process.
    (exchange) => void serve(site, exchange).catch((error) => report('serving a request', error)),
  )
  const renewing = runRotation(
    pki,
    {
      open: () => openPki({ dataDir: options.dataDir, host: options.host, clock, warn: log }),
      renew: ({ serving, ca }) => listener.renew({ ...serving, clientCa: ca }),
      failed: report,
    },
    stopping.signal,
  )
  const stops = [
    () => stopping.abort(),
    () => listener.close(STOP_GRACE_MS),
    async () => void (await Promise.all([background, renewing])),
    ...keepers.map((keeper) => () => keeper.stop()),
    () => audit?.close(),
    () => hub.close(),
    () => admission.close(),
    () => authorizer.close(),
    () => store.close(),
  ]
  return new Server({ engine, metrics: metrics.registry, pki, authorizer, tokens, listener, stops })
}

async function openAudit(
  { auditLog, auditRotation, clock }: CompleteOptions,
  report: Report,
): Promise<AuditLog | undefined> {
  if (auditLog === undefined) return undefined
  return await AuditLog.open({
    ...auditRotation,
    file: auditLog,
    clock,
    failed: (error) => report('writing the audit log', error),
  })
}

async function readTokens(
  file: string | undefined,
  warn: (message: string) => void,
): Promise<ReadonlyMap<string, UserInfo> | undefined> {
  if (file === undefined) return undefined
  await closeToOthers(file, { groupMayRead: true, warn })
  return await attempt(`read the token file ${file}`, async () => parseTokenFile(await readFile(file, 'utf8'), file))
}

function addressOf(listener: Listener): string {
  const { host, port } = listener.address
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
