import { at, defined, listOf, merged, numberOf, textOf, type Values, valuesOf, without } from '../../values.js'
import type { Answer, Behavior, Change, Polling } from '../behavior.js'
import { badRequest } from '../problem.js'
import { lastName } from '../resource-id.js'
import type { Stored, World } from '../world.js'
import { identityOf, lowered } from './identities.js'
import { subnetFor } from './network.js'

const base = '/subscriptions/{subscription}/providers/Microsoft.DBforMySQL/locations/{location}'
const work = (operation: string, retryAfter: number): Answer => {
  const polling: Polling = {
    status: `${base}/azureAsyncOperation/{operation}`,
    result: `${base}/operationResults/{operation}`,
    retryAfter,
    operation,
    detailed: true,
  }
  return { status: 202, body: 'operation', polling }
}

const SERVER = 'Microsoft.DBforMySQL/flexibleServers'
const PASSWORD_MIN = 8

const fullVersions: Readonly<Record<string, string>> = {
  '5.7': '5.7.44',
  '8.0.21': '8.0.42',
  '8.4': '8.4.5',
  '9.3': '9.3.0',
}
const collations: Readonly<Record<string, string>> = {
  utf8mb4: 'utf8mb4_0900_ai_ci',
  utf8: 'utf8_general_ci',
  utf8mb3: 'utf8mb3_general_ci',
  latin1: 'latin1_swedish_ci',
}

const isAfter = (apiVersion: string, version: string, values: Values): Values => (apiVersion >= version ? values : {})

function showServer(resource: Stored, world: World, apiVersion: string): Values {
  const { target, body, createdAt } = resource
  const given = valuesOf(body['properties'])
  const name = lastName(target)
  const size = numberOf(at(given, 'storage.storageSizeGB')) ?? 32
  const network = valuesOf(given['network'])
  const isPrivate = textOf(network['delegatedSubnetResourceId']) !== undefined
  const defaults = {
    storage: {
      storageSizeGB: size,
      iops: Math.min(300 + size * 3, 20_000),
      autoGrow: 'Enabled',
      autoIoScaling: 'Disabled',
      storageSku: 'Premium_LRS',
      logOnDisk: 'Disabled',
      ...isAfter(apiVersion, '2024-06-01', { storageRedundancy: 'LocalRedundancy' }),
    },
    version: '8.0.21',
    ...isAfter(apiVersion, '2024-10-01', { fullVersion: fullVersions[textOf(given['version']) ?? '8.0.21'] }),
    state: { creating: 'Creating', updating: 'Updating', deleting: 'Dropping', ready: 'Ready' }[resource.phase],
    fullyQualifiedDomainName: `${name}.mysql.database.azure.com`,
    availabilityZone: '',
    maintenanceWindow: {
      ...isAfter(apiVersion, '2024-06-01', { batchOfMaintenance: 'Default' }),
      customWindow: 'Disabled',
      dayOfWeek: 0,
      startHour: 0,
      startMinute: 0,
    },
    replicationRole: 'None',
    replicaCapacity: 10,
    network: { publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled' },
    backup: {
      backupRetentionDays: 7,
      ...isAfter(apiVersion, '2023-10-01', { backupIntervalHours: 24 }),
      geoRedundantBackup: 'Disabled',
      earliestRestoreDate: new Date(createdAt).toISOString(),
    },
    highAvailability: { mode: 'Disabled', state: 'NotEnabled', standbyAvailabilityZone: '' },
    ...isAfter(apiVersion, '2023-06-01', { privateEndpointConnections: [] }),
    ...isAfter(apiVersion, '2024-10-01', { maintenancePolicy: { patchStrategy: 'Regular' }, databasePort: 3306 }),
  }
  return defined({
    sku: body['sku'],
    identity: identityOf(resource, world, 'tenantId'),
    systemData: { createdAt: new Date(createdAt).toISOString() },
    properties: merged(
      defaults,
      without(
        given,
        'administratorLoginPassword',
        'createMode',
        'sourceServerResourceId',
        'restorePointInTime',
        'importSourceProperties',
      ),
    ),
  })
}

function checkServer({ target, body, held, world }: Change): void {
  const name = lastName(target)
  const given = valuesOf(body['properties'])
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) {
    throw badRequest(
      'InvalidServerName',
      `Specified server name '${name}' is invalid: use 3 to 63 lower case letters, digits and hyphens.`,
    )
  }
  const mode = textOf(given['createMode']) ?? 'Default'
  const login = textOf(given['administratorLogin'])
  const password = textOf(given['administratorLoginPassword'])
  if (!held && mode === 'Default') {
    if (login === undefined)
      throw badRequest('MissingRequiredParameter', "The required parameter 'administratorLogin' is missing.")
    if (password === undefined)
      throw badRequest('MissingRequiredParameter', "The required parameter 'administratorLoginPassword' is missing.")
  }
  if (login !== undefined && /^(azure_superuser|admin|administrator|root|guest|public)$/i.test(login)) {
    throw badRequest(
      'InvalidParameterValue',
      `Invalid value given for parameter administratorLogin: '${login}' is reserved.`,
    )
  }
  if (password !== undefined && password.length < PASSWORD_MIN && !password.startsWith('{')) {
    throw badRequest(
      'InvalidParameterValue',
      'Invalid value given for parameter administratorLoginPassword. Specify a valid parameter value.',
    )
  }
  const before = textOf(at(held?.body, 'properties.administratorLogin'))
  if (before !== undefined && login !== undefined && login !== before) {
    throw badRequest('ServerLoginCannotBeChanged', 'The administrator login of a server cannot be changed.')
  }
  checkNetwork(given, world)
}

