import { s } from '@crosstie/resources/provider'
import { defineArmKind } from './arm-kind.js'
import { choice, count, flag, identity, location, operation, resourceGroupName, resourceId, tags } from './fields.js'
import { types } from './types.js'
import { at, numberOf, textOf } from './values.js'

const TYPE = 'Microsoft.Cache/redis'
const API = '2024-11-01'

export const redis = defineArmKind({
  service: 'cache',
  kind: 'Redis',
  plural: 'redis',
  doc: 'Azure Cache for Redis. Its connection Secret has `endpoint`, `port` (TLS) and `password`, the primary access key. Azure retires this service on 2028-09-30.',
  type: TYPE,
  apiVersion: API,
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    location: location(),
    zones: s.optional(s.list(s.string(), { set: true, immutable: true, doc: 'Availability zones.' })),
    identity: identity(),
    sku: s.object(
      {
        name: s.string({ doc: 'The tier.', enum: ['Basic', 'Standard', 'Premium'] }),
        family: s.string({ doc: 'C for Basic and Standard, P for Premium.', enum: ['C', 'P'] }),
        capacity: s.integer({ doc: 'The size: 0 to 6 for C, 1 to 5 for P.' }),
      },
      { doc: 'Size and tier.' },
    ),
    redisConfiguration: s.optional(
      s.map(s.string(), {
        shared: true,
        doc: 'Settings of Redis, such as maxmemory-policy. Settings that are not named here are left alone. Connection strings for backups are refused: use the managed identity (preferred-data-persistence-auth-method).',
      }),
    ),
    redisVersion: s.optional(
      s.string({ doc: 'Version of Redis, such as 6.', same: (a, b) => `${b}.`.startsWith(`${a}.`) || a === 'latest' }),
    ),
    enableNonSslPort: flag('Answer without TLS as well.'),
    replicasPerPrimary: count('Replicas of each primary. Premium only.'),
    shardCount: count('Shards of a cluster. Premium only.'),
    tenantSettings: s.optional(s.map(s.string(), { doc: 'Settings of the tenant.', lateInitialize: false })),
    minimumTlsVersion: choice('The oldest version of TLS.', ['1.0', '1.1', '1.2']),
    publicNetworkAccess: choice('Reach the cache from the internet.', ['Enabled', 'Disabled']),
    updateChannel: choice('Which updates are installed.', ['Stable', 'Preview']),
    disableAccessKeyAuthentication: flag('Refuse access keys.'),
    zonalAllocationPolicy: choice('How zones are chosen.', ['Automatic', 'UserDefined', 'NoZones']),
    subnetId: s.optional(
      s.reference(resourceId('The subnet of a Premium cache.', { immutable: true }), {
        to: () => types.subnet,
        value: 'status.atProvider.id',
      }),
    ),
    staticIP: s.optional(s.string({ doc: 'Address in the subnet.', immutable: true })),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the cache.' }),
    provisioningState: s.string({ doc: 'Such as Succeeded, Creating or Scaling.' }),
    hostName: s.string({ doc: 'The host name.' }),
    port: s.integer({ doc: 'The port without TLS.' }),
    sslPort: s.integer({ doc: 'The port with TLS.' }),
    operation: operation(),
  }),
  layout: ['location', 'zones', 'identity', 'tags'],
  hasTags: true,
  state: { path: 'properties.provisioningState', usable: ['Succeeded', 'Updating', 'Scaling', 'Linking', 'Unlinking'] },
  more: { Observe: [`${TYPE}/listKeys/action`] },
  async connection({ body, client, id, signal }) {
    const usable = textOf(at(body, 'properties.provisioningState')) === 'Succeeded'
    const refused = at(body, 'properties.disableAccessKeyAuthentication') === true
    const request = {
      method: 'POST' as const,
      path: `${id}/listKeys`,
      apiVersion: API,
      action: `${TYPE}/listKeys/action`,
      signal,
    }
    const keys = usable && !refused ? (await client.send(request)).body : {}
    return {
      endpoint: textOf(at(body, 'properties.hostName')),
      port: String(numberOf(at(body, 'properties.sslPort')) ?? 6380),
      password: textOf(keys['primaryKey']),
    }
  },
})
