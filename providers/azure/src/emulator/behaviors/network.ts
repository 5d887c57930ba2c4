import { randomUUID } from 'node:crypto'
import { at, defined, listOf, merged, textOf, type Values, valuesOf } from '../../values.js'
import type { Answer, Behavior, Change, Polling } from '../behavior.js'
import { fact } from '../facts.js'
import { badRequest, Problem } from '../problem.js'
import { idOf, lastName, type Target } from '../resource-id.js'
import type { Stored, World } from '../world.js'
import { contains, overlaps } from './addresses.js'

const polling: Polling = {
  status: '/subscriptions/{subscription}/providers/Microsoft.Network/locations/{location}/operations/{operation}',
  retryAfter: 3,
  pollAfter: 10,
}

const created: Answer = { status: 201, body: 'resource', polling }
const updated: Answer = { status: 200, body: 'resource', polling }
const removed: Answer = {
  status: 202,
  polling: {
    ...polling,
    result:
      '/subscriptions/{subscription}/providers/Microsoft.Network/locations/{location}/operationResults/{operation}',
    retryAfter: 10,
  },
}

const SUBNET = 'Microsoft.Network/virtualNetworks/subnets'

const stateOf = ({ phase }: Stored): string =>
  ({ creating: 'Updating', updating: 'Updating', deleting: 'Deleting', ready: 'Succeeded' })[phase]

const etagOf = ({ etag }: Stored): string => `W/"${etag}"`

/** Defaults that newer API versions report. */
const since = (apiVersion: string, version: string, values: Values): Values => (apiVersion >= version ? values : {})

function showNetwork(resource: Stored, world: World, apiVersion: string): Values {
  const properties = valuesOf(resource.body['properties'])
  const guid = fact(resource.facts, 'guid', () => randomUUID())
  const subnets = [...world.below(resource.id, SUBNET)].map((subnet) => ({
    name: lastName(subnet.target),
    id: idOf(subnet.target),
    ...showSubnet(subnet, world, apiVersion),
    type: SUBNET,
  }))
  return defined({
    etag: etagOf(resource),
    extendedLocation: resource.body['extendedLocation'],
    properties: {
      provisioningState: stateOf(resource),
      resourceGuid: guid,
      ...since(apiVersion, '2023-09-01', { privateEndpointVNetPolicies: 'Disabled' }),
      virtualNetworkPeerings: [],
      enableDdosProtection: false,
      ...withPeerings(properties),
      subnets,
    },
  })
}

const withPeerings = (properties: Values): Values =>
  defined({ ...properties, virtualNetworkPeerings: properties['virtualNetworkPeerings'] ?? [] })

function showSubnet(resource: Stored, _: World, apiVersion: string): Values {
  const properties = valuesOf(resource.body['properties'])
  const delegations = listOf(properties['delegations']).map((each) => showDelegation(resource, valuesOf(each)))
  const endpoints = listOf(properties['serviceEndpoints']).map((each) => ({
    provisioningState: 'Succeeded',
    locations: ['*'],
    ...valuesOf(each),
  }))
  return {
    etag: etagOf(resource),
    properties: defined({
      provisioningState: stateOf(resource),
      privateEndpointNetworkPolicies: apiVersion >= '2022-07-01' ? 'Disabled' : 'Enabled',
      privateLinkServiceNetworkPolicies: 'Enabled',
      ...properties,
      delegations,
      ...(properties['serviceEndpoints'] ? { serviceEndpoints: endpoints } : {}),
    }),
  }
}

/** The actions that a service may perform in a subnet that is delegated to it. */
const actionsOf = (service: string): readonly string[] =>
  service.startsWith('Microsoft.Sql/')
    ? ['join', 'prepareNetworkPolicies', 'unprepareNetworkPolicies'].map(
        (action) => `Microsoft.Network/virtualNetworks/subnets/${action}/action`,
      )
    : ['Microsoft.Network/virtualNetworks/subnets/join/action']

function showDelegation(subnet: Stored, delegation: Values): Values {
  const name = textOf(delegation['name']) ?? ''
  const service = textOf(at(delegation, 'properties.serviceName')) ?? ''
  return {
    name,
    id: `${idOf(subnet.target)}/delegations/${name}`,
    etag: etagOf(subnet),
    properties: { provisioningState: 'Succeeded', serviceName: service, actions: actionsOf(service) },
    type: `${SUBNET}/delegations`,
  }
}

const prefixesOf = (properties: Values): readonly string[] => {
  const listed = listOf(properties['addressPrefixes'])
  return [properties['addressPrefix'], ...listed].flatMap((prefix) => textOf(prefix) ?? [])
}

function checkNetwork({ body, held, world }: Change): void {
  const properties = valuesOf(body['properties'])
  const prefixes = listOf(at(properties, 'addressSpace.addressPrefixes'))
  if (prefixes.length === 0 && listOf(at(properties, 'addressSpace.ipamPoolPrefixAllocations')).length === 0) {
    throw badRequest('InvalidRequestFormat', 'Cannot parse the request: the virtual network has no address space.')
  }
  if (!held) return
  const kept = new Set(
    listOf(properties['subnets']).flatMap((each) => textOf(valuesOf(each)['name'])?.toLowerCase() ?? []),
  )
  for (const subnet of world.below(held.id, SUBNET)) {
    if (!kept.has(lastName(subnet.target).toLowerCase())) refuseUsed(subnet, world)
  }
}

