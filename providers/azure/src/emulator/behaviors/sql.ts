import { randomUUID } from 'node:crypto'
import { at, defined, listOf, merged, numberOf, textOf, type Values, valuesOf, without } from '../../values.js'
import { type Behavior, type Change, done } from '../behavior.js'
import { fact } from '../facts.js'
import { pairedLocation } from '../locations.js'
import { badRequest } from '../problem.js'
import { lastName } from '../resource-id.js'
import type { Stored, World } from '../world.js'
import { identityOf, lowered } from './identities.js'
import { subnetFor } from './network.js'
import { sqlPolicies } from './sql-policies.js'
import { sqlWork } from './sql-work.js'

const SERVER = 'Microsoft.Sql/servers'

function checkServer({ target, body, held }: Change): void {
  const name = lastName(target)
  const given = valuesOf(body['properties'])
  if (!/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/.test(name)) {
    throw badRequest('InvalidServerName', `Invalid server name '${name}': use lower case letters, digits and hyphens.`)
  }
  if (held) return
  const directoryOnly = at(given, 'administrators.azureADOnlyAuthentication') === true
  const isMissing =
    textOf(given['administratorLogin']) === undefined || textOf(given['administratorLoginPassword']) === undefined
  if (!directoryOnly && isMissing) {
    throw badRequest(
      'InvalidParameterValue',
      "Invalid value given for parameter 'administratorLogin'. Specify a valid parameter value.",
    )
  }
}

function showServer(resource: Stored, world: World, apiVersion: string): Values {
  const { target, body, facts } = resource
  const given = valuesOf(body['properties'])
  const login = textOf(given['administratorLogin']) ?? fact(facts, 'login', () => `CloudSA${randomUUID().slice(0, 8)}`)
  const primary = textOf(given['primaryUserAssignedIdentityId'])
  const defaults = {
    administratorLogin: login,
    version: '12.0',
    state: 'Ready',
    fullyQualifiedDomainName: `${lastName(target)}.database.windows.net`,
    privateEndpointConnections: [],
    minimalTlsVersion: '1.2',
    publicNetworkAccess: 'Enabled',
    ...(apiVersion >= '2021-02-01' ? { restrictOutboundNetworkAccess: 'Disabled' } : {}),
    ...(apiVersion >= '2022-02-01' ? { externalGovernanceStatus: 'Disabled' } : {}),
    ...(apiVersion >= '2024-05-01' ? { retentionDays: -1 } : {}),
  }
  return defined({
    identity: identityOf(resource, world, 'clientId'),
    kind: 'v12.0',
    properties: {
      ...merged(defaults, without(given, 'administratorLoginPassword')),
      ...(primary ? { primaryUserAssignedIdentityId: lowered(primary) } : {}),
    },
  })
}

const GENERAL = { name: 'GP_Gen5', tier: 'GeneralPurpose', family: 'Gen5', capacity: 2 }
const GIB = 1024 ** 3

/** A SKU may be named shortly: `S0` or `GP_Gen5_2`. */
function fullSku(given: Values): Values {
  const name = textOf(given['name'])
  if (name === undefined) return GENERAL
  if (/^(Basic|S\d+|P\d+)$/.test(name)) {
    const tier = name === 'Basic' ? 'Basic' : name.startsWith('S') ? 'Standard' : 'Premium'
    return { capacity: name === 'Basic' ? 5 : 10, ...given, name: tier, tier }
  }
  const parts = /^(GP|BC|HS)(?:_S)?_(Gen\d+)(?:_(\d+))?$/.exec(name)
  if (!parts) return given
  const tier = { GP: 'GeneralPurpose', BC: 'BusinessCritical', HS: 'Hyperscale' }[parts[1] ?? 'GP']
  return { tier, family: parts[2], capacity: Number(parts[3] ?? 2), ...given, name: name.replace(/_\d+$/, '') }
}

function showDatabase(resource: Stored, _: World, apiVersion: string): Values {
  const { body, facts, createdAt, location, target } = resource
  const given = valuesOf(body['properties'])
  const sku = fullSku(valuesOf(body['sku']))
  const vcore = sku['family'] !== undefined
  const objective = vcore ? `${sku['name']}_${sku['capacity']}` : (textOf(at(body, 'sku.name')) ?? 'S0')
  const bytes = numberOf(given['maxSizeBytes']) ?? (vcore ? 32 * GIB : 250 * GIB)
  const redundancy = textOf(given['requestedBackupStorageRedundancy']) ?? 'Geo'
  const defaults = {
    collation: 'SQL_Latin1_General_CP1_CI_AS',
    maxSizeBytes: bytes,
    status: 'Online',
    databaseId: fact(facts, 'databaseId', () => randomUUID()),
    creationDate: new Date(createdAt).toISOString(),
    currentServiceObjectiveName: objective,
    requestedServiceObjectiveName: objective,
    defaultSecondaryLocation: pairedLocation(location),
    catalogCollation: 'SQL_Latin1_General_CP1_CI_AS',
    zoneRedundant: false,
    ...(vcore ? { licenseType: 'LicenseIncluded', maxLogSizeBytes: 193_273_528_320 } : {}),
    readScale: 'Disabled',
    currentSku: sku,
    currentBackupStorageRedundancy: redundancy,
    requestedBackupStorageRedundancy: redundancy,
    maintenanceConfigurationId: `/subscriptions/${target.subscription}/providers/Microsoft.Maintenance/publicMaintenanceConfigurations/SQL_Default`,
    isLedgerOn: false,
    isInfraEncryptionEnabled: false,
    ...(apiVersion >= '2022-08-01' ? { availabilityZone: 'NoPreference' } : {}),
  }
  return defined({
    sku,
    kind: vcore ? 'v12.0,user,vcore' : 'v12.0,user',
    identity: body['identity'],
    properties: merged(defaults, without(given, 'createMode', 'sourceDatabaseId', 'sampleName')),
  })
}

