import { lastOf, PROJECT_NUMBER, regionOf } from './service.js'
import { at, type Item, isItem, merged, put, withoutZeros } from './values.js'

/** Defaults that GKE fills in, as recorded sessions with the real service show them. */

export const DEFAULT_VERSION = '1.30.5-gke.1014001'

/** Fields in which false differs from absent. */
const optional = new Set([
  ...['allowExternalTraffic', 'enableK8sTokensViaDns', 'enablePublicEndpoint', 'globalAccess'],
  ...['insecureKubeletReadonlyPortEnabled', 'gcpPublicCidrsAccessEnabled'],
])

const SCOPES = 'https://www.googleapis.com/auth/'
const scopes = [
  'devstorage.read_only',
  'logging.write',
  'monitoring',
  'service.management.readonly',
  'servicecontrol',
  'trace.append',
].map((scope) => SCOPES + scope)
const autoprovisioningScopes = ['userinfo.email', 'cloud-platform'].map((scope) => SCOPES + scope)
const components = [
  'SYSTEM_COMPONENTS',
  'DAEMONSET',
  'DEPLOYMENT',
  'STATEFULSET',
  'JOBSET',
  'STORAGE',
  'HPA',
  'POD',
  'CADVISOR',
  'KUBELET',
  'DCGM',
]
const kubelet = { insecureKubeletReadonlyPortEnabled: false }
const management = { autoRepair: true, autoUpgrade: true }

export const clean = (item: Item): Item => withoutZeros(item, optional)

/** Machines of newer series have disks of another type. */
const diskTypeOf = (machineType: string): string =>
  /^(n4|c4|c4a|c4d|x4)-/.test(machineType) ? 'hyperdisk-balanced' : 'pd-balanced'

export function nodeConfigOf(given: Item): Item {
  const machineType = String(given['machineType'] ?? 'e2-medium')
  const diskType = String(given['diskType'] ?? diskTypeOf(machineType))
  const sizeGb = String(given['diskSizeGb'] ?? 100)
  const isSpot = given['spot'] === true || given['preemptible'] === true
  const defaults: Item = {
    bootDisk: { diskType, sizeGb },
    diskSizeGb: Number(sizeGb),
    diskType,
    effectiveCgroupMode: 'EFFECTIVE_CGROUP_MODE_V2',
    imageType: 'COS_CONTAINERD',
    kubeletConfig: { ...kubelet, maxParallelImagePulls: 2 },
    machineType,
    metadata: { 'disable-legacy-endpoints': 'true' },
    oauthScopes: scopes,
    resourceLabels: { 'goog-gke-node-pool-provisioning-model': isSpot ? 'spot' : 'on-demand' },
    serviceAccount: 'default',
    shieldedInstanceConfig: { enableIntegrityMonitoring: true },
    windowsNodeConfig: {},
  }
  return merged(defaults, clean(given))
}

interface PoolPlace {
  readonly project: string
  readonly location: string
  readonly subnetwork: string
  readonly version: string
}

export function poolOf(given: Item, { project, location, subnetwork, version }: PoolPlace): Item {
  const { config, networkConfig, ...rest } = given
  const name = String(given['name'])
  const isAutoscaled = isItem(rest['autoscaling']) && rest['autoscaling']['enabled'] === true
  const defaults: Item = {
    ...(isAutoscaled || rest['initialNodeCount'] !== undefined ? {} : { initialNodeCount: 1 }),
    management,
    maxPodsConstraint: { maxPodsPerNode: '110' },
    podIpv4CidrSize: 24,
    status: 'RUNNING',
    upgradeSettings: { maxSurge: 1, strategy: 'SURGE' },
    version,
  }
  const network: Item = {
    podIpv4CidrBlock: '10.92.0.0/14',
    podIpv4RangeUtilization: 0.001,
    podRange: `${name}-pods-12345678`,
    subnetwork: `projects/${project}/regions/${regionOf(location)}/subnetworks/${subnetwork}`,
  }
  return {
    initialNodeCount: 1,
    ...merged(defaults, clean(rest)),
    config: nodeConfigOf(isItem(config) ? config : {}),
    networkConfig: merged(network, clean(isItem(networkConfig) ? networkConfig : {})),
  }
}

