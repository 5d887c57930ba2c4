import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '@crosstie/apiserver'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import {
  apiVersionOf,
  type Client,
  type Condition,
  conditionsOf,
  type KubeObject,
  type ResourceType,
  systemClock,
} from '@crosstie/kube'
import {
  type ConversionEndpoint,
  type ManagedController,
  type ManagedKind,
  type ManagedOptions,
  managedController,
} from '@crosstie/resources'

/** The resource type of CustomResourceDefinitions. */
export const crdType: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

/** The timeout for CRDs to become established on a busy machine. */
const PATIENCE_MS = 120_000

/** An API server with some kinds, which are reconciled on request of the test. */
export class Plane implements AsyncDisposable {
  readonly events: string[] = []
  readonly #controllers = new Map<string, ManagedController>()

  /** The number of write requests. */
  writes = 0
  readonly client: Client

  private constructor(
    client: Client,
    private readonly close: () => Promise<void>,
  ) {
    this.client = counting(client, () => this.writes++)
  }

  /** Starts an embedded server in the same process. */
  static async embedded(): Promise<Plane> {
    const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-end-to-end-'))
    const server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
    return new Plane(server.client(), async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    })
  }

  /** Connects over HTTP to the Kubernetes API of a kubeconfig. */
  static async remote(kubeconfig: string): Promise<Plane> {
    const client = new HttpClient(await kubeconfigAccess({ file: kubeconfig }))
    return new Plane(client, async () => client.close())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Creates the CRDs of the kind and its class. */
  async serve(
    kind: ManagedKind,
    options: Partial<ManagedOptions> = {},
    conversion?: ConversionEndpoint,
  ): Promise<void> {
    const queries = kind.query ? [kind.query.crd()] : []
    for (const crd of [kind.crd(conversion), kind.classCrd(), ...queries]) await this.define(crd)
    const events = {
      event: (_: KubeObject, type: string, reason: string, message: string) =>
        this.events.push(`${type} ${reason}: ${message}`),
    }
    const client = this.client
    this.#controllers.set(kind.type.kind, managedController(kind, { client, events, clock: systemClock, ...options }))
  }

  async define(crd: KubeObject): Promise<void> {
    await this.client.create(crdType, crd)
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
      const stored = await this.client.get(crdType, { name: crd.metadata.name! })
      if (conditionsOf(stored).some(({ type, status }) => type === 'Established' && status === 'True')) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(
      `${crd.metadata.name} was never established: ${JSON.stringify(conditionsOf(await this.client.get(crdType, { name: crd.metadata.name! })))}`,
    )
  }

  async create(kind: ManagedKind, name: string, spec: object, metadata: object = {}): Promise<KubeObject> {
    const { type } = kind
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, ...metadata }, spec }
    return await this.client.create(type, object)
  }

  async reconcile(kind: ManagedKind, name: string): Promise<void> {
    await this.#controllers.get(kind.type.kind)!.reconcile({ name }, AbortSignal.timeout(PATIENCE_MS))
  }

  async settle(kind: ManagedKind, name: string): Promise<KubeObject> {
    for (let i = 0; i < 6; i++) await this.reconcile(kind, name)
    return await this.client.get(kind.type, { name })
  }
}

/** Returns the condition of the type. */
export function condition(object: KubeObject, type: string): Condition | undefined {
  return conditionsOf(object).find((held) => held.type === type)
}

const writing: readonly PropertyKey[] = ['create', 'update', 'patch', 'apply', 'delete']

function counting(client: Client, count: () => void): Client {
  return new Proxy(client, {
    get(target, name) {
      if (writing.includes(name)) count()
      const member = target[name as keyof Client]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
