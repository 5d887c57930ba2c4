import type { Json } from '@crosstie/kube'
import { autoscalingOf, clean, clusterOf, monitoringOf, poolOf, versionOf } from './container-defaults.js'
import { Failure } from './failure.js'
import {
  existing,
  isZone,
  listed,
  PROJECT_NUMBER,
  projectOf,
  type Reply,
  type Request,
  reply,
  type Service,
  unsupported,
  zoneOf,
} from './service.js'
import type { State } from './state.js'
import { at, type Item, isItem, merged, put } from './values.js'

const COMPUTE = 'https://www.googleapis.com/compute/v1/'

export const container: Service = (request) => {
  const { resource, verb, path } = request
  if (resource.endsWith('.operations')) {
    if (verb === 'list') return reply(listed(request).body ?? {})
    return reply(existing(request, () => new Failure(404, `Not found: ${path}.`, 'NOT_FOUND')))
  }
  if (resource.endsWith('.nodePools')) return nodePools(request)
  if (resource.endsWith('.clusters')) return clusters(request)
  throw unsupported(request)
}

/** Zonal clusters are named with `zones` by the service itself. */
const placed = (path: string): string =>
  path.replace(/locations\/([^/]+)/, (whole, location) => (isZone(location) ? `zones/${location}` : whole))

const noCluster = (path: string) => new Failure(404, `Not found: ${placed(path)}.`, 'NOT_FOUND')
const noPool = (path: string) => new Failure(404, `nodePool "${path}" not found`, 'NOT_FOUND')

const locationOf = ({ path }: Request): string => /locations\/([^/]+)/.exec(path)?.[1] ?? ''

function clusters(request: Request): Reply {
  const { verb, path } = request
  switch (verb) {
    case 'get':
      return reply(
        shown(
          request,
          existing(request, () => noCluster(path)),
        ),
      )
    case 'list': {
      const { body } = listed(request)
      const found = body?.['clusters']
      return reply(Array.isArray(found) ? { clusters: found.filter(isItem).map((each) => shown(request, each)) } : {})
    }
    case 'create':
      return createCluster(request)
    case 'delete':
      return deleteCluster(request)
    case 'update':
      return updateCluster(request)
    default:
      return setCluster(request)
  }
}

/** A cluster with its node pools, as a read shows it. */
function shown({ state, api }: Request, cluster: Item): Item {
  const { _path, ...item } = cluster
  const pools = state.children(`container:${String(_path)}/nodePools`).map(({ selfLink: _, ...pool }) => pool)
  const [first] = pools
  const urls = pools.flatMap(({ instanceGroupUrls }) => (Array.isArray(instanceGroupUrls) ? instanceGroupUrls : []))
  const { etag: _, ...rest } = item
  return {
    ...rest,
    ...(pools.length > 0
      ? {
          nodePools: pools,
          nodeConfig: first?.['config'],
          instanceGroupUrls: urls.slice(0, 1).map((url) => String(url).replace(/-[^-]*-grp$/, '')),
          currentNodeCount: pools.reduce((sum, { initialNodeCount }) => sum + Number(initialNodeCount ?? 0), 0),
        }
      : {}),
    etag: state.fingerprint(rest),
    labelFingerprint: state.fingerprint(item['resourceLabels'] ?? {}),
    selfLink: `https://container.googleapis.com/${api.version}/${placed(String(_path))}`,
    zone: item['location'],
  }
}

