import { s } from '@crosstie/resources/provider'
import { containerOperations } from '../client/operations.js'
import { container_v1 as api } from '../discovery/container-v1.generated.js'
import { serviceAccount } from '../iam/serviceaccount.js'
import { defineGoogle, readyWhen, type Step } from '../kind.js'
import { toApi, type Values, valueAt, withValue } from '../schema/convert.js'
import { apiLabels, labelsField } from '../schema/labels.js'
import { cluster } from './cluster.js'
import { clusterPath, sameVersion } from './common.js'

const prefix = 'projects.locations.clusters.nodePools'

/** Fields that an update of a node pool takes, and what it calls them. */
const updated: Readonly<Record<string, string>> = {
  locations: 'locations',
  maintenancePolicy: 'maintenancePolicy',
  networkConfig: 'nodeNetworkConfig',
  nodeDrainConfig: 'nodeDrainConfig',
  queuedProvisioning: 'queuedProvisioning',
  upgradeSettings: 'upgradeSettings',
  version: 'nodeVersion',
  'config.accelerators': 'accelerators',
  'config.bootDisk': 'bootDisk',
  'config.confidentialNodes': 'confidentialNodes',
  'config.consolidationDelay': 'consolidationDelay',
  'config.containerdConfig': 'containerdConfig',
  'config.diskSizeGb': 'diskSizeGb',
  'config.diskType': 'diskType',
  'config.fastSocket': 'fastSocket',
  'config.flexStart': 'flexStart',
  'config.gcfsConfig': 'gcfsConfig',
  'config.gvnic': 'gvnic',
  'config.imageType': 'imageType',
  'config.kubeletConfig': 'kubeletConfig',
  'config.linuxNodeConfig': 'linuxNodeConfig',
  'config.loggingConfig': 'loggingConfig',
  'config.machineType': 'machineType',
  'config.maxRunDuration': 'maxRunDuration',
  'config.resourceManagerTags': 'resourceManagerTags',
  'config.storagePools': 'storagePools',
  'config.taintConfig': 'taintConfig',
  'config.windowsNodeConfig': 'windowsNodeConfig',
  'config.workloadMetadataConfig': 'workloadMetadataConfig',
}

/** Collections that the update wraps in an object, by the field of that object. */
const wrapped: Readonly<Record<string, readonly [field: string, inner: string]>> = {
  'config.labels': ['labels', 'labels'],
  'config.resourceLabels': ['resourceLabels', 'labels'],
  'config.tags': ['tags', 'tags'],
  'config.taints': ['taints', 'taints'],
}

const immutable = [
  'autopilotConfig',
  'bestEffortProvisioning',
  'initialNodeCount',
  'maxPodsConstraint',
  'placementPolicy',
  'config.advancedMachineFeatures',
  'config.bootDiskKmsKey',
  'config.enableConfidentialStorage',
  'config.ephemeralStorageLocalSsdConfig',
  'config.gpuDirectConfig',
  'config.localNvmeSsdBlockConfig',
  'config.localSsdCount',
  'config.localSsdEncryptionMode',
  'config.metadata',
  'config.minCpuPlatform',
  'config.nodeGroup',
  'config.nodeImageConfig',
  'config.oauthScopes',
  'config.preemptible',
  'config.reservationAffinity',
  'config.sandboxConfig',
  'config.secondaryBootDisks',
  'config.secondaryBootDiskUpdateStrategy',
  'config.shieldedInstanceConfig',
  'config.soleTenantConfig',
  'config.spot',
]

