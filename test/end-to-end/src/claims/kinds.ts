import { type KubeObject, systemClock } from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources'
import {
  absent,
  defineBinding,
  defineManaged,
  type Fields,
  kubernetesCluster,
  mysqlInstance,
  type ObjectSchema,
  present,
  s,
} from '@crosstie/resources/provider'
import { type CloudOptions, SimulatedCloud } from '@crosstie/resources/testing'

/** A kind whose resources are in a separate simulated cloud. */
export interface CloudKind {
  readonly kind: ManagedKind
  readonly cloud: SimulatedCloud
}

/** Options of a simulated kind. */
export interface CloudKindOptions<F extends Fields> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly parameters: ObjectSchema<F>
  readonly cloud?: Partial<CloudOptions>
  /** Returns the connection details of a resource. */
  readonly connection?: (name: string, values: Readonly<Record<string, unknown>>) => Record<string, string>
  /** Called before a resource is deleted. Throws if the deletion violates a dependency. */
  readonly deleting?: (name: string) => void
}

/** Defines a kind with a separate simulated cloud. */
export function cloudKind<F extends Fields>(options: CloudKindOptions<F>): CloudKind {
  const { group, version, kind, parameters, connection = () => ({}), deleting = () => {} } = options
  const cloud = new SimulatedCloud({
    naming: 'user-chosen',
    tags: false,
    tokens: false,
    list: false,
    clock: systemClock,
    ...options.cloud,
  })
  const defined = defineManaged({
    group,
    version,
    kind,
    parameters,
    observation: s.object({ id: s.string({ doc: 'How the cloud calls it.' }) }),
    naming: 'user-chosen',
    idempotentCreate: true,
    consistencySeconds: 0,
    connect: () => cloud,
    async observe({ client, externalName }) {
      const found = await client.get(externalName)
      if (!found) return absent
      return present({
        externalName: found.name,
        ready: found.ready ?? true,
        connection: connection(found.name, found.values),
        atProvider: { id: `/${kind}/${found.name}`, ...found.values } as never,
      })
    },
    async create({ client, externalName, forProvider, token }) {
      if (await client.get(externalName)) return { externalName }
      const values = forProvider as Readonly<Record<string, unknown>>
      const made = await client.create({ name: externalName, region: 'central', values, tags: {}, token })
      return { externalName: made.name }
    },
    async update({ client, externalName, changed }) {
      await client.update(externalName, changed as Readonly<Record<string, unknown>>, undefined)
    },
    async delete({ client, externalName }) {
      deleting(externalName)
      await client.delete(externalName)
    },
  })
  return { kind: defined, cloud }
}

/** Counts deletions of resources that had dependents. */
export interface Violations {
  count: number
}

