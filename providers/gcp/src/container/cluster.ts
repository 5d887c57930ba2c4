import { isObject } from '@crosstie/kube'
import { s } from '@crosstie/resources/provider'
import { containerOperations } from '../client/operations.js'
import { network } from '../compute/network.js'
import { subnetwork } from '../compute/subnetwork.js'
import { container_v1 as api } from '../discovery/container-v1.generated.js'
import { defineGoogle, readyWhen, type Step } from '../kind.js'
import { toApi, type Values, valueAt } from '../schema/convert.js'
import { apiLabels, labelsField } from '../schema/labels.js'
import { link } from '../schema/links.js'
import { clusterPath, sameVersion } from './common.js'
import { kubeconfigOf } from './kubeconfig.js'
import { clusterUpdates } from './updates.js'

const prefix = 'projects.locations.clusters'
const DEFAULT_POOL = 'default-pool'

/** Fields that GKE cannot change after creation. */
const immutable = [
  'alphaClusterFeatureGates',
  'autopilot.enabled',
  'clusterIpv4Cidr',
  'confidentialNodes',
  'defaultMaxPodsConstraint',
  'description',
  'enableKubernetesAlpha',
  'initialClusterVersion',
  'initialNodeCount',
  'ipAllocationPolicy.clusterIpv4CidrBlock',
  'ipAllocationPolicy.clusterSecondaryRangeName',
  'ipAllocationPolicy.createSubnetwork',
  'ipAllocationPolicy.ipv6AccessType',
  'ipAllocationPolicy.nodeIpv4CidrBlock',
  'ipAllocationPolicy.podCidrOverprovisionConfig',
  'ipAllocationPolicy.servicesIpv4CidrBlock',
  'ipAllocationPolicy.servicesSecondaryRangeName',
  'ipAllocationPolicy.subnetworkName',
  'ipAllocationPolicy.useIpAliases',
  'ipAllocationPolicy.useRoutes',
  'masterAuth',
  'networkConfig.dataplaneV2Config',
  'privateClusterConfig',
  'scheduleUpgradeConfig',
]

