import { Failure } from './failure.js'
import {
  existing,
  lastOf,
  listed,
  projectOf,
  type Reply,
  type Request,
  reply,
  type Service,
  USER,
  unsupported,
} from './service.js'
import { type Item, merged, patched } from './values.js'

const ROOT = 'https://www.googleapis.com/compute/v1/'

const notFound = (path: string) => new Failure(404, `The resource '${path}' was not found`, 'notFound')

export const compute: Service = (request) => {
  const { resource, verb } = request
  if (/Operations$/.test(resource)) return operations(request)
  switch (verb) {
    case 'get':
      return reply(existing(request, () => notFound(request.path)))
    case 'list':
      return listed(request, {
        kind: `compute#${singular(resource)}List`,
        id: request.path,
        selfLink: ROOT + request.path,
      })
    case 'insert':
      return insert(request)
    case 'delete':
      return remove(request)
    case 'patch':
    case 'update':
      return change(request, (item) => patchedItem(request, item))
    default:
      return custom(request)
  }
}

const singular = (resource: string): string =>
  resource
    .replace(/^global([A-Z])/, (_, letter) => letter.toLowerCase())
    .replace(/(ss)?es$/, '$1')
    .replace(/s$/, '')

function operations(request: Request): Reply {
  if (request.verb === 'list') return listed(request, { kind: 'compute#operationList', id: request.path })
  return reply(existing({ ...request, key: request.key.replace(/\/wait$/, '') }, () => notFound(request.path)))
}

/** Defaults of new resources, and checks of what they refer to. */
const defaults: Readonly<Record<string, (request: Request) => Item>> = {
  networks: () => ({
    autoCreateSubnetworks: false,
    networkFirewallPolicyEnforcementOrder: 'AFTER_CLASSIC_FIREWALL',
    routingConfig: { bgpBestPathSelectionMode: 'LEGACY', routingMode: 'REGIONAL' },
  }),
  subnetworks: (request) => ({
    gatewayAddress: firstAddress(String(request.body['ipCidrRange'] ?? '')),
    privateIpGoogleAccess: false,
    privateIpv6GoogleAccess: 'DISABLE_GOOGLE_ACCESS',
    purpose: 'PRIVATE',
    stackType: 'IPV4_ONLY',
    state: 'READY',
    ...(request.body['logConfig'] ? {} : { enableFlowLogs: false }),
  }),
  addresses: () => ({ addressType: 'EXTERNAL', networkTier: 'PREMIUM', status: 'RESERVED', address: '203.0.113.10' }),
  globalAddresses: () => ({
    addressType: 'EXTERNAL',
    networkTier: 'PREMIUM',
    status: 'RESERVED',
    address: '203.0.113.11',
    ipVersion: 'IPV4',
  }),
  firewalls: () => ({
    direction: 'INGRESS',
    priority: 1000,
    disabled: false,
    enableLogging: false,
    logConfig: { enable: false },
  }),
  routes: () => ({ priority: 1000, routeStatus: 'ACTIVE' }),
}

function firstAddress(range: string): string {
  return range.replace(/\.\d+\/\d+$/, '.1')
}

const links = ['network', 'subnetwork', 'networkProfile', 'nextHopGateway', 'nextHopInstance', 'nextHopIp']

function insert(request: Request): Reply {
  const { body, state, resource, path, query } = request
  const earlier = state.repeated(query.get('requestId'))
  if (earlier) return reply(earlier)
  const name = String(body['name'] ?? '')
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new Failure(
      400,
      `Invalid value for field 'resource.name': '${name}'. Must be a match of regex '[a-z]([-a-z0-9]{0,61}[a-z0-9])?'`,
      'invalid',
    )
  }
  const target = `${path}/${name}`
  if (state.has(`compute:${target}`)) throw new Failure(409, `The resource '${target}' already exists`, 'alreadyExists')
  checkReferences(request)
  const item = derived(created(request, target, name), request)
  return started(
    request,
    'insert',
    target,
    () => {
      state.set(`compute:${target}`, item)
      if (resource === 'networks') return
      attach(request, item)
    },
    true,
  )
}

