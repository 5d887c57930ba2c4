import { Failure } from './failure.js'
import { masked, operations, startLongRunning } from './lro.js'
import {
  existing,
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
import { type Item, merged, withoutZeros } from './values.js'

const TYPE = 'google.cloud.redis.v1.Instance'
const missing = (path: string) => new Failure(404, `Resource '${path}' was not found`, 'NOT_FOUND')

export const redis: Service = (request) => {
  if (request.resource.endsWith('operations')) return operations(request)
  switch (request.verb) {
    case 'get':
      return reply(existing(request, () => missing(request.path)))
    case 'list':
      return listed(request)
    case 'create':
      return create(request)
    case 'patch':
      return change(request, masked(request.body, required(request.query, 'updateMask')))
    case 'upgrade':
      return change(request, request.body)
    case 'delete':
      return remove(request)
    case 'getAuthString':
      return authString(request)
    default:
      throw unsupported(request)
  }
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value) return value
  throw new Failure(400, `Field '${name}' is required.`, 'INVALID_ARGUMENT')
}

function create(request: Request): Reply {
  const { state, path, body, query } = request
  const id = required(query, 'instanceId')
  if (!/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(id)) {
    throw new Failure(
      400,
      `Invalid instance id '${id}'. It must have up to 40 lowercase letters, digits and hyphens.`,
      'INVALID_ARGUMENT',
    )
  }
  if (!body['memorySizeGb']) throw new Failure(400, 'Field memorySizeGb is required.', 'INVALID_ARGUMENT')
  const target = `${path}/${id}`
  const key = `redis:${target}`
  if (state.has(key)) throw new Failure(409, `Resource '${target}' already exists`, 'ALREADY_EXISTS')
  const item = withDefaults(request, target)
  state.set(key, { ...item, state: 'CREATING' })
  const finish = () => {
    state.set(key, item)
    return item
  }
  return startLongRunning({ request, target, verb: 'create', type: TYPE, finish })
}

function withDefaults(request: Request, target: string): Item {
  const { state, body } = request
  const project = projectOf(request)
  const location = /locations\/([^/]+)/.exec(target)?.[1] ?? ''
  const zone = String(body['locationId'] ?? zoneOf(location))
  const isHa = body['tier'] === 'STANDARD_HA'
  const replicas =
    body['readReplicasMode'] === 'READ_REPLICAS_ENABLED' ? Number(body['replicaCount'] ?? 2) : isHa ? 1 : 0
  const zones = [zone, String(body['alternativeLocationId'] ?? zone.replace(/.$/, 'c'))]
  const nodes = Array.from({ length: replicas + 1 }, (_, index) => ({
    id: `node-${index}`,
    zone: zones[index % 2] ?? zone,
  }))
  const defaults: Item = {
    authorizedNetwork: `projects/${project}/global/networks/default`,
    connectMode: 'DIRECT_PEERING',
    createTime: state.time(),
    currentLocationId: zone,
    host: '10.1.2.3',
    locationId: zone,
    nodes,
    persistenceConfig: { persistenceMode: 'DISABLED' },
    persistenceIamIdentity: `serviceAccount:service-${PROJECT_NUMBER}@cloud-redis.iam.gserviceaccount.com`,
    port: 6379,
    readReplicasMode: 'READ_REPLICAS_DISABLED',
    redisVersion: 'REDIS_7_0',
    reservedIpRange: '10.1.2.0/24',
    tier: 'BASIC',
    transitEncryptionMode: 'DISABLED',
    ...(isHa ? { alternativeLocationId: zones[1] ?? zone, replicaCount: replicas } : {}),
    ...(replicas > 1 ? { readEndpoint: '10.1.2.4', readEndpointPort: 6379 } : {}),
  }
  const tls = body['transitEncryptionMode'] === 'SERVER_AUTHENTICATION'
  const certificates = tls ? { serverCaCerts: [certificate(state.time())], port: 6378 } : {}
  return { ...merged(defaults, withoutZeros(body, new Set())), ...certificates, name: target, state: 'READY' }
}

const certificate = (time: string) => ({
  cert: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
  createTime: time,
  expireTime: time,
  serialNumber: '0',
  sha1Fingerprint: '12345678',
})

function change(request: Request, patch: Item): Reply {
  const { state, key, path } = request
  const item = existing(request, () => missing(path))
  if (state.busy(key)) throw new Failure(400, `Resource '${path}' has an operation in progress.`, 'FAILED_PRECONDITION')
  const { name: _, labels, redisConfigs, ...rest } = patch
  const next = withoutZeros(
    { ...merged(item, rest), ...(labels ? { labels } : {}), ...(redisConfigs ? { redisConfigs } : {}) },
    new Set(),
  )
  state.set(key, { ...item, state: 'UPDATING' })
  const finish = () => {
    state.set(key, { ...next, state: 'READY' })
    return { ...next, state: 'READY' }
  }
  return startLongRunning({ request, target: path, verb: 'update', type: TYPE, finish })
}

function remove(request: Request): Reply {
  const { state, key, path } = request
  const item = existing(request, () => missing(path))
  const started = startLongRunning({
    request,
    target: path,
    verb: 'delete',
    type: TYPE,
    finish: () => {
      state.delete(key)
      return undefined
    },
  })
  state.set(key, { ...item, state: 'DELETING' })
  return started
}

function authString(request: Request): Reply {
  const key = request.key.replace(/\/authString$/, '')
  const item = existing({ ...request, key }, () => missing(request.path))
  if (item['authEnabled'] !== true)
    throw new Failure(400, 'AUTH is not enabled for the instance.', 'FAILED_PRECONDITION')
  return reply({ authString: request.state.fingerprint(key) })
}