export const cluster = defineGoogle({
  api,
  schema: 'Cluster',
  group: 'container',
  kind: 'Cluster',
  doc: 'A Kubernetes cluster that Google runs (GKE): the control plane. Its connection Secret has `endpoint`, `clusterCA` and `kubeconfig`.',
  overlay: {
    leftOut: {
      name: 'the external name',
      nodePools: 'NodePool is a kind of its own',
      nodeConfig: 'configures the first node pool: NodePool is a kind of its own',
      etag: 'sent by no request',
      labelFingerprint: 'sent by the kind with each change of labels',
      conditions: 'reported only',
      'maintenancePolicy.resourceVersion': 'reported only',
      'networkConfig.network': 'the field network',
      'networkConfig.subnetwork': 'the field subnetwork',
    },
    kept: ['initialNodeCount', 'instanceGroupUrls', 'currentNodeCount', 'currentNodeVersion'],
    immutable,
    // GKE changes defaults by itself as versions come and go, so the spec holds only what its author wrote.
    open: ['*'],
    sets: ['locations'],
    unreported: ['initialClusterVersion'],
    declared: {
      network: link({
        doc: 'The network that it runs in. Absent: the network default.',
        to: () => network.type,
        immutable: true,
        open: true,
      }),
      subnetwork: link({
        doc: 'The subnetwork that it runs in.',
        to: () => subnetwork.type,
        immutable: true,
        open: true,
      }),
      masterAuth: s.optional(
        s.object({
          clientCertificateConfig: s.object({
            issueClientCertificate: s.boolean({
              doc: 'Issue a client certificate.',
              immutable: true,
              omittedWhenZero: true,
            }),
          }),
        }),
      ),
    },
  },
  fields: {
    location: s.identifier(s.string({ doc: 'Region or zone, such as europe-west1 or europe-west1-b.' })),
    resourceLabels: labelsField(),
    masterVersion: s.optional(
      s.string({
        doc: 'Version of the control plane, such as 1.33 or 1.33.2-gke.1111000. Absent: GKE chooses and upgrades it.',
        lateInitialize: false,
        same: sameVersion,
      }),
    ),
    removeDefaultNodePool: s.optional(
      s.boolean({
        doc: 'Delete the node pool default-pool that GKE creates with the cluster. Use NodePool objects instead.',
        unreported: true,
      }),
    ),
  },
  observation: {
    masterAuth: s.object({
      clusterCaCertificate: s.string({ doc: 'Certificate of the cluster authority, in Base64.' }),
    }),
    nodePoolNames: s.list(s.string(), { doc: 'Names of its node pools.' }),
  },
  labels: apiLabels('resourceLabels'),
  operations: containerOperations,
  methods: {
    get: `${prefix}.get`,
    create: `${prefix}.create`,
    delete: `${prefix}.delete`,
    list: `${prefix}.list`,
    items: 'clusters',
  },
  permissions: {
    Observe: ['container.clusters.get', 'container.clusters.list', 'container.operations.get'],
    Create: ['container.clusters.create', 'container.operations.get', 'iam.serviceAccounts.actAs'],
    Update: ['container.clusters.get', 'container.clusters.update', 'container.operations.get'],
    Delete: ['container.clusters.get', 'container.clusters.delete', 'container.operations.get'],
  },
  place: (client, name, { location }) => ({ name: clusterPath(client, location, name) }),
  parent: ({ project }, { location }) => ({ parent: `projects/${project}/locations/${String(location)}` }),
  create: ({ project }, name, body, { forProvider: { location, masterVersion } }) => ({
    method: `${prefix}.create`,
    params: { parent: `projects/${project}/locations/${String(location)}` },
    body: { cluster: { ...initialSize(body), ...initialVersion(masterVersion), ...body, ...networkPaths(body), name } },
  }),
  update({ client, name, forProvider, changed, found, fields }) {
    const params = { name: clusterPath(client, forProvider['location'], name) }
    const { masterVersion } = forProvider
    const versioned = fields.has('masterVersion') ? { ...changed, masterVersion: String(masterVersion) } : changed
    const wanted = { ...toApi(api, 'Cluster', forProvider), masterVersion: String(masterVersion) }
    const steps = clusterUpdates(params, versioned, wanted, found)
    return hasSuperfluousPool(found, forProvider) ? [...steps, removalOf(params)] : steps
  },
  location: ({ location }) => String(location),
  nameOf: ({ name }) => String(name),
  ready(found, forProvider) {
    const { status, conditions } = found
    if (hasSuperfluousPool(found, forProvider))
      return readyWhen(false, status, `node pool ${DEFAULT_POOL} is not deleted yet`)
    return readyWhen(['RUNNING', 'RECONCILING'].includes(String(status)), status, messagesOf(conditions))
  },
  report: (values, found) => ({
    ...values,
    ...(found['currentMasterVersion'] === undefined ? {} : { masterVersion: found['currentMasterVersion'] }),
    nodePoolNames: poolNames(found),
  }),
  connection(found) {
    const { endpoint } = found
    const authority = valueAt(found, 'masterAuth.clusterCaCertificate')
    if (typeof endpoint !== 'string' || typeof authority !== 'string') return {}
    const kubeconfig = kubeconfigOf({ name: String(found['name']), endpoint, authority })
    return { endpoint: `https://${endpoint}`, clusterCA: Buffer.from(authority, 'base64').toString(), kubeconfig }
  },
  alsoDiffers: (found, forProvider) =>
    hasSuperfluousPool(found, forProvider)
      ? [{ path: 'removeDefaultNodePool', desired: true, observed: `${DEFAULT_POOL} exists` }]
      : [],
})

/** GKE requires a first node pool, except for Autopilot clusters. */
function initialSize(body: Values): Values {
  return valueAt(body, 'autopilot.enabled') === true ? {} : { initialNodeCount: 1 }
}

const initialVersion = (version: unknown): Values =>
  typeof version === 'string' ? { initialClusterVersion: version } : {}

/** The API takes the path of a network without host and version. */
function networkPaths(body: Values): Values {
  const links = ['network', 'subnetwork'].flatMap((field) => {
    const value = body[field]
    return typeof value === 'string' ? [[field, value.replace(/^.*?(?=projects\/)/, '')]] : []
  })
  return Object.fromEntries(links)
}

function poolNames({ nodePools }: Values): string[] {
  return Array.isArray(nodePools) ? nodePools.filter(isObject).map(({ name }) => String(name)) : []
}

function hasSuperfluousPool(found: Values, { removeDefaultNodePool }: Readonly<Record<string, unknown>>): boolean {
  return removeDefaultNodePool === true && found['status'] === 'RUNNING' && poolNames(found).includes(DEFAULT_POOL)
}

const removalOf = ({ name }: Step['params']): Step => ({
  method: `${prefix}.nodePools.delete`,
  params: { name: `${String(name)}/nodePools/${DEFAULT_POOL}` },
})

function messagesOf(conditions: unknown): string | undefined {
  if (!Array.isArray(conditions)) return undefined
  return conditions.map((each: { message?: unknown }) => String(each.message ?? '')).join('; ') || undefined
}
