import { s } from '@crosstie/resources/provider'
import { defineArmKind } from './arm-kind.js'
import {
  choice,
  count,
  flag,
  identity,
  location,
  operation,
  resourceGroupName,
  resourceId,
  sameId,
  tags,
  text,
} from './fields.js'
import { types } from './types.js'
import { at, textOf } from './values.js'

const API = '2021-11-01'
const PORT = '1433'

export const sqlServer = defineArmKind({
  service: 'sql',
  kind: 'Server',
  doc: 'A logical server of Azure SQL. Its connection Secret has `endpoint`, `port`, `username` and `password`; Azure never returns the password.',
  type: 'Microsoft.Sql/servers',
  apiVersion: API,
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    location: location(),
    identity: identity(),
    administratorLogin: s.optional(
      s.string({
        doc: 'Name of the administrator. Required to create a server, unless only Microsoft Entra ID may log in.',
        immutable: true,
      }),
    ),
    administratorLoginPassword: s.sensitive({
      doc: 'Password of the administrator.',
      unless: ({ administratorLogin }) => administratorLogin === undefined,
    }),
    administrators: s.optional(
      s.object(
        {
          administratorType: choice('Always ActiveDirectory.', ['ActiveDirectory']),
          principalType: choice('What the administrator is.', ['User', 'Group', 'Application']),
          login: text('Name of the administrator.'),
          sid: text('Object id of the administrator.'),
          tenantId: text('Tenant of the administrator.'),
          azureADOnlyAuthentication: flag('Refuse passwords.'),
        },
        { doc: 'The administrator of Microsoft Entra ID.' },
      ),
    ),
    version: s.optional(s.string({ doc: 'Always 12.0.', immutable: true })),
    minimalTlsVersion: choice('The oldest version of TLS.', ['None', '1.0', '1.1', '1.2', '1.3']),
    publicNetworkAccess: choice('Reach the server from the internet.', ['Enabled', 'Disabled']),
    restrictOutboundNetworkAccess: choice('Restrict connections of the server.', ['Enabled', 'Disabled']),
    primaryUserAssignedIdentityId: s.optional(s.string({ doc: 'The identity that the server uses.', same: sameId })),
    federatedClientId: text('Client id for keys of another tenant.'),
    keyId: text('URI of the key that data is encrypted with.'),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the server.' }),
    state: s.string({ doc: 'Such as Ready.' }),
    kind: s.string({ doc: 'Such as v12.0.' }),
    fullyQualifiedDomainName: s.string({ doc: 'The host name.' }),
    operation: operation(),
  }),
  layout: ['location', 'identity', 'tags'],
  hasTags: true,
  state: { path: 'properties.state', usable: ['Ready'] },
  connection: ({ body, given }) => ({
    endpoint: textOf(at(body, 'properties.fullyQualifiedDomainName')),
    port: PORT,
    username: textOf(at(body, 'properties.administratorLogin')) ?? textOf(given['administratorLogin']),
    password: textOf(given['administratorLoginPassword']),
  }),
})

const serverName = () =>
  s.reference(s.identifier(s.string({ doc: 'Name of the server.' })), { to: () => types.sqlServer })

const onceOnly = (doc: string) => s.optional(s.string({ doc, unreported: true, immutable: true }))

