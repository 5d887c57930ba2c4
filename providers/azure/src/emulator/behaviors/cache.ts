import { randomBytes } from 'node:crypto'
import { at, defined, merged, numberOf, textOf, type Values, valuesOf, without } from '../../values.js'
import { type Answer, type Behavior, type Change, done, type Polling } from '../behavior.js'
import { fact } from '../facts.js'
import { badRequest } from '../problem.js'
import { lastName } from '../resource-id.js'
import type { Stored, World } from '../world.js'
import { identityOf } from './identities.js'

const base = '/subscriptions/{subscription}/providers/Microsoft.Cache/locations/{location}'
const polling: Polling = { status: `${base}/asyncOperations/{operation}`, retryAfter: 30, detailed: true }
const created: Answer = { status: 201, body: 'resource', polling }
const updated: Answer = { status: 200, body: 'resource', polling }
const removed: Answer = { status: 202, polling: { ...polling, result: `${base}/asyncOperations/{operation}/result` } }

const TYPE = 'Microsoft.Cache/Redis'
const MEGABYTES = { Basic: 30, Standard: 30, Premium: 642 }

function show(resource: Stored, world: World): Values {
  const { target, body, facts, phase } = resource
  const given = valuesOf(body['properties'])
  const name = lastName(target)
  const tier = textOf(at(given, 'sku.name')) ?? 'Basic'
  const reserved = String(tier === 'Premium' ? MEGABYTES.Premium : MEGABYTES.Basic)
  const shards = numberOf(given['shardCount']) ?? 0
  const replicas =
    numberOf(given['replicasPerPrimary']) ?? numberOf(given['replicasPerMaster']) ?? (tier === 'Basic' ? 0 : 1)
  const version = textOf(given['redisVersion'])
  const isNew = phase === 'creating'
  const keys = isNew
    ? {
        primaryKey: fact(facts, 'key1', () => randomBytes(32).toString('base64')),
        secondaryKey: fact(facts, 'key2', () => randomBytes(32).toString('base64')),
      }
    : undefined
  const defaults = {
    provisioningState: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting', ready: 'Succeeded' }[phase],
    enableNonSslPort: false,
    instances: instancesOf(Math.max(1, shards), replicas),
    minimumTlsVersion: '1.2',
    publicNetworkAccess: 'Enabled',
    redisConfiguration: {
      'maxmemory-policy': 'volatile-lru',
      'maxmemory-reserved': reserved,
      maxclients: tier === 'Premium' ? '7500' : '1000',
      'maxfragmentationmemory-reserved': reserved,
      'maxmemory-delta': reserved,
    },
    hostName: `${name}.redis.cache.windows.net`,
    port: 6379,
    sslPort: 6380,
    ...(tier === 'Basic' ? {} : { replicasPerMaster: replicas, replicasPerPrimary: replicas }),
    linkedServers: [],
    updateChannel: 'Stable',
    disableAccessKeyAuthentication: false,
    ...(tier === 'Premium' ? { zonalAllocationPolicy: 'Automatic' } : {}),
  }
  return defined({
    identity: identityOf(resource, world, 'clientId'),
    zones: body['zones'],
    properties: {
      ...merged(defaults, given),
      redisVersion: version === undefined || version === '6' || version === 'latest' ? '6.0' : version,
      accessKeys: keys ?? null,
    },
    type: TYPE,
  })
}

const instancesOf = (shards: number, replicas: number): readonly Values[] =>
  Array.from({ length: shards * (replicas + 1) }, (_, i) => {
    const first = i % (replicas + 1) === 0
    return { sslPort: 15_000 + i, shardId: Math.floor(i / (replicas + 1)), isMaster: first, isPrimary: first }
  })

function check({ target, body, held }: Change): void {
  const name = lastName(target)
  if (!/^(?!.*--)[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/.test(name)) {
    throw badRequest(
      'InvalidParameter',
      `The name '${name}' of the cache is invalid: use letters, digits and single hyphens.`,
    )
  }
  const { name: tier, family, capacity } = valuesOf(at(body, 'properties.sku'))
  const fits = tier === 'Premium' ? family === 'P' : family === 'C'
  if (!fits) throw badRequest('InvalidSku', `The family '${family}' does not belong to the SKU '${tier}'.`)
  if (typeof capacity !== 'number' || capacity < 0 || capacity > 6) {
    throw badRequest('InvalidSku', `The capacity '${capacity}' is not valid for the SKU '${tier}'.`)
  }
  const before = textOf(at(held?.body, 'properties.sku.name'))
  if (before === 'Premium' && tier !== 'Premium') {
    throw badRequest('InvalidSkuChange', 'A Premium cache cannot be scaled down to another tier.')
  }
}

export const cache: Readonly<Record<string, Behavior>> = {
  'Microsoft.Cache/redis': {
    create: created,
    update: updated,
    remove: removed,
    merges: true,
    location: 'display',
    tags: 'always',
    check,
    show,
  },
  'Microsoft.Cache/redis/firewallRules': {
    create: done(201, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    show: ({ target, body }) => ({
      name: `${target.names[0]}/${lastName(target)}`,
      type: `${TYPE}/firewallRules`,
      properties: without(valuesOf(body['properties'])),
    }),
  },
}
