import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { after, test } from 'node:test'
import type { ManagedKind } from '@crosstie/resources/provider'
import { kindContract } from '@crosstie/resources/testing'
import { AzureEmulator } from './emulator/index.js'
import { provider } from './index.js'

const S = '/subscriptions/00000000-0000-0000-0000-000000000000'
const G = `${S}/resourceGroups/rg`
const SUBNET = `${G}/providers/Microsoft.Network/virtualNetworks/net/subnets`

const emulator = await AzureEmulator.start({ operationMs: 20, consistencyMs: 20, retryAfter: 0 })
after(() => emulator[Symbol.asyncDispose]())

const config = {
  name: 'contract',
  revision: 'contract/1',
  credentials: JSON.stringify({ clientSecret: 'emulated' }),
  spec: {
    subscriptionID: '00000000-0000-0000-0000-000000000000',
    tenantID: 't',
    clientID: 'c',
    endpoint: { resourceManager: emulator.url, authority: emulator.url, graph: emulator.url },
  },
}

async function arm(method: string, path: string, body?: object, version = '2021-11-01'): Promise<Response> {
  const headers = { Authorization: 'Bearer test', 'Content-Type': 'application/json' }
  const separator = path.includes('?') ? '&' : '?'
  const url = `${emulator.url}${path}${path.startsWith('/v1.0') ? '' : `${separator}api-version=${version}`}`
  return await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

async function made(path: string, body: object, version?: string): Promise<void> {
  const answer = await arm('PUT', path, body, version)
  assert.ok(answer.ok, await answer.text())
  const until = Date.now() + 10_000
  while (!(await arm('GET', path, undefined, version)).ok) assert.ok(Date.now() < until, `${path} does not appear`)
}

const network = `${G}/providers/Microsoft.Network/virtualNetworks/net`
await made(G, { location: 'westeurope' })
await made(network, { location: 'westeurope', properties: { addressSpace: { addressPrefixes: ['10.0.0.0/16'] } } })
await made(`${SUBNET}/sql`, {
  properties: { addressPrefix: '10.0.200.0/24', serviceEndpoints: [{ service: 'Microsoft.Sql' }] },
})
await made(`${G}/providers/Microsoft.Network/privateDnsZones/held.example.com`, { location: 'global' }, '2020-06-01')
const login = { administratorLogin: 'boss', administratorLoginPassword: 'Long-enough-1' }
await made(
  `${G}/providers/Microsoft.DBforMySQL/flexibleServers/held`,
  { location: 'westeurope', sku: { name: 'Standard_B1ms', tier: 'Burstable' }, properties: login },
  '2023-12-30',
)
await made(`${G}/providers/Microsoft.Sql/servers/held`, { location: 'westeurope', properties: login })

const place = { resourceGroupName: 'rg' }
const inEurope = { ...place, location: 'West Europe' }
const secret = { writeConnectionSecretToRef: { namespace: 'default', name: 'contract' } }

interface Case {
  readonly example: Readonly<Record<string, unknown>>
  readonly change?: Readonly<Record<string, unknown>>
  readonly spec?: Readonly<Record<string, unknown>>
  /** Where the resources of the kind are. */
  readonly path: string
  readonly version?: string
  readonly meddle?: object
  readonly name?: string
}

const cases: Readonly<Record<string, Case>> = {
  ResourceGroup: {
    example: { location: 'westeurope', tags: { team: 'a' } },
    change: { tags: { team: 'b' } },
    path: `${S}/resourceGroups`,
    meddle: { tags: { team: 'x' } },
  },
  VirtualNetwork: {
    // A spec holds references beside the values: they must not reach Azure.
    example: {
      ...inEurope,
      resourceGroupNameSelector: { matchLabels: {} },
      properties: { addressSpace: { addressPrefixes: ['10.1.0.0/16'] } },
      tags: { team: 'a' },
    },
    change: { properties: { addressSpace: { addressPrefixes: ['10.1.0.0/16', '10.2.0.0/16'] } } },
    path: `${G}/providers/Microsoft.Network/virtualNetworks`,
    meddle: { tags: { team: 'x' } },
  },
  Subnet: {
    example: { ...place, virtualNetworkName: 'net', properties: { addressPrefix: '10.0.1.0/24' } },
    change: { properties: { addressPrefix: '10.0.1.0/24', serviceEndpoints: [{ service: 'Microsoft.Sql' }] } },
    path: SUBNET,
    meddle: { properties: { addressPrefix: '10.0.2.0/24' } },
  },
  PrivateDNSZone: {
    example: { ...place, tags: { team: 'a' } },
    change: { tags: { team: 'b' } },
    path: `${G}/providers/Microsoft.Network/privateDnsZones`,
  },
  PrivateDNSZoneVirtualNetworkLink: {
    example: { ...place, privateZoneName: 'held.example.com', virtualNetworkId: network, registrationEnabled: false },
    change: { registrationEnabled: true },
    path: `${G}/providers/Microsoft.Network/privateDnsZones/held.example.com/virtualNetworkLinks`,
  },
  FlexibleServer: {
    example: {
      ...inEurope,
      sku: { name: 'Standard_B1ms', tier: 'Burstable' },
      administratorLogin: 'boss',
      version: '8.0.21',
      tags: { team: 'a' },
    },
    change: { backup: { backupRetentionDays: 9 } },
    spec: secret,
    path: `${G}/providers/Microsoft.DBforMySQL/flexibleServers`,
  },
  FlexibleServerDatabase: {
    example: { ...place, serverName: 'held', charset: 'utf8mb4' },
    path: `${G}/providers/Microsoft.DBforMySQL/flexibleServers/held/databases`,
  },
  FlexibleServerFirewallRule: {
    example: { ...place, serverName: 'held', startIpAddress: '1.2.3.4', endIpAddress: '1.2.3.4' },
    change: { endIpAddress: '1.2.3.9' },
    path: `${G}/providers/Microsoft.DBforMySQL/flexibleServers/held/firewallRules`,
  },
  Server: {
    example: { ...inEurope, administratorLogin: 'boss', tags: { team: 'a' } },
    change: { publicNetworkAccess: 'Disabled' },
    spec: secret,
    path: `${G}/providers/Microsoft.Sql/servers`,
  },
  Database: {
    example: { ...inEurope, serverName: 'held', tags: { team: 'a' } },
    change: { tags: { team: 'b' } },
    path: `${G}/providers/Microsoft.Sql/servers/held/databases`,
  },
  VirtualNetworkRule: {
    example: { ...place, serverName: 'held', properties: { virtualNetworkSubnetId: `${SUBNET}/sql` } },
    change: { properties: { virtualNetworkSubnetId: `${SUBNET}/sql`, ignoreMissingVnetServiceEndpoint: true } },
    path: `${G}/providers/Microsoft.Sql/servers/held/virtualNetworkRules`,
  },
  Redis: {
    example: { ...inEurope, sku: { name: 'Basic', family: 'C', capacity: 0 }, tags: { team: 'a' } },
    change: { minimumTlsVersion: '1.1' },
    spec: secret,
    path: `${G}/providers/Microsoft.Cache/redis`,
  },
  Group: {
    example: {
      displayName: 'Team',
      mailNickname: 'team',
      mailEnabled: false,
      securityEnabled: true,
      members: ['a', 'b'],
      owners: ['o'],
    },
    change: { members: ['b', 'c'] },
    path: '/v1.0/groups',
  },
}

for (const kind of provider.kinds) {
  const { example, change, spec, path, meddle } = cases[kind.type.kind]!
  const used = new Set<string>()
  const listen = (action: unknown) => used.add(String(action))
  kindContract(`${kind.type.kind} on the emulator`, async () => {
    channel('crosstie:azure:call').subscribe(listen)
    const base = Date.now()
    let passed = 0
    return {
      kind: connected(kind),
      example,
      ...(change ? { change } : {}),
      ...(spec ? { spec } : {}),
      exists: async (name) => (await arm('GET', `${path}/${name}`)).ok,
      count: async () => ((await (await arm('GET', path)).json()) as { value: unknown[] }).value.length,
      ...(meddle ? { meddle: async (name: string) => await meddled(`${path}/${name}`, meddle) } : {}),
      now: () => base + passed + (Date.now() - base),
      pass: async (milliseconds) => {
        passed += milliseconds
        await new Promise((resolve) => setTimeout(resolve, 30))
      },
      patience: 40,
    }
  })
  test(`${kind.type.kind}: its permissions list every action that it uses`, () => {
    channel('crosstie:azure:call').unsubscribe(listen)
    const listed = new Set(Object.values(kind.permissions ?? {}).flat())
    const missing = [...used].filter((action) => action !== 'read of an operation' && !listed.has(action))
    assert.ok(used.size > 0)
    assert.deepEqual(missing, [])
  })
}

async function meddled(path: string, change: object): Promise<void> {
  const answer = await arm('PATCH', path, change)
  assert.ok(answer.ok, await answer.text())
  const { operation } = emulator.world.find(path) ?? {}
  if (operation) emulator.world.schedule(operation.statusPath ?? '', 0)
}

/** The kind with the configuration of the emulator, so that it needs no ProviderConfig object. */
function connected(kind: ManagedKind): ManagedKind {
  const connect: typeof kind.external.connect = (context) => kind.external.connect({ ...context, config })
  return { ...kind, providerConfig: undefined, external: Object.assign(Object.create(kind.external), { connect }) }
}