/** Private access needs a subnet that is delegated to the service. */
function checkNetwork(given: Values, world: World): void {
  const id = textOf(at(given, 'network.delegatedSubnetResourceId'))
  if (id === undefined) return
  const delegations = listOf(at(subnetFor(world, id).body, 'properties.delegations'))
  const services = delegations.map((each) => textOf(at(each, 'properties.serviceName')))
  if (!services.includes('Microsoft.DBforMySQL/flexibleServers')) {
    throw badRequest(
      'InvalidParameterValue',
      `Invalid value given for parameter delegatedSubnetResourceId: subnet '${id}' is not delegated to Microsoft.DBforMySQL/flexibleServers.`,
    )
  }
  const zone = textOf(at(given, 'network.privateDnsZoneResourceId'))
  if (zone !== undefined && !world.find(zone)) {
    throw badRequest(
      'InvalidParameterValue',
      `Invalid value given for parameter privateDnsZoneResourceId: '${zone}' does not exist.`,
    )
  }
}

const child = (noun: string, retryAfter: number, more: Pick<Behavior, 'show'> & Partial<Behavior>): Behavior => ({
  create: work(`Upsert${noun}ManagementOperation`, retryAfter),
  update: work(`Upsert${noun}ManagementOperation`, retryAfter),
  remove: work(`Drop${noun}ManagementOperation`, retryAfter),
  hidden: true,
  ...more,
})

export const mysql: Readonly<Record<string, Behavior>> = {
  [SERVER]: {
    create: work('UpsertServerManagementOperationV2', 60),
    update: work('UpsertServerManagementOperationV2', 60),
    remove: work('DropServerManagementOperation', 15),
    hidden: true,
    merges: true,
    location: 'display',
    check: checkServer,
    show: showServer,
  },
  [`${SERVER}/databases`]: child('ServerDatabase', 15, {
    show({ body }) {
      const { charset = 'utf8mb4', collation } = valuesOf(body['properties'])
      return { properties: { charset, collation: collation ?? collations[String(charset)] ?? `${charset}_general_ci` } }
    },
  }),
  [`${SERVER}/firewallRules`]: child('ServerFirewallRules', 60, {
    check({ body }) {
      const { startIpAddress: start = '', endIpAddress: end = '' } = valuesOf(body['properties'])
      const bad = [start, end].find((address) => !/^\d+\.\d+\.\d+\.\d+$/.test(String(address)))
      if (bad !== undefined) throw badRequest('InvalidIpAddress', `The IP address '${bad}' is not valid.`)
    },
    show: ({ body }) => ({ properties: body['properties'] }),
  }),
  [`${SERVER}/administrators`]: child('ActiveDirectoryAdministrator', 60, {
    show({ body }) {
      const given = valuesOf(body['properties'])
      const identity = textOf(given['identityResourceId'])
      return { properties: { ...given, ...(identity ? { identityResourceId: lowered(identity) } : {}) } }
    },
  }),
  [`${SERVER}/configurations`]: {
    ...child('ServerParameter', 15, {
      show({ target, body }) {
        const given = valuesOf(body['properties'])
        const name = lastName(target)
        return {
          properties: {
            value: given['value'] ?? '',
            currentValue: given['value'] ?? '',
            description: `The server parameter ${name}.`,
            defaultValue: '',
            dataType: 'Integer',
            allowedValues: '',
            source: given['source'] ?? 'system-default',
            isConfigPendingRestart: 'False',
            isDynamicConfig: 'True',
            isReadOnly: 'False',
            documentationLink: `https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html#sysvar_${name}`,
          },
        }
      },
    }),
    create: work('UpdateServerParameterManagementOperationV2', 15),
    update: work('UpdateServerParameterManagementOperationV2', 15),
  },
}
