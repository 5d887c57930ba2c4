import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, writeKubeconfig } from '@crosstie/apiserver'
import { Controllers, HttpClient, Informers, kubeconfigAccess } from '@crosstie/controller'
import {
  apiVersionOf,
  type Client,
  ignoring,
  isNotFound,
  type KubeObject,
  Metrics,
  type ResourceType,
} from '@crosstie/kube'
import { OBJECTS_LABEL, OBJECTS_USER, object, provider, providerConfig } from '@crosstie/provider-kubernetes'
import { managedController, managedMetrics } from '@crosstie/resources'
import { load } from 'js-yaml'
import { eventually } from '../support/claims-world.js'
import { condition, crdType } from '../support/plane.js'

const core = (kind: string, resource: string, namespaced: boolean): ResourceType => ({
  group: '',
  version: 'v1',
  kind,
  resource,
  namespaced,
})
/** The resource type of ConfigMaps. */
export const configMaps = core('ConfigMap', 'configmaps', true)
/** The resource type of Secrets. */
export const secrets = core('Secret', 'secrets', true)
/** The resource type of Namespaces. */
export const namespaces = core('Namespace', 'namespaces', false)
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false }
/** The resource type of ClusterRoles. */
export const clusterRoles: ResourceType = { ...rbac, kind: 'ClusterRole', resource: 'clusterroles' }
/** The resource type of ClusterRoleBindings. */
export const clusterRoleBindings: ResourceType = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
}
/** The resource type of ServiceAccounts. */
export const accounts = core('ServiceAccount', 'serviceaccounts', true)

/** A poll interval longer than any test: after the first observation, only watches report changes. */
const NEVER = 3_600

/** A Kubernetes API with Objects, and a controller that reconciles them. */
export class ObjectWorld implements AsyncDisposable {
  readonly metrics = new Metrics()
  /** The number of requests of the provider to clusters through this API, by verb. */
  readonly asked: Record<string, number> = {}
  readonly #informers: Informers
  readonly #controllers: Controllers

  private constructor(
    readonly client: Client,
    /** The kubeconfig of its administrator. */
    readonly kubeconfig: string,
    pollSeconds: number,
    private readonly close: () => Promise<void>,
  ) {
    this.#informers = new Informers(client, { watchList: true })
    this.#controllers = new Controllers({ informers: this.#informers, backoff: { baseMs: 50, maxMs: 1_000 } })
    const api = counting(client, this.asked)
    const options = { client, api, pollSeconds, metrics: managedMetrics(this.metrics) }
    this.#controllers.start(managedController(object, options))
  }