/** The subnet must let the service in, unless the rule does not ask for that. */
function checkRule({ body, world }: Change): void {
  const given = valuesOf(body['properties'])
  const id = textOf(given['virtualNetworkSubnetId'])
  if (id === undefined) throw badRequest('InvalidParameterValue', 'The virtual network rule names no subnet.')
  const subnet = subnetFor(world, id)
  const services = listOf(at(subnet.body, 'properties.serviceEndpoints')).map((each) =>
    textOf(valuesOf(each)['service']),
  )
  if (given['ignoreMissingVnetServiceEndpoint'] === true || services.includes('Microsoft.Sql')) return
  throw badRequest(
    'SubnetsHaveNoServiceEndpointsConfigured',
    `Subnets ${lastName(subnet.target)} of virtual network ${id.split('/subnets/')[0]} do not have ServiceEndpoints for Microsoft.Sql resources configured. Add Microsoft.Sql to subnet's ServiceEndpoints collection before trying to ACL Microsoft.Sql resources to these subnets.`,
  )
}

const addresses = (): Behavior => ({
  create: done(200, 'resource'),
  update: done(200, 'resource'),
  remove: done(200),
  missing: 'provider',
  show: ({ body }) => ({ properties: body['properties'] }),
})

export const sql: Readonly<Record<string, Behavior>> = {
  [SERVER]: {
    create: sqlWork('server', 'UpsertLogicalServer', 1),
    update: sqlWork('server', 'UpsertLogicalServer', 1),
    remove: sqlWork('server', 'DropLogicalServer', 15),
    hidden: true,
    merges: true,
    missing: 'provider',
    location: 'short',
    check: checkServer,
    show: showServer,
  },
  [`${SERVER}/databases`]: {
    create: sqlWork('database', 'CreateLogicalDatabase', 15),
    update: sqlWork('database', 'UpdateLogicalDatabase', 15),
    remove: sqlWork('database', 'DropLogicalDatabase', 15),
    hidden: true,
    merges: true,
    location: 'short',
    show: showDatabase,
  },
  [`${SERVER}/elasticPools`]: {
    create: sqlWork('elasticPool', 'CreateLogicalElasticPool', 15),
    update: sqlWork('elasticPool', 'UpdateLogicalElasticPool', 15),
    remove: done(204),
    hidden: true,
    merges: true,
    location: 'short',
    show: ({ body, createdAt, target }, _, apiVersion) => ({
      sku: body['sku'],
      kind: 'pool',
      properties: merged(
        {
          state: 'Ready',
          creationDate: new Date(createdAt).toISOString(),
          maxSizeBytes: 100 * GIB,
          zoneRedundant: false,
          maintenanceConfigurationId: `/subscriptions/${target.subscription}/providers/Microsoft.Maintenance/publicMaintenanceConfigurations/SQL_Default`,
          ...(apiVersion >= '2022-08-01' ? { availabilityZone: 'NoPreference' } : {}),
        },
        valuesOf(body['properties']),
      ),
    }),
  },
  [`${SERVER}/virtualNetworkRules`]: {
    create: sqlWork('virtualNetworkRules', 'UpsertVnetFirewallRule', 15),
    update: sqlWork('virtualNetworkRules', 'UpsertVnetFirewallRule', 15),
    remove: sqlWork('virtualNetworkRules', 'DropVnetFirewallRule', 15),
    hidden: true,
    missing: 'provider',
    check: checkRule,
    show: ({ body }) => ({
      properties: { ignoreMissingVnetServiceEndpoint: false, ...valuesOf(body['properties']), state: 'Ready' },
    }),
  },
  [`${SERVER}/firewallRules`]: addresses(),
  [`${SERVER}/ipv6FirewallRules`]: addresses(),
  [`${SERVER}/outboundFirewallRules`]: {
    create: sqlWork('outboundFirewallRules', 'CreateLogicalServerOutboundFirewallRule', 5),
    update: sqlWork('outboundFirewallRules', 'CreateLogicalServerOutboundFirewallRule', 5),
    remove: sqlWork('outboundFirewallRules', 'DropLogicalServerOutboundFirewallRule', 5),
    hidden: true,
    missing: 'empty',
    show: () => ({ properties: { provisioningState: 'Ready' } }),
  },
  ...sqlPolicies,
}