/** Parts of the request that the cluster shows in another form. */
const shownElsewhere = [
  'nodePools',
  'nodeConfig',
  'initialNodeCount',
  'name',
  'network',
  'subnetwork',
  'networkPolicy',
  'maintenancePolicy',
  'autoscaling',
  'ipAllocationPolicy',
  'initialClusterVersion',
  'monitoringConfig',
]

export interface ClusterPlace {
  readonly project: string
  readonly location: string
  readonly time: string
  readonly id: string
}

export function clusterOf(given: Item, { project, location, time, id }: ClusterPlace): Item {
  const region = regionOf(location)
  const network = lastOf(given['network'] || 'default')
  const subnetwork = lastOf(given['subnetwork'] || 'default')
  const version = versionOf(given['initialClusterVersion'])
  const isAutopilot = isItem(given['autopilot']) && given['autopilot']['enabled'] === true
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !shownElsewhere.includes(name)))
  const defaults: Item = {
    addonsConfig: {
      gcePersistentDiskCsiDriverConfig: { enabled: true },
      kubernetesDashboard: { disabled: true },
      networkPolicyConfig: { disabled: true },
    },
    anonymousAuthenticationConfig: { mode: 'ENABLED' },
    autopilot: {},
    autoscaling: autoscalingOf(isItem(given['autoscaling']) ? given['autoscaling'] : {}),
    clusterIpv4Cidr: '10.112.0.0/14',
    clusterTelemetry: { type: 'ENABLED' },
    controlPlaneEndpointsConfig: endpointsOf(location),
    createTime: time,
    currentMasterVersion: version,
    currentNodeVersion: version,
    databaseEncryption: { currentState: 'CURRENT_STATE_DECRYPTED', state: 'DECRYPTED' },
    defaultMaxPodsConstraint: { maxPodsPerNode: '110' },
    endpoint: '203.0.113.20',
    enterpriseConfig: { clusterTier: 'STANDARD' },
    id,
    initialClusterVersion: version,
    ipAllocationPolicy: ipPolicyOf(isItem(given['ipAllocationPolicy']) ? given['ipAllocationPolicy'] : {}),
    legacyAbac: {},
    location,
    locations: [location],
    loggingConfig: { componentConfig: { enableComponents: ['SYSTEM_COMPONENTS', 'WORKLOADS'] } },
    loggingService: 'logging.googleapis.com/kubernetes',
    maintenancePolicy: { resourceVersion: 'abcd1234' },
    masterAuth: {
      clientCertificateConfig: {},
      clusterCaCertificate: Buffer.from('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n').toString('base64'),
    },
    masterAuthorizedNetworksConfig: { gcpPublicCidrsAccessEnabled: true },
    monitoringConfig: monitoringOf(isItem(given['monitoringConfig']) ? given['monitoringConfig'] : {}),
    monitoringService: 'monitoring.googleapis.com/kubernetes',
    network,
    networkConfig: {
      network: `projects/${project}/global/networks/${network}`,
      serviceExternalIpsConfig: {},
      subnetwork: `projects/${project}/regions/${region}/subnetworks/${subnetwork}`,
    },
    nodePoolAutoConfig: { nodeKubeletConfig: kubelet },
    nodePoolDefaults: {
      nodeConfigDefaults: { loggingConfig: { variantConfig: { variant: 'DEFAULT' } }, nodeKubeletConfig: kubelet },
    },
    notificationConfig: { pubsub: {} },
    podAutoscaling: { hpaProfile: 'PERFORMANCE' },
    privateClusterConfig: { privateEndpoint: '10.128.0.2', publicEndpoint: '203.0.113.20' },
    protectConfig: {
      workloadConfig: { auditMode: 'BASIC' },
      workloadVulnerabilityMode: 'WORKLOAD_VULNERABILITY_MODE_UNSPECIFIED',
    },
    rbacBindingConfig: {
      enableInsecureBindingSystemAuthenticated: true,
      enableInsecureBindingSystemUnauthenticated: true,
    },
    releaseChannel: { channel: 'REGULAR' },
    securityPostureConfig: { mode: 'BASIC', vulnerabilityMode: 'VULNERABILITY_MODE_UNSPECIFIED' },
    servicesIpv4Cidr: '34.118.224.0/20',
    shieldedNodes: { enabled: true },
    status: 'RUNNING',
    subnetwork,
    userManagedKeysConfig: {},
  }
  const whole = merged(defaults, clean(rest))
  return withPolicies(isAutopilot ? merged(whole, { autopilot: { enabled: true } }) : whole, given)
}