/** A subnet that something uses cannot be deleted, neither by itself nor by a virtual network without it. */
function refuseUsed(subnet: Stored, world: World): void {
  const scope = `/subscriptions/${subnet.target.subscription}`
  for (const server of world.below(scope, 'Microsoft.DBforMySQL/flexibleServers')) {
    const used = textOf(at(server.body, 'properties.network.delegatedSubnetResourceId'))
    if (used?.toLowerCase() !== subnet.id.toLowerCase()) continue
    throw badRequest(
      'InUseSubnetCannotBeDeleted',
      `Subnet ${lastName(subnet.target)} is in use by ${server.id} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet.`,
    )
  }
}

/** The subnets in the body are those that exist afterwards: a PUT without them removes them. */
function writeSubnets(network: Stored, world: World): void {
  const given = listOf(at(network.body, 'properties.subnets')).map(valuesOf)
  const names = new Set(given.map((each) => (textOf(each['name']) ?? '').toLowerCase()))
  for (const subnet of [...world.below(network.id, SUBNET)]) {
    if (!names.has(lastName(subnet.target).toLowerCase())) world.remove(subnet.id)
  }
  for (const each of given) {
    const target = childOf(network.target, 'subnets', textOf(each['name']) ?? '')
    const held = world.findTarget(target)
    if (held) {
      held.body = merged(held.body, { properties: each['properties'] })
      held.etag = network.etag
      continue
    }
    world.put({
      target,
      id: idOf(target),
      type: SUBNET,
      location: network.location,
      body: { properties: valuesOf(each['properties']) },
      facts: {},
      createdAt: world.now,
      etag: network.etag,
      phase: 'ready',
      operation: undefined,
    })
  }
}

const childOf = (target: Target, type: string, name: string): Target => ({
  ...target,
  types: [...target.types, type],
  names: [...target.names, name],
  collection: false,
})

function checkSubnet({ target, body, world }: Change): void {
  const network = world.findTarget({ ...target, types: target.types.slice(0, 1), names: target.names.slice(0, 1) })
  const properties = valuesOf(body['properties'])
  const prefixes = prefixesOf(properties)
  if (prefixes.length === 0 && listOf(properties['ipamPoolPrefixAllocations']).length === 0) {
    throw badRequest(
      'InvalidRequestFormat',
      `Cannot parse the request: subnet ${lastName(target)} has no address prefix.`,
    )
  }
  if (!network) return
  const spaces = listOf(at(network.body, 'properties.addressSpace.addressPrefixes')).flatMap(
    (each) => textOf(each) ?? [],
  )
  for (const prefix of prefixes) {
    if (!spaces.some((space) => contains(space, prefix))) {
      throw badRequest(
        'NetcfgSubnetRangeOutsideVnet',
        `Subnet '${lastName(target)}' is not valid because its IP address range is outside the IP address range of virtual network '${lastName(network.target)}'.`,
      )
    }
    for (const other of world.below(network.id, SUBNET)) {
      if (other.id.toLowerCase() === idOf(target).toLowerCase()) continue
      if (!prefixesOf(valuesOf(other.body['properties'])).some((used) => overlaps(used, prefix))) continue
      throw badRequest(
        'NetcfgSubnetRangesOverlap',
        `Subnet '${lastName(target)}' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '${lastName(network.target)}'.`,
      )
    }
  }
}

const sameProperties = ({ body, held }: Change): boolean => {
  const plain = (values: Values) => JSON.stringify(sorted(without(valuesOf(values['properties']))))
  return held !== undefined && plain(body) === plain(held.body)
}

/** Without subnets, which have answers of their own. */
const without = (properties: Values): Values => {
  const { subnets: _, ...rest } = properties
  return rest
}

const sorted = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Other types of the service: they report what they were given. */
const plain: Behavior = {
  create: created,
  update: updated,
  remove: removed,
  location: 'short',
  show: (resource) => ({
    etag: etagOf(resource),
    sku: resource.body['sku'],
    properties: {
      provisioningState: stateOf(resource),
      resourceGuid: fact(resource.facts, 'guid', () => randomUUID()),
      ...valuesOf(resource.body['properties']),
    },
  }),
}

export const network: Readonly<Record<string, Behavior>> = {
  'Microsoft.Network/virtualNetworks': {
    create: created,
    update: updated,
    remove: removed,
    location: 'short',
    check: checkNetwork,
    quick: sameProperties,
    show: showNetwork,
    written: writeSubnets,
    checkRemove(held, world) {
      for (const subnet of world.below(held.id, SUBNET)) refuseUsed(subnet, world)
    },
  },
  [SUBNET]: {
    create: created,
    update: updated,
    remove: removed,
    check: checkSubnet,
    checkRemove: refuseUsed,
    show: showSubnet,
  },
  'Microsoft.Network/virtualNetworks/virtualNetworkPeerings': plain,
  'Microsoft.Network/networkSecurityGroups': plain,
  'Microsoft.Network/routeTables': plain,
  'Microsoft.Network/publicIPAddresses': plain,
  'Microsoft.Network/natGateways': plain,
}

/** The subnet that another service is asked to join. Throws when it does not exist. */
export function subnetFor(world: World, id: string): Stored {
  const subnet = world.find(id)
  if (subnet) return subnet
  throw new Problem(
    400,
    'InvalidResourceReference',
    `Resource ${id} referenced by the request was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
  )
}