/** The kinds of document 002: a MySQL server of Azure with its dependencies. */
export function azure(cloud: Partial<CloudOptions> = {}) {
  const violations: Violations = { count: 0 }
  const needed =
    (by: () => readonly { values: Readonly<Record<string, unknown>> }[], field: string) => (name: string) => {
      if (by().some(({ values }) => values[field] === name)) violations.count++
    }
  const resourceGroup = cloudKind({
    group: 'azure.crossplane.io',
    version: 'v1alpha3',
    kind: 'ResourceGroup',
    parameters: s.object({ location: s.string({ doc: 'Where it is.' }) }),
    cloud,
    deleting: (name) => {
      needed(() => sqlServer.cloud.resources, 'resourceGroupName')(name)
      needed(() => rule.cloud.resources, 'resourceGroupName')(name)
    },
  })
  const group = () => resourceGroup.kind.type
  const subnet = cloudKind({
    group: 'network.azure.crossplane.io',
    version: 'v1alpha3',
    kind: 'Subnet',
    parameters: s.object({
      resourceGroupName: s.string(),
      virtualNetworkName: s.string(),
      properties: s.object({ addressPrefix: s.string(), serviceEndpoints: s.list(s.object({ service: s.string() })) }),
    }),
  })
  const sqlServer: CloudKind = cloudKind({
    group: 'database.azure.crossplane.io',
    version: 'v1beta1',
    kind: 'SQLServer',
    parameters: s.object({
      administratorLogin: s.string(),
      resourceGroupName: s.reference(s.string(), { to: group }),
      location: s.string(),
      sslEnforcement: s.optional(s.string({ enum: ['Enabled', 'Disabled'] })),
      version: s.optional(s.string()),
      sku: s.object({ tier: s.string(), capacity: s.integer(), family: s.string() }),
      storageProfile: s.object({
        storageMB: s.integer(),
        backupRetentionDays: s.optional(s.integer()),
        geoRedundantBackup: s.optional(s.string()),
      }),
    }),
    cloud,
    connection: (name, { administratorLogin }) => ({
      endpoint: `${name}.mysql.example.org`,
      username: String(administratorLogin),
      password: `secret-of-${name}`,
    }),
    deleting: (name) => needed(() => rule.cloud.resources, 'serverName')(name),
  })
  const rule: CloudKind = cloudKind({
    group: 'database.azure.crossplane.io',
    version: 'v1alpha3',
    kind: 'MySQLServerVirtualNetworkRule',
    parameters: s.object({
      serverName: s.reference(s.string(), { to: () => sqlServer.kind.type }),
      resourceGroupName: s.reference(s.string(), { to: group }),
      properties: s.object({
        virtualNetworkSubnetId: s.reference(s.string(), { to: () => subnet.kind.type }),
        ignoreMissingVnetServiceEndpoint: s.optional(s.boolean()),
      }),
    }),
    cloud,
  })
  const bindings = [
    defineBinding({
      claim: mysqlInstance,
      managed: sqlServer.kind,
      // The class takes precedence. The claim may set a version that the class leaves open.
      configure: ({ asked, forProvider }) => ({ version: asked['engineVersion'], ...forProvider }),
    }),
    defineBinding({ claim: mysqlInstance, managed: resourceGroup.kind, role: 'supporting' }),
    defineBinding({ claim: mysqlInstance, managed: rule.kind, role: 'supporting' }),
    defineBinding({ claim: kubernetesCluster, managed: resourceGroup.kind, role: 'supporting' }),
  ]
  return {
    resourceGroup,
    subnet,
    sqlServer,
    rule,
    bindings,
    violations,
    kinds: [resourceGroup, subnet, sqlServer, rule],
  }
}

/** The GCP kinds of document 002: a cluster with node pools and service accounts. */
export function gcp(cloud: Partial<CloudOptions> = {}) {
  const network = cloudKind({
    group: 'compute.gcp.crossplane.io',
    version: 'v1alpha3',
    kind: 'Network',
    parameters: s.object({ autoCreateSubnetworks: s.optional(s.boolean()) }),
  })
  const subnetwork = cloudKind({
    group: 'compute.gcp.crossplane.io',
    version: 'v1alpha3',
    kind: 'Subnetwork',
    parameters: s.object({
      ipCidrRange: s.string(),
      network: s.reference(s.string(), { to: () => network.kind.type }),
    }),
    cloud,
  })
  const cluster = cloudKind({
    group: 'compute.gcp.crossplane.io',
    version: 'v1beta1',
    kind: 'GKECluster',
    parameters: s.object({
      location: s.string(),
      subnetwork: s.reference(s.string(), { to: () => subnetwork.kind.type }),
    }),
    cloud,
    connection: (name) => ({ endpoint: `https://${name}.example.org`, kubeconfig: `kubeconfig of ${name}` }),
  })
  const serviceAccount = cloudKind({
    group: 'iam.gcp.crossplane.io',
    version: 'v1alpha1',
    kind: 'ServiceAccount',
    parameters: s.object({ displayName: s.optional(s.string()) }),
    cloud,
    connection: (name) => ({ key: `key of ${name}` }),
  })
  const nodePool = cloudKind({
    group: 'compute.gcp.crossplane.io',
    version: 'v1alpha1',
    kind: 'GKENodePool',
    parameters: s.object({
      cluster: s.reference(s.string(), { to: () => cluster.kind.type }),
      serviceAccount: s.reference(s.string(), { to: () => serviceAccount.kind.type }),
      nodeCount: s.optional(s.integer()),
    }),
    cloud,
  })
  const supporting = [subnetwork, serviceAccount, nodePool].map(({ kind }) =>
    defineBinding({ claim: kubernetesCluster, managed: kind, role: 'supporting' }),
  )
  const bindings = [defineBinding({ claim: kubernetesCluster, managed: cluster.kind }), ...supporting]
  return {
    network,
    subnetwork,
    cluster,
    serviceAccount,
    nodePool,
    bindings,
    kinds: [network, subnetwork, cluster, serviceAccount, nodePool],
  }
}

/** Returns the spec of an object. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
export const specOf = (object: KubeObject): any => object['spec']
/** Returns the status of an object. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into statuses of any shape.
export const statusOf = (object: KubeObject): any => object['status'] ?? {}