function created(request: Request, target: string, name: string): Item {
  const { body, state, resource, path } = request
  const id = state.number()
  const region = /regions\/([^/]+)/.exec(path)?.[1]
  const given: Item = { ...body }
  for (const link of links) if (typeof given[link] === 'string') given[link] = absolute(given[link])
  return {
    ...merged(defaults[resource]?.(request) ?? {}, given),
    creationTimestamp: state.time(),
    id,
    kind: `compute#${singular(resource)}`,
    name,
    selfLink: ROOT + target,
    ...(region ? { region: `${ROOT}projects/${projectOf(request)}/regions/${region}` } : {}),
    ...(resource === 'networks' ? { selfLinkWithId: `${ROOT}${path}/${id}` } : {}),
    ...(resource === 'subnetworks' ? { fingerprint: state.fingerprint(given) } : {}),
  }
}

const absolute = (link: unknown): string => {
  const text = String(link)
  return /^\d+\.\d+/.test(text) ? text : ROOT + text.replace(/^.*?(?=projects\/)/, '').replace(/^\//, '')
}

/** Values that follow from others. False is not reported where the API omits it. */
function derived(item: Item, { resource, state }: Request): Item {
  const result = { ...item }
  if (resource === 'networks') {
    if (result['enableUlaInternalIpv6'] === true) result['internalIpv6Range'] ??= 'fd20:eb5:88a:0:0:0:0:0/48'
    else delete result['enableUlaInternalIpv6']
  }
  if (resource === 'subnetworks') {
    if (/^IPV4_IPV6$|^IPV6_ONLY$/.test(String(result['stackType']))) {
      result['ipv6CidrRange'] ??= '2600:1900:4000:0:0:0:0:0/64'
      result[result['ipv6AccessType'] === 'EXTERNAL' ? 'externalIpv6Prefix' : 'internalIpv6Prefix'] ??=
        '2600:1900:4000:0:0:0:0:0/64'
    }
    const { fingerprint: _, ...rest } = result
    result['fingerprint'] = state.fingerprint(rest)
  }
  return result
}

function checkReferences({ body, state }: Request): void {
  const { network } = body
  if (typeof network !== 'string') return
  const path = network.replace(/^.*?(?=projects\/)/, '').replace(/^\//, '')
  if (lastOf(path) === 'default' || state.get(`compute:${path}`)) return
  throw new Failure(404, `The resource '${path}' was not found`, 'notFound')
}

/** A network lists its subnetworks. */
function attach({ state, resource }: Request, item: Item): void {
  if (resource !== 'subnetworks') return
  const key = `compute:${String(item['network']).replace(ROOT, '')}`
  const network = state.get(key)
  const held = network?.['subnetworks']
  if (network)
    state.set(key, { ...network, subnetworks: [...(Array.isArray(held) ? held : []), String(item['selfLink'])] })
}

function remove(request: Request): Reply {
  const { state, path, key } = request
  const earlier = state.repeated(request.query.get('requestId'))
  if (earlier) return reply(earlier)
  const item = existing(request, () => notFound(path))
  const { selfLink } = item
  const user = state.find(
    (other, each) => other.startsWith('compute:') && (each['network'] === selfLink || each['subnetwork'] === selfLink),
  )[0]
  const inCluster = state.find(
    (other, each) => other.startsWith('container:') && Object.values(Object(each['networkConfig'])).includes(path),
  )[0]
  const by = user ?? inCluster
  if (by) {
    const text = `The ${singular(request.resource)} resource '${path}' is already being used by '${String(by['selfLink']).replace(ROOT, '')}'`
    throw new Failure(400, text, 'resourceInUseByAnotherResource')
  }
  return started(request, 'delete', path, () => {
    state.delete(key)
    detach(request, item)
  })
}

function detach({ state, resource }: Request, item: Item): void {
  if (resource !== 'subnetworks') return
  const key = `compute:${String(item['network']).replace(ROOT, '')}`
  const network = state.get(key)
  const held = network?.['subnetworks']
  if (!network || !Array.isArray(held)) return
  const { subnetworks: _, ...rest } = network
  const left = held.filter((link) => link !== item['selfLink'])
  state.set(key, left.length > 0 ? { ...rest, subnetworks: left } : rest)
}

/** Fields of networks that cannot be changed once set. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  networks: ['description', 'name', 'networkProfile'],
  subnetworks: ['description', 'name', 'network', 'purpose', 'ipCidrRange'],
}

function patchedItem({ resource, body }: Request, item: Item): Item {
  for (const name of fixed[resource] ?? []) {
    if (body[name] === undefined || body[name] === item[name]) continue
    throw new Failure(400, `Invalid value for field 'resource.${name}': it cannot be changed`, 'invalid')
  }
  const { fingerprint } = body
  if (resource === 'subnetworks' && fingerprint !== undefined && fingerprint !== item['fingerprint']) {
    throw new Failure(412, 'Supplied fingerprint does not match current metadata fingerprint.', 'conditionNotMet')
  }
  return patched(item, body)
}

function change(request: Request, apply: (item: Item) => Item, type = operationOf(request)): Reply {
  const { state, key, path, query } = request
  const earlier = state.repeated(query.get('requestId'))
  if (earlier) return reply(earlier)
  const item = existing(request, () => notFound(path))
  const next = derived(apply(item), request)
  return started(request, type, path, () => state.set(key, next))
}

const operationOf = ({ verb, resource }: Request): string => {
  const name = singular(resource)
  return verb === 'patch'
    ? resource === 'networks'
      ? 'updateNetwork'
      : 'patch'
    : verb === 'update'
      ? `update${name}`
      : verb
}

function custom(request: Request): Reply {
  const { verb, key, path, body } = request
  const own = { ...request, key: key.replace(/\/\w+$/, ''), path: path.replace(/\/\w+$/, '') }
  switch (verb) {
    case 'setPrivateIpGoogleAccess':
      return change(own, (item) => ({ ...item, privateIpGoogleAccess: body['privateIpGoogleAccess'] === true }), verb)
    case 'expandIpCidrRange':
      return change(own, (item) => ({ ...item, ipCidrRange: body['ipCidrRange'] }), verb)
    case 'switchToCustomMode':
      return change(own, (item) => ({ ...item, autoCreateSubnetworks: false }), verb)
    case 'setLabels':
      return change(own, (item) => ({ ...item, labels: body['labels'] }), verb)
    default:
      throw unsupported(request)
  }
}

/** Starts an operation on a resource. A resource with an operation under way accepts no other. */
function started(request: Request, type: string, target: string, finish: () => void, isNew = false): Reply {
  const { state, query, path } = request
  const busy = state.busy(`compute:${target}`)
  if (busy) throw new Failure(400, `The resource '${target}' is not ready`, 'resourceNotReady')
  const place = /projects\/[^/]+\/(global|regions\/[^/]+|zones\/[^/]+)/.exec(path)?.[0] ?? ''
  const name = `operation-${state.number()}`
  const key = `compute:${place}/operations/${name}`
  const scope = /(regions|zones)\/[^/]+$/.exec(place)?.[1]
  const targetItem = isNew ? undefined : state.get(`compute:${target}`)
  const operation: Item = {
    id: state.number(),
    insertTime: state.time(),
    kind: 'compute#operation',
    name,
    operationType: type,
    progress: 0,
    ...(scope ? { [scope.slice(0, -1)]: ROOT + place } : {}),
    selfLink: `${ROOT}${place}/operations/${name}`,
    startTime: state.time(),
    status: 'RUNNING',
    targetId: String(targetItem?.['id'] ?? state.number()),
    targetLink: ROOT + target,
    user: USER,
  }
  state.remember(query.get('requestId'), key)
  return reply(
    state.begin(key, operation, `compute:${target}`, (held) => {
      finish()
      state.set(key, { ...held, endTime: state.time(), progress: 100, status: 'DONE' })
    }),
  )
}