function createCluster(request: Request): Reply {
  const { state, body, path } = request
  const given = isItem(body['cluster']) ? body['cluster'] : {}
  const name = String(given['name'] ?? '')
  if (!/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    throw invalid('Cluster.name must have up to 40 lowercase letters, digits and hyphens.')
  const target = `${path}/${name}`
  const key = `container:${target}`
  if (state.has(key)) throw new Failure(409, `Already exists: ${placed(target)}.`, 'ALREADY_EXISTS')
  const isAutopilot = isItem(given['autopilot']) && given['autopilot']['enabled'] === true
  const pools = Array.isArray(given['nodePools']) ? given['nodePools'].filter(isItem) : []
  if (!isAutopilot && pools.length === 0 && !given['initialNodeCount'])
    throw invalid('Cluster.initial_node_count must be greater than zero.')
  checkNetwork(request, given)
  const location = locationOf(request)
  const cluster: Item = {
    ...clusterOf(given, { project: projectOf(request), location, time: state.time(), id: state.number() }),
    name,
    initialNodeCount: Number(given['initialNodeCount'] ?? 1),
    _path: target,
  }
  state.set(key, { ...cluster, status: 'PROVISIONING', endpoint: undefined })
  return started(request, 'CREATE_CLUSTER', target, target, () => {
    state.set(key, cluster)
    const first: Item = {
      name: 'default-pool',
      config: given['nodeConfig'],
      initialNodeCount: given['initialNodeCount'],
    }
    for (const pool of pools.length > 0 ? pools : isAutopilot ? [] : [first]) {
      addPool(request, target, { ...clean(pool), locations: [location] })
    }
  })
}

const invalid = (message: string) => new Failure(400, message, 'INVALID_ARGUMENT')

function checkNetwork({ state }: Request, cluster: Item): void {
  for (const field of ['network', 'subnetwork']) {
    const link = cluster[field]
    if (typeof link !== 'string' || !link.includes('projects/') || link.endsWith('/default')) continue
    const path = link.replace(/^.*?(?=projects\/)/, '')
    if (!state.get(`compute:${path}`)) throw invalid(`The ${field} "${path}" was not found.`)
  }
}

function deleteCluster(request: Request): Reply {
  const { state, key, path } = request
  const cluster = existing(request, () => noCluster(path))
  const begun = started(request, 'DELETE_CLUSTER', path, path, () => {
    for (const { instanceGroupUrls } of state.children(`${key}/nodePools`)) removeGroups(state, instanceGroupUrls)
    state.delete(key)
  })
  state.set(key, { ...cluster, status: 'STOPPING' })
  return begun
}

const special: Readonly<Record<string, string>> = {
  desiredClusterAutoscaling: 'autoscaling',
  desiredK8sBetaApis: 'enableK8sBetaApis',
  desiredMasterVersion: 'currentMasterVersion',
  desiredIntraNodeVisibilityConfig: 'networkConfig.enableIntraNodeVisibility',
  desiredL4ilbSubsettingConfig: 'networkConfig.enableL4ilbSubsetting',
  desiredAutopilotWorkloadPolicyConfig: 'autopilot.workloadPolicyConfig',
  desiredAutopilotClusterPolicyConfig: 'autopilot.clusterPolicyConfig',
  desiredPrivilegedAdmissionConfig: 'autopilot.privilegedAdmissionConfig',
  desiredNodeKubeletConfig: 'nodePoolDefaults.nodeConfigDefaults.nodeKubeletConfig',
  desiredNodePoolLoggingConfig: 'nodePoolDefaults.nodeConfigDefaults.loggingConfig',
  desiredNodePoolAutoConfigKubeletConfig: 'nodePoolAutoConfig.nodeKubeletConfig',
}

const containers: Readonly<Record<string, string>> = {
  NetworkConfig: 'networkConfig',
  IPAllocationPolicy: 'ipAllocationPolicy',
  NodeConfigDefaults: 'nodePoolDefaults.nodeConfigDefaults',
  NodePoolAutoConfig: 'nodePoolAutoConfig',
}

/** The field of a cluster that an update sets: found by its name in the description of the API. */
function updatedPath({ api }: Request, name: string): string | undefined {
  const known = special[name]
  if (known) return known
  const field = name.replace(/^desired(NodePoolAutoConfig)?([A-Z])/, (_, __, letter) => letter.toLowerCase())
  if (api.schemas['Cluster']?.[field]) return field
  const inside = Object.entries(containers).find(([schema]) => api.schemas[schema]?.[field])
  return inside ? `${inside[1]}.${field}` : undefined
}

function updateCluster(request: Request): Reply {
  const { state, key, path, body } = request
  const cluster = existing(request, () => noCluster(path))
  const update = isItem(body['update']) ? body['update'] : {}
  const pool = update['desiredNodePoolId']
  const changes = Object.entries(update).filter(([name]) => !['desiredNodePoolId', 'etag'].includes(name))
  if (changes.length === 0) throw invalid('Must specify a field to update.')
  return started(request, 'UPDATE_CLUSTER', path, path, () => {
    if (typeof pool === 'string') return updatePoolOf(request, pool, update)
    const next: Item = { ...cluster, status: 'RUNNING' }
    for (const [name, value] of changes) applyUpdate(request, next, name, value)
    state.set(key, next)
  })
}

function applyUpdate(request: Request, cluster: Item, name: string, value: Json | undefined): void {
  const path = updatedPath(request, name)
  if (path === undefined || value === undefined) return
  put(cluster, path, updatedValue(path, value, at(cluster, path)))
}

function updatedValue(path: string, value: Json, held: Json | undefined): Json {
  if (path === 'currentMasterVersion') return versionOf(value)
  if (!isItem(value)) return value
  if (path === 'autoscaling') return autoscalingOf(value)
  if (path === 'monitoringConfig') return monitoringOf(value)
  if (/enableIntraNodeVisibility|enableL4ilbSubsetting/.test(path)) return value['enabled'] ?? false
  return clean(merged(isItem(held) ? held : {}, value))
}

function updatePoolOf({ state, path }: Request, pool: string, update: Item): void {
  const key = `container:${path}/nodePools/${pool}`
  const item = state.get(key)
  if (!item) return
  const next = { ...item }
  const { desiredNodePoolAutoscaling: autoscaling, desiredNodeVersion: version } = update
  if (isItem(autoscaling)) next['autoscaling'] = clean(autoscaling)
  if (typeof version === 'string') next['version'] = versionOf(version)
  state.set(key, next)
}

const setters: Readonly<Record<string, readonly [type: string, path: string, field: string]>> = {
  setResourceLabels: ['SET_LABELS', 'resourceLabels', 'resourceLabels'],
  setNetworkPolicy: ['SET_NETWORK_POLICY', 'networkPolicy', 'networkPolicy'],
  setMaintenancePolicy: ['SET_MAINTENANCE_POLICY', 'maintenancePolicy', 'maintenancePolicy'],
  setLegacyAbac: ['UPDATE_CLUSTER', 'legacyAbac.enabled', 'enabled'],
  setLocations: ['UPDATE_CLUSTER', 'locations', 'locations'],
  setLogging: ['UPDATE_CLUSTER', 'loggingService', 'loggingService'],
  setMonitoring: ['UPDATE_CLUSTER', 'monitoringService', 'monitoringService'],
  setAddons: ['UPDATE_CLUSTER', 'addonsConfig', 'addonsConfig'],
  updateMaster: ['UPGRADE_MASTER', 'currentMasterVersion', 'masterVersion'],
}

function setCluster(request: Request): Reply {
  const { state, key, path, body, verb } = request
  const setter = setters[verb]
  if (!setter) throw unsupported(request)
  const [type, at, field] = setter
  const cluster = existing(request, () => noCluster(path))
  const { labelFingerprint } = body
  if (verb === 'setResourceLabels' && labelFingerprint !== state.fingerprint(cluster['resourceLabels'] ?? {})) {
    throw new Failure(400, 'Labels could not be set due to fingerprint mismatch.', 'FAILED_PRECONDITION')
  }
  return started(request, type, path, path, () => {
    const next: Item = { ...cluster, status: 'RUNNING' }
    const value = body[field]
    put(next, at, isItem(value) && verb !== 'setResourceLabels' ? clean(value) : value)
    state.set(key, next)
  })
}

function nodePools(request: Request): Reply {
  const { verb, path, state, key } = request
  const cluster = path.replace(/\/nodePools.*$/, '')
  if (!state.get(`container:${cluster}`)) throw noCluster(cluster)
  switch (verb) {
    case 'get':
      return reply(
        withLink(
          request,
          existing(request, () => noPool(path)),
        ),
      )
    case 'list': {
      const pools = listed(request).body?.['nodePools']
      return reply(
        Array.isArray(pools) ? { nodePools: pools.filter(isItem).map((pool) => withLink(request, pool)) } : {},
      )
    }
    case 'create':
      return createPool(request, cluster)
    case 'delete': {
      const pool = existing(request, () => noPool(path))
      const begun = started(request, 'DELETE_NODE_POOL', path, cluster, () => {
        removeGroups(state, pool['instanceGroupUrls'])
        state.delete(key)
      })
      state.set(key, { ...pool, status: 'STOPPING' })
      return begun
    }
    default:
      return updatePool(request, cluster)
  }
}

const withLink = ({ api }: Request, { selfLink, ...pool }: Item): Item => ({
  ...pool,
  selfLink: `https://container.googleapis.com/${api.version}/${String(selfLink)}`,
})

function createPool(request: Request, cluster: string): Reply {
  const { state, body, path } = request
  const given = isItem(body['nodePool']) ? body['nodePool'] : {}
  const name = String(given['name'] ?? '')
  if (!/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    throw invalid('NodePool.name must have up to 40 lowercase letters, digits and hyphens.')
  const target = `${path}/${name}`
  if (state.has(`container:${target}`)) throw new Failure(409, `Already exists: ${target}.`, 'ALREADY_EXISTS')
  const begun = started(request, 'CREATE_NODE_POOL', target, cluster, () => addPool(request, cluster, given))
  state.set(`container:${target}`, { ...poolItem(request, cluster, given), status: 'PROVISIONING' })
  return begun
}

function poolItem(request: Request, cluster: string, given: Item): Item {
  const { state } = request
  const parent = state.get(`container:${cluster}`) ?? {}
  const location = locationOf(request)
  const place = {
    project: projectOf(request),
    location,
    subnetwork: String(parent['subnetwork']),
    version: versionOf(given['version'] ?? parent['currentMasterVersion']),
  }
  const group = `gke-${String(parent['name'])}-${String(given['name'])}-${state.fingerprint(cluster).replace(/\W/g, '').slice(0, 6).toLowerCase()}`
  const path = `projects/${place.project}/zones/${zoneOf(location)}/instanceGroupManagers/${group}-grp`
  return {
    ...poolOf({ ...given, version: place.version }, place),
    instanceGroupUrls: [COMPUTE + path],
    selfLink: `${cluster}/nodePools/${String(given['name'])}`,
  }
}

function addPool(request: Request, cluster: string, given: Item): void {
  const { state } = request
  const pool = poolItem(request, cluster, given)
  state.set(`container:${cluster}/nodePools/${String(given['name'])}`, pool)
  const urls = Array.isArray(pool['instanceGroupUrls']) ? pool['instanceGroupUrls'] : []
  for (const url of urls) addGroup(state, String(url).replace(COMPUTE, ''), Number(pool['initialNodeCount'] ?? 1))
}

/** The machines of a node pool are a managed instance group of Compute Engine. */
function addGroup(state: State, path: string, targetSize: number): void {
  const name = path.split('/').at(-1) ?? ''
  const base = name.replace(/-grp$/, '')
  const [, project, zone] = /projects\/([^/]+)\/zones\/([^/]+)/.exec(path) ?? []
  const root = `https://www.googleapis.com/compute/v1beta1/projects/${project}`
  const item: Item = {
    baseInstanceName: base,
    creationTimestamp: state.time(),
    currentActions: { none: targetSize },
    id: state.number(),
    instanceGroup: `${root}/zones/${zone}/instanceGroups/${name}`,
    instanceLifecyclePolicy: { defaultActionOnFailure: 'REPAIR', forceUpdateOnRepair: 'YES' },
    instanceTemplate: `${root}/global/instanceTemplates/${base}`,
    kind: 'compute#instanceGroupManager',
    name,
    selfLink: COMPUTE + path,
    status: { isStable: true },
    targetSize,
    updatePolicy: {
      maxSurge: { fixed: 1 },
      maxUnavailable: { fixed: 1 },
      minimalAction: 'REPLACE',
      replacementMethod: 'SUBSTITUTE',
      type: 'OPPORTUNISTIC',
    },
    zone: `${root}/zones/${zone}`,
  }
  state.set(`compute:${path}`, { ...item, fingerprint: state.fingerprint(item) })
}

function removeGroups(state: State, urls: Json | undefined): void {
  for (const url of Array.isArray(urls) ? urls : []) state.delete(`compute:${String(url).replace(COMPUTE, '')}`)
}

const wrapped = ['labels', 'taints', 'tags', 'resourceLabels']
const ofPool = ['locations', 'upgradeSettings', 'nodeDrainConfig', 'queuedProvisioning', 'maintenancePolicy']
const ignored = ['name', 'etag', 'nodeVersion', 'nodeNetworkConfig', 'image', 'imageProject', 'nodeConfigUpdateMode']

/** The operation types of the methods; an update has none. */
const poolTypes: Readonly<Record<string, string>> = {
  setAutoscaling: 'UPDATE_CLUSTER',
  setManagement: 'SET_NODE_POOL_MANAGEMENT',
  setSize: 'SET_NODE_POOL_SIZE',
}

function updatePool(request: Request, cluster: string): Reply {
  const { state, key, path, body, verb } = request
  if (verb !== 'update' && !poolTypes[verb]) throw unsupported(request)
  const pool = existing(request, () => noPool(path))
  const next: Item = { ...pool, status: 'RUNNING' }
  if (isItem(body['autoscaling'])) next['autoscaling'] = clean(body['autoscaling'])
  if (isItem(body['management'])) next['management'] = clean(body['management'])
  if (verb === 'setSize') next['initialNodeCount'] = body['nodeCount']
  if (verb === 'update') applyPoolUpdate(next, body)
  return started(request, poolTypes[verb], path, cluster, () => state.set(key, next))
}

function applyPoolUpdate(pool: Item, body: Item): void {
  const { nodeVersion, nodeNetworkConfig: network } = body
  if (typeof nodeVersion === 'string' && nodeVersion !== '') pool['version'] = versionOf(nodeVersion)
  const held = pool['networkConfig']
  if (isItem(network)) put(pool, 'networkConfig', merged(isItem(held) ? held : {}, clean(network)))
  for (const [name, value] of Object.entries(body)) {
    if (!ignored.includes(name) && value !== undefined) put(pool, poolPath(name), poolValue(name, value))
  }
}

const poolPath = (name: string): string => (ofPool.includes(name) ? name : `config.${name}`)

function poolValue(name: string, value: Json): Json | undefined {
  if (name === 'diskSizeGb') return Number(value)
  if (!isItem(value)) return value
  if (ofPool.includes(name)) return clean(value)
  return wrapped.includes(name) ? value[name === 'resourceLabels' ? 'labels' : name] : value
}

/** Starts an operation. A cluster accepts one at a time. */
function started(
  request: Request,
  type: string | undefined,
  target: string,
  cluster: string,
  finish: () => void,
): Reply {
  const { state, api } = request
  const busy = state.busy(`container:${cluster}`)
  if (busy) throw new Failure(400, `Cluster is running incompatible operation ${busy}.`, 'FAILED_PRECONDITION')
  const location = locationOf(request)
  const name = `operation-${state.number()}`
  const place = `projects/${projectOf(request)}/locations/${location}`
  const root = `https://container.googleapis.com/${api.version}/`
  const numbered = (path: string) => root + placed(path).replace(/projects\/[^/]+/, `projects/${PROJECT_NUMBER}`)
  const operation: Item = {
    name,
    ...(type === undefined ? {} : { operationType: type }),
    selfLink: numbered(`${place}/operations/${name}`),
    startTime: state.time(),
    status: 'RUNNING',
    targetLink: type === 'SET_LABELS' ? root + placed(target) : numbered(target),
    zone: location,
  }
  const key = `container:${place}/operations/${name}`
  return reply(
    state.begin(key, operation, `container:${target}`, (held) => {
      finish()
      const progress = type === 'CREATE_CLUSTER' ? { progress: { metrics: creationMetrics } } : {}
      state.set(key, { ...held, ...progress, endTime: state.time(), status: 'DONE' })
    }),
  )
}

const creationMetrics = Object.entries({
  CLUSTER_CONFIGURING: 8,
  CLUSTER_CONFIGURING_TOTAL: 8,
  CLUSTER_DEPLOYING: 12,
  CLUSTER_DEPLOYING_TOTAL: 12,
  CLUSTER_HEALTHCHECKING: 1,
  CLUSTER_HEALTHCHECKING_TOTAL: 2,
}).map(([name, value]) => ({ intValue: String(value), name }))