export const nodePool = defineGoogle({
  api,
  schema: 'NodePool',
  group: 'container',
  kind: 'NodePool',
  doc: 'Nodes of a Kubernetes cluster that Google runs (GKE).',
  overlay: {
    leftOut: { name: 'the external name', 'config.resourceLabels': 'the field labels of the kind' },
    immutable,
    // GKE upgrades versions and moves defaults by itself, so the spec holds only what its author wrote.
    open: ['*'],
    sets: ['locations', 'config.oauthScopes', 'config.tags'],
    declared: {
      'config.serviceAccount': s.optional(
        s.reference(
          s.string({
            doc: 'Email address of the service account of the nodes.',
            immutable: true,
            lateInitialize: false,
            omittedWhenZero: true,
          }),
          { to: () => serviceAccount.type, value: 'status.atProvider.email' },
        ),
      ),
      version: s.optional(
        s.string({
          doc: 'Version of the nodes, such as 1.33 or 1.33.2-gke.1111000. Leave it out where management.autoUpgrade is set.',
          lateInitialize: false,
          same: sameVersion,
        }),
      ),
    },
  },
  fields: {
    location: s.identifier(s.string({ doc: 'Region or zone of the cluster.' })),
    cluster: s.identifier(s.reference(s.string({ doc: 'Name of the cluster.' }), { to: () => cluster.type })),
    labels: labelsField(
      'Labels of the machines of the nodes in Google Cloud. Labels that are not named here belong to others.',
    ),
  },
  labels: apiLabels('labels', 'config.resourceLabels'),
  operations: containerOperations,
  methods: {
    get: `${prefix}.get`,
    create: `${prefix}.create`,
    delete: `${prefix}.delete`,
    list: `${prefix}.list`,
    items: 'nodePools',
  },
  permissions: {
    Observe: ['container.clusters.get', 'container.operations.get'],
    Create: ['container.clusters.update', 'container.operations.get', 'iam.serviceAccounts.actAs'],
    Update: ['container.clusters.get', 'container.clusters.update', 'container.operations.get'],
    Delete: ['container.clusters.get', 'container.clusters.update', 'container.operations.get'],
  },
  place: (client, name, { location, cluster }) => ({
    name: `${clusterPath(client, location, cluster)}/nodePools/${name}`,
  }),
  parent: (client, { location, cluster }) => ({ parent: clusterPath(client, location, cluster) }),
  create: (client, name, body, { forProvider: { location, cluster } }) => ({
    method: `${prefix}.create`,
    params: { parent: clusterPath(client, location, cluster) },
    body: { nodePool: { initialNodeCount: 1, ...body, name } },
  }),
  update({ client, name, forProvider, changed, fields }) {
    const params = { name: `${clusterPath(client, forProvider['location'], forProvider['cluster'])}/nodePools/${name}` }
    return poolUpdates(params, changed, toApi(api, 'NodePool', forProvider), fields)
  },
  location: ({ location }) => String(location),
  nameOf: ({ name }) => String(name),
  ready: ({ status, statusMessage }) =>
    readyWhen(['RUNNING', 'RECONCILING', 'RUNNING_WITH_ERROR'].includes(String(status)), status, statusMessage),
})

/** The requests that bring a node pool in line. A request holds one kind of change. */
function poolUpdates(params: Step['params'], changed: Values, wanted: Values, fields: ReadonlySet<string>): Step[] {
  const steps: Step[] = []
  if (fields.has('autoscaling')) {
    steps.push({ method: `${prefix}.setAutoscaling`, params, body: { autoscaling: wanted['autoscaling'] } })
  }
  if (fields.has('management')) {
    steps.push({ method: `${prefix}.setManagement`, params, body: { management: wanted['management'] } })
  }
  for (const [path, field] of Object.entries(updated)) {
    if (valueAt(changed, path) === undefined) continue
    const value = valueAt(wanted, path)
    steps.push({
      method: `${prefix}.update`,
      params,
      body: { [field]: field === 'diskSizeGb' ? String(value) : value },
    })
  }
  for (const [path, [field, inner]] of Object.entries(wrapped)) {
    const value = valueAt(changed, path)
    if (value !== undefined)
      steps.push({ method: `${prefix}.update`, params, body: withValue({}, `${field}.${inner}`, value) })
  }
  return steps
}