function versionOf(asked: unknown): string {
  if (typeof asked !== 'string' || asked === '' || asked === 'latest' || asked === '-') return DEFAULT_VERSION
  return /gke/.test(asked) ? asked : /^\d+\.\d+$/.test(asked) ? `${asked}.5-gke.1014001` : `${asked}-gke.1014001`
}

export { versionOf }

/** Policies that are only shown when they are set. */
function withPolicies(cluster: Item, { networkPolicy, maintenancePolicy }: Item): Item {
  const policy = isItem(networkPolicy) ? clean(networkPolicy) : {}
  const maintenance = isItem(maintenancePolicy) ? clean(maintenancePolicy) : {}
  const window =
    isItem(maintenance['window']) && Object.keys(maintenance['window']).length > 0
      ? { window: maintenance['window'] }
      : {}
  return {
    ...cluster,
    ...(Object.keys(policy).length > 0 ? { networkPolicy: policy } : {}),
    maintenancePolicy: { resourceVersion: 'abcd1234', ...window },
  }
}

const endpointsOf = (location: string): Item => ({
  dnsEndpointConfig: {
    allowExternalTraffic: false,
    enableK8sTokensViaDns: false,
    endpoint: `gke-12345trewq-${PROJECT_NUMBER}.${location}.gke.goog`,
  },
  ipEndpointsConfig: {
    authorizedNetworksConfig: { gcpPublicCidrsAccessEnabled: true },
    enablePublicEndpoint: true,
    enabled: true,
    globalAccess: false,
    privateEndpoint: '10.128.0.2',
    publicEndpoint: '203.0.113.20',
  },
})

export function autoscalingOf(given: Item): Item {
  const isOn = given['enableNodeAutoprovisioning'] === true
  const pools: Item = {
    imageType: 'COS_CONTAINERD',
    management,
    oauthScopes: isOn ? autoprovisioningScopes : scopes,
    serviceAccount: 'default',
    ...(isOn ? { upgradeSettings: { strategy: 'SURGE' } } : {}),
  }
  const all = merged({ autoprovisioningNodePoolDefaults: pools, autoscalingProfile: 'BALANCED' }, clean(given))
  if (at(all, 'autoprovisioningNodePoolDefaults.minCpuPlatform') === 'automatic') {
    put(all, 'autoprovisioningNodePoolDefaults.minCpuPlatform', undefined)
  }
  return all
}

function ipPolicyOf({ clusterIpv4CidrBlock, servicesIpv4CidrBlock, ...given }: Item): Item {
  const services = String(servicesIpv4CidrBlock || '34.118.224.0/20')
  const pods = String(clusterIpv4CidrBlock || '/14')
  const range = pods.startsWith('/') ? '10.112.0.0/14' : pods
  const defaults: Item = {
    clusterIpv4Cidr: range,
    clusterIpv4CidrBlock: range,
    podCidrOverprovisionConfig: {},
    servicesIpv4Cidr: services,
    servicesIpv4CidrBlock: services,
    stackType: 'IPV4',
    useIpAliases: true,
  }
  return merged(defaults, clean(given))
}

export function monitoringOf(given: Item): Item {
  const defaults: Item = {
    advancedDatapathObservabilityConfig: {},
    componentConfig: { enableComponents: components },
    managedPrometheusConfig: { enabled: true },
  }
  return merged(defaults, clean(given))
}
