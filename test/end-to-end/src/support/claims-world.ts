import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '@crosstie/apiserver'
import { CachedClient, Controllers, HttpClient, Informers, kubeconfigAccess } from '@crosstie/controller'
import {
  type Client,
  conditionsOf,
  ignoring,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import {
  aggregateClassCrd,
  aggregateController,
  aggregateCrd,
  type Binding,
  claimController,
  claimKinds,
  findIn,
  type ManagedKind,
  managedController,
  reservationCrd,
} from '@crosstie/resources'
import { crdType } from './plane.js'

/** Options of a World. */
export interface WorldOptions {
  readonly bindings: readonly Binding[]
  readonly managed: readonly ManagedKind[]
  /** The poll interval of ready objects. */
  readonly pollSeconds?: number
}

/** An API server, and controllers that run on it until they are killed. */
export class World implements AsyncDisposable {
  readonly #crews = new Set<Crew>()

  private constructor(
    readonly client: Client,
    readonly options: WorldOptions,
    private readonly close: () => Promise<void>,
  ) {}

  /** Starts an embedded server in the same process. */
  static async embedded(options: WorldOptions): Promise<World> {
    const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-claims-'))
    const server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
    const close = async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    }
    return await new World(server.client(), options, close).#ready()
  }

  /** Connects over HTTP to the Kubernetes API of a kubeconfig. */
  static async remote(kubeconfig: string, options: WorldOptions): Promise<World> {
    const client = new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
    return await new World(client, options, async () => client.close()).#ready()
  }

  async #ready(): Promise<this> {
    const { managed } = this.options
    const kinds = managed.flatMap((kind) => [kind.crd(), kind.classCrd()])
    const configs = new Set(managed.flatMap(({ providerConfig }) => providerConfig ?? []))
    const defined = [...kinds, ...[...configs].flatMap((config) => [config.crd(), config.usageCrd()])]
    const own = [aggregateCrd(), aggregateClassCrd(), reservationCrd()]
    const crds = [...claimKinds.map((kind) => kind.crd()), ...own, ...defined]
    for (const crd of crds) {
      await this.client.create(crdType, crd).catch(ignoring(isAlreadyExists))
    }
    for (const crd of crds) {
      await eventually(`${crd.metadata.name} is served`, async () => {
        const stored = await this.client.get(crdType, { name: crd.metadata.name! })
        return conditionsOf(stored).some(({ type, status }) => type === 'Established' && status === 'True')
      })
    }
    for (const name of ['default', 'crossplane-system', 'team-a', 'team-b']) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
      await this.client.create(namespaceType, namespace).catch(ignoring(isAlreadyExists))
    }
    return this
  }

  /** Starts a set of controllers like another process. `client` can inject faults. */
  start(client: Client = this.client): Crew {
    const crew = new Crew(client, this.options)
    this.#crews.add(crew)
    return crew
  }

  async find(type: ResourceType, name: string, namespace?: string): Promise<KubeObject | undefined> {
    return await this.client.get(type, { name, ...(namespace ? { namespace } : {}) }).catch(ignoring(isNotFound))
  }

  async list(type: ResourceType, labelSelector = ''): Promise<readonly KubeObject[]> {
    return (await this.client.list(type, labelSelector ? { labelSelector } : {})).items
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const crew of this.#crews) await crew.kill()
    await this.close()
  }
}

/**
 * Short timeouts. They still suffice on a busy machine for a stalled process to finish a started call, and for a
 * new call to reach the cloud within half of the time.
 */
const TIMES = { unreadySeconds: 0.1, callSeconds: 20 }

/** All controllers of one process. */
export class Crew {
  readonly events: string[] = []
  readonly #informers: Informers
  readonly #controllers: Controllers

  constructor(client: Client, { bindings, managed, pollSeconds = 1 }: WorldOptions) {
    this.#informers = new Informers(client)
    this.#controllers = new Controllers({ informers: this.#informers, backoff: { baseMs: 20, maxMs: 500 } })
    const cached = new CachedClient(client, this.#informers)
    const events = {
      event: (object: KubeObject, type: string, reason: string, message: string) => {
        this.events.push(`${object.kind}/${object.metadata.name} ${type} ${reason}: ${message}`)
      },
    }
    for (const kind of managed) {
      this.#controllers.start(managedController(kind, { client: cached, api: client, events, pollSeconds, ...TIMES }))
    }
    const find = findIn(this.#informers, client)
    const options = { client: cached, find, events, bindings, pollSeconds }
    for (const kind of claimKinds) {
      if (bindings.some(({ claim }) => claim === kind)) this.#controllers.start(claimController(kind, options))
    }
    this.#controllers.start(aggregateController(options))
  }

  /** Stops without finishing current work. */
  async kill(): Promise<void> {
    await Promise.all([this.#controllers.stop(0), this.#informers.stop()])
  }
}

/** The resource type of Namespaces. */
export const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
}

/** Waits until a condition holds. On timeout the error names the condition. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
