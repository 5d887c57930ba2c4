import { s } from '@crosstie/resources/provider'
import { defineArmKind } from './arm-kind.js'
import { choice, count, identity, location, operation, resourceGroupName, resourceId, tags, text } from './fields.js'
import { types } from './types.js'
import { at, numberOf, textOf } from './values.js'

const enabled = (doc: string) => choice(doc, ['Enabled', 'Disabled'])

export const flexibleServer = defineArmKind({
  service: 'dbformysql',
  kind: 'FlexibleServer',
  doc: 'A MySQL server of Azure. Its connection Secret has `endpoint`, `port`, `username` and `password`; Azure never returns the password.',
  type: 'Microsoft.DBforMySQL/flexibleServers',
  apiVersion: '2023-12-30',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    location: location(),
    sku: s.object(
      {
        name: s.string({ doc: 'The size, such as Standard_B1ms.' }),
        tier: s.string({ doc: 'The tier.', enum: ['Burstable', 'GeneralPurpose', 'MemoryOptimized'] }),
      },
      { doc: 'Size and tier.' },
    ),
    identity: identity(),
    administratorLogin: s.optional(
      s.string({ doc: 'Name of the administrator. Required to create a new server.', immutable: true }),
    ),
    administratorLoginPassword: s.sensitive({ doc: 'Password of the administrator.' }),
    version: s.optional(s.string({ doc: 'Version of MySQL: 5.7, 8.0.21 or 8.4.' })),
    availabilityZone: text('The availability zone.'),
    createMode: s.optional(
      s.string({
        doc: 'How the server is created.',
        enum: ['Default', 'PointInTimeRestore', 'Replica', 'GeoRestore'],
        unreported: true,
        immutable: true,
      }),
    ),
    sourceServerResourceId: s.optional(
      s.string({ doc: 'The server to restore or to replicate.', unreported: true, immutable: true }),
    ),
    restorePointInTime: s.optional(s.string({ doc: 'The time to restore to.', unreported: true, immutable: true })),
    replicationRole: choice('The role in a replication.', ['None', 'Source', 'Replica']),
    dataEncryption: s.optional(
      s.object(
        {
          type: choice('Who manages the key.', ['AzureKeyVault', 'SystemManaged']),
          primaryUserAssignedIdentityId: text('The identity that reads the key.'),
          primaryKeyURI: text('URI of the key.'),
          geoBackupUserAssignedIdentityId: text('The identity that reads the key of the backup.'),
          geoBackupKeyURI: text('URI of the key of the backup.'),
        },
        { doc: 'Encryption with a key of yours.' },
      ),
    ),
    storage: s.optional(
      s.object(
        {
          storageSizeGB: count('Size in gigabytes.'),
          iops: count('Operations per second.'),
          autoGrow: enabled('Grow when the storage is full.'),
          logOnDisk: enabled('Keep logs on the disk of the server.'),
          autoIoScaling: enabled('Adjust the operations per second to the load.'),
        },
        { doc: 'Storage.' },
      ),
    ),
    backup: s.optional(
      s.object(
        {
          backupRetentionDays: count('Days that backups are kept.'),
          backupIntervalHours: count('Hours between backups.'),
          geoRedundantBackup: enabled('Keep backups in another region as well.'),
        },
        { doc: 'Backups.' },
      ),
    ),
    highAvailability: s.optional(
      s.object(
        {
          mode: choice('Where the standby server is.', ['Disabled', 'ZoneRedundant', 'SameZone']),
          standbyAvailabilityZone: text('The zone of the standby server.'),
        },
        { doc: 'High availability.' },
      ),
    ),
    network: s.optional(
      s.object(
        {
          publicNetworkAccess: enabled('Reach the server from the internet.'),
          delegatedSubnetResourceId: s.optional(
            s.reference(
              resourceId(
                'The subnet of a private server. It must be delegated to Microsoft.DBforMySQL/flexibleServers.',
                { immutable: true },
              ),
              {
                to: () => types.subnet,
                value: 'status.atProvider.id',
              },
            ),
          ),
          privateDnsZoneResourceId: s.optional(
            s.reference(resourceId('The private DNS zone of a private server.', { immutable: true }), {
              to: () => types.privateDNSZone,
              value: 'status.atProvider.id',
            }),
          ),
        },
        { doc: 'The network of the server.' },
      ),
    ),
    maintenanceWindow: s.optional(
      s.object(
        {
          customWindow: text('Enabled for a window of yours.'),
          dayOfWeek: count('Day of the week; 0 is Sunday.'),
          startHour: count('Hour of the day.'),
          startMinute: count('Minute of the hour.'),
        },
        { doc: 'When Azure maintains the server.' },
      ),
    ),
    tags: tags(),
  }),
  observation: s.object({
    id: s.string({ doc: 'Id of the server.' }),
    state: s.string({ doc: 'Such as Ready, Updating or Stopped.' }),
    fullyQualifiedDomainName: s.string({ doc: 'The host name.' }),
    replicaCapacity: s.integer({ doc: 'How many replicas the server can have.' }),
    operation: operation(),
  }),
  layout: ['location', 'sku', 'identity', 'tags'],
  hasTags: true,
  state: { path: 'properties.state', usable: ['Ready', 'Updating'] },
  more: {
    Create: [
      'Microsoft.Network/virtualNetworks/subnets/join/action (private servers)',
      'Microsoft.Network/privateDnsZones/join/action (private servers)',
    ],
  },
  connection: ({ body, given }) => ({
    endpoint: textOf(at(body, 'properties.fullyQualifiedDomainName')),
    port: String(numberOf(at(body, 'properties.databasePort')) ?? 3306),
    username: textOf(at(body, 'properties.administratorLogin')) ?? textOf(given['administratorLogin']),
    password: textOf(given['administratorLoginPassword']),
  }),
})

const serverName = () =>
  s.reference(s.identifier(s.string({ doc: 'Name of the server.' })), { to: () => types.flexibleServer })

export const flexibleServerDatabase = defineArmKind({
  service: 'dbformysql',
  kind: 'FlexibleServerDatabase',
  doc: 'A database of a MySQL server.',
  type: 'Microsoft.DBforMySQL/flexibleServers/databases',
  apiVersion: '2023-12-30',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    serverName: serverName(),
    charset: s.optional(s.string({ doc: 'The character set, such as utf8mb4.', immutable: true })),
    collation: s.optional(s.string({ doc: 'The collation.', immutable: true })),
  }),
  observation: s.object({ id: s.string({ doc: 'Id of the database.' }), operation: operation() }),
  parents: ['serverName'],
  layout: [],
})

export const flexibleServerFirewallRule = defineArmKind({
  service: 'dbformysql',
  kind: 'FlexibleServerFirewallRule',
  doc: 'Addresses that may reach a MySQL server with public access.',
  type: 'Microsoft.DBforMySQL/flexibleServers/firewallRules',
  apiVersion: '2023-12-30',
  parameters: s.object({
    resourceGroupName: resourceGroupName(),
    serverName: serverName(),
    startIpAddress: s.string({ doc: 'The first address.' }),
    endIpAddress: s.string({ doc: 'The last address.' }),
  }),
  observation: s.object({ id: s.string({ doc: 'Id of the rule.' }), operation: operation() }),
  parents: ['serverName'],
  layout: [],
})