export const sqlDatabase = defineArmKind({
  service: 'sql',
  kind: 'Database',
  doc: 'A database of Azure SQL.',
  type: 'Microsoft.Sql/servers/databases',
  apiVersion: API,
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    serverName: serverName(),
    location: location(),
    sku: s.optional(
      s.object(
        {
          name: s.string({ doc: 'The SKU, such as GP_Gen5.' }),
          tier: text('The tier, such as GeneralPurpose.'),
          size: text('The size.'),
          family: text('The hardware, such as Gen5.'),
          capacity: count('vCores or DTUs.'),
        },
        { doc: 'Size and tier.' },
      ),
    ),
    identity: identity(),
    createMode: onceOnly(
      'How the database is created: Default, Copy, Secondary, PointInTimeRestore, Recovery, Restore.',
    ),
    sourceDatabaseId: onceOnly('The database to copy or restore.'),
    sourceResourceId: onceOnly('The resource to copy or restore.'),
    sourceDatabaseDeletionDate: onceOnly('When the database to restore was deleted.'),
    restorePointInTime: onceOnly('The time to restore to.'),
    recoveryServicesRecoveryPointId: onceOnly('The recovery point to restore.'),
    longTermRetentionBackupResourceId: onceOnly('The long-term backup to restore.'),
    recoverableDatabaseId: onceOnly('The recoverable database to restore.'),
    restorableDroppedDatabaseId: onceOnly('The deleted database to restore.'),
    sampleName: onceOnly('A sample to fill the database with.'),
    collation: s.optional(s.string({ doc: 'The collation.', immutable: true })),
    catalogCollation: s.optional(s.string({ doc: 'The collation of the catalog.', immutable: true })),
    maxSizeBytes: count('Largest size in bytes.'),
    elasticPoolId: s.optional(s.string({ doc: 'The elastic pool.', same: sameId })),
    zoneRedundant: flag('Spread over availability zones.'),
    licenseType: choice('The license.', ['LicenseIncluded', 'BasePrice']),
    readScale: choice('Read from replicas.', ['Enabled', 'Disabled']),
    highAvailabilityReplicaCount: count('How many replicas.'),
    secondaryType: text('Geo, Named or Standby.'),
    autoPauseDelay: count('Minutes after which an idle serverless database pauses; -1: never.'),
    minCapacity: s.optional(s.number({ doc: 'Smallest capacity of a serverless database.' })),
    requestedBackupStorageRedundancy: choice('Where backups are kept.', ['Geo', 'Local', 'Zone', 'GeoZone']),
    maintenanceConfigurationId: s.optional(s.string({ doc: 'When Azure maintains the database.', same: sameId })),
    isLedgerOn: s.optional(s.boolean({ doc: 'All tables are ledger tables.', immutable: true })),
    federatedClientId: text('Client id for keys of another tenant.'),
    preferredEnclaveType: choice('The enclave.', ['Default', 'VBS']),
    availabilityZone: text('The availability zone.'),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the database.' }),
    status: s.string({ doc: 'Such as Online or Paused.' }),
    databaseId: s.string({ doc: 'The id inside the server.' }),
    currentServiceObjectiveName: s.string({ doc: 'The size in use.' }),
    defaultSecondaryLocation: s.string({ doc: 'The region of geo-redundant backups.' }),
    operation: operation(),
  }),
  parents: ['serverName'],
  layout: ['location', 'sku', 'identity', 'tags'],
  hasTags: true,
  state: { path: 'properties.status', usable: ['Online', 'Paused', 'Pausing', 'Resuming', 'Scaling'] },
})

export const virtualNetworkRule = defineArmKind({
  service: 'sql',
  kind: 'VirtualNetworkRule',
  doc: 'Lets traffic from a subnet reach a server of Azure SQL. The subnet needs the service endpoint Microsoft.Sql.',
  type: 'Microsoft.Sql/servers/virtualNetworkRules',
  apiVersion: API,
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    serverName: serverName(),
    properties: s.object(
      {
        virtualNetworkSubnetId: s.reference(resourceId('Id of the subnet.'), {
          to: () => types.subnet,
          value: 'status.atProvider.id',
        }),
        ignoreMissingVnetServiceEndpoint: flag('Create the rule before the subnet has the service endpoint.'),
      },
      { doc: 'The rule as Azure describes it.' },
    ),
  }),
  observation: s.object({ id: s.string({ doc: 'Id of the rule.' }), operation: operation() }),
  parents: ['serverName'],
  layout: 'nested',
  state: { path: 'properties.state', usable: ['Ready'] },
  more: { Create: ['Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action'] },
})