  /** Starts an embedded server in the same process. Objects have all permissions if `rights` is set. */
  static async embedded(pollSeconds = NEVER, rights = true): Promise<ObjectWorld> {
    const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-objects-'))
    const server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
    const file = join(dataDir, 'kubeconfig')
    await writeKubeconfig(file, server.adminAccess())
    const close = async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    }
    return await ObjectWorld.#open(server.client(), await readFile(file, 'utf8'), pollSeconds, close, rights)
  }

  /** Connects over HTTP to the Kubernetes API of a kubeconfig. */
  static async remote(file: string, pollSeconds = NEVER, rights = true): Promise<ObjectWorld> {
    const client = new HttpClient(await kubeconfigAccess({ file }))
    const close = async () => client.close()
    return await ObjectWorld.#open(client, await readFile(file, 'utf8'), pollSeconds, close, rights)
  }

  static async #open(
    client: Client,
    kubeconfig: string,
    pollSeconds: number,
    close: () => Promise<void>,
    rights: boolean,
  ) {
    for (const crd of [object.crd(), object.classCrd(), providerConfig.crd(), providerConfig.usageCrd()]) {
      const { name = '' } = crd.metadata
      await client.apply(crdType, { ...crd, metadata: { name } }, { fieldManager: 'test', force: true })
      await eventually(`${name} is served`, async () => {
        const stored = await client.get(crdType, { name })
        return condition(stored, 'Established')?.status === 'True'
      })
    }
    const world = new ObjectWorld(client, kubeconfig, pollSeconds, close)
    for (const each of provider.roles ?? []) await world.applyRole(each)
    if (rights) await world.grantAll()
    await world.apply(providerConfig.type, 'default', { spec: { credentials: { source: 'InjectedIdentity' } } })
    return world
  }

  async applyRole({ apiVersion: _, kind, metadata, ...rest }: KubeObject): Promise<void> {
    const type = kind === 'ClusterRole' ? clusterRoles : clusterRoleBindings
    const target = { ...rest, metadata: { ...metadata, name: metadata.name! } }
    await this.client.apply(type, target, { fieldManager: 'test', force: true })
  }

  /** Grants Objects all permissions in their own cluster, as an administrator may. */
  async grantAll(): Promise<void> {
    await this.applyRole({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'test-objects-all', labels: { [OBJECTS_LABEL]: 'true' } },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    })
    const objects = this.client.as(OBJECTS_USER)
    await eventually('Objects have their rights', async () => {
      return await objects.list(secrets, { namespace: 'default' }).catch(() => undefined)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controllers.stop(1_000)
    await this.#informers.stop()
    await this.close()
  }

  /** Creates an Object for the manifest. */
  async declare(name: string, forProvider: object, spec: object = {}, annotations = {}): Promise<void> {
    await this.client.create(object.type, {
      apiVersion: apiVersionOf(object.type),
      kind: 'Object',
      metadata: { name, annotations },
      spec: { ...spec, forProvider },
    })
  }

  async apply(type: ResourceType, name: string, rest: object, namespace?: string, manager = 'test'): Promise<void> {
    const metadata = { name, ...(namespace ? { namespace } : {}) }
    await this.client.apply(type, { ...rest, metadata }, { fieldManager: manager, force: true })
  }

  async find(type: ResourceType, name: string, namespace?: string): Promise<KubeObject | undefined> {
    return await this.client.get(type, { name, ...(namespace ? { namespace } : {}) }).catch(ignoring(isNotFound))
  }

  async remove(name: string): Promise<void> {
    await this.client.delete(object.type, { name })
    await eventually(`Object ${name} is gone`, async () => !(await this.find(object.type, name)), 240_000)
  }

  /** Waits until a condition of the Object has the status and a matching message. Returns the Object. */
  async says(name: string, type: string, status: string, words = /.*/): Promise<KubeObject> {
    let last: unknown
    return await eventually(
      `${type}=${status} ${words} of ${name}`,
      async () => {
        const found = await this.find(object.type, name)
        last = found?.['status']
        const held = found && condition(found, type)
        return held?.status === status && words.test(held.message ?? '') && found
      },
      240_000,
    ).catch((error) => {
      throw new Error(`${error}: ${JSON.stringify(last)}`)
    })
  }

  /** Creates a ProviderConfig with a kubeconfig in a Secret. */
  async reach(name: string, kubeconfig: string): Promise<void> {
    await this.apply(secrets, `kubeconfig-${name}`, { stringData: { kubeconfig } }, 'default')
    const secretRef = { name: `kubeconfig-${name}`, namespace: 'default', key: 'kubeconfig' }
    await this.apply(providerConfig.type, name, { spec: { credentials: { source: 'Secret', secretRef } } })
  }

  /** Returns the kubeconfig of a service account without permissions. */
  async stranger(name: string): Promise<string> {
    await this.apply(accounts, name, {}, 'default')
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name, namespace: 'default' },
      spec: {},
    }
    using http = new HttpClient(await kubeconfigAccess({ text: this.kubeconfig }))
    const answer = await http.create<KubeObject>(accounts, body, { subresource: 'token' })
    const { token } = answer['status'] as { token: string }
    return this.withUser({ token })
  }

  withUser(user: object, cluster: object = {}): string {
    const config = load(this.kubeconfig) as {
      clusters: { name: string; cluster: object }[]
      users: { name: string; user: object }[]
    }
    const clusters = config.clusters.map((each) => ({ ...each, cluster: { ...each.cluster, ...cluster } }))
    return JSON.stringify({ ...config, clusters, users: config.users.map(({ name }) => ({ name, user })) })
  }
}

function counting(client: Client, asked: Record<string, number>): Client {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'as') return (user: string) => counting(target.as(user), asked)
      const member = target[name as keyof Client]
      if (typeof member !== 'function') return member
      return (...args: never[]) => {
        asked[String(name)] = (asked[String(name)] ?? 0) + 1
        return (member as (...args: never[]) => unknown).apply(target, args)
      }
    },
  })
}
