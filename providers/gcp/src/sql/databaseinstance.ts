import { isObject } from '@crosstie/kube'
import { s } from '@crosstie/resources/provider'
import { sqlOperations } from '../client/operations.js'
import { network } from '../compute/network.js'
import { sqladmin_v1beta4 as api } from '../discovery/sqladmin-v1beta4.generated.js'
import { defineGoogle, readyWhen, type Step } from '../kind.js'
import { type Values, valueAt, withValue } from '../schema/convert.js'
import { apiLabels, labelsField } from '../schema/labels.js'
import { link } from '../schema/links.js'

const REPORTED = 'reported only'
const CONSTANT = 'a constant'

const reported = [
  'backendType',
  'connectionName',
  'diskEncryptionStatus',
  'ipAddresses',
  'outOfDiskReport',
  'replicaNames',
  'satisfiesPzs',
  'scheduledMaintenance',
  'selfLink',
  'serverCaCert',
  'serviceAccountEmailAddress',
  'sqlNetworkArchitecture',
  'state',
  'suspensionReason',
  'settings.settingsVersion',
]

const kinds = [
  'kind',
  'diskEncryptionConfiguration.kind',
  'onPremisesConfiguration.kind',
  'replicaConfiguration.kind',
  'replicaConfiguration.mysqlReplicaConfiguration.kind',
  'settings.kind',
  'settings.activeDirectoryConfig.kind',
  'settings.backupConfiguration.kind',
  'settings.backupConfiguration.backupRetentionSettings.kind',
  'settings.ipConfiguration.authorizedNetworks.kind',
  'settings.locationPreference.kind',
  'settings.maintenanceWindow.kind',
  'settings.sqlServerAuditConfig.kind',
  'settings.entraidConfig.kind',
]

const secret = (doc: string) => s.optional(s.sensitive({ doc, generate: false }))

export const databaseInstance = defineGoogle({
  api,
  schema: 'DatabaseInstance',
  group: 'sql',
  kind: 'DatabaseInstance',
  doc: 'A database server that Google runs (Cloud SQL). Its connection Secret has `endpoint`, `port`, `username` and `password` of the administrator, `connectionName`, and `serverCA`.',
  overlay: {
    leftOut: {
      name: 'the external name',
      project: 'the field project of the kind',
      'settings.userLabels': 'the field labels of the kind',
      databaseCenterIntegrationEnabled: REPORTED,
      ...Object.fromEntries(kinds.map((path) => [path, CONSTANT])),
    },
    observed: reported,
    immutable: [
      'diskEncryptionConfiguration',
      'instanceType',
      'masterInstanceName',
      'tags',
      'settings.collation',
      'settings.timeZone',
    ],
    unreported: [
      'tags',
      'skipPrecheck',
      'includeReplicasForMajorVersionUpgrade',
      'switchTransactionLogsToCloudStorageEnabled',
    ],
    // Google changes these by itself: disks grow, patches are installed, instances move.
    open: ['maintenanceVersion', 'gceZone', 'secondaryGceZone', 'nodeCount', 'settings'],
    required: ['databaseVersion', 'settings'],
    sets: ['settings.ipConfiguration.customSubjectAlternativeNames'],
    declared: {
      rootPassword: s.sensitive({
        doc: 'Password of the administrator: root, postgres or sqlserver. Absent: one is generated.',
        unless: ({ masterInstanceName, instanceType }) =>
          masterInstanceName !== undefined || instanceType === 'READ_REPLICA_INSTANCE',
      }),
      'settings.tier': s.string({
        doc: 'Machine type, such as db-custom-1-3840 or db-f1-micro.',
        lateInitialize: false,
      }),
      'settings.ipConfiguration.privateNetwork': link({
        doc: 'The network from which it can be reached at a private address.',
        to: () => network.type,
        open: true,
      }),
      'onPremisesConfiguration.password': secret('Password for replication.'),
      'onPremisesConfiguration.clientKey': secret('Private key of the client certificate, as PEM.'),
      'replicaConfiguration.mysqlReplicaConfiguration.password': secret('Password for replication.'),
      'replicaConfiguration.mysqlReplicaConfiguration.clientKey': secret(
        'Private key of the client certificate, as PEM.',
      ),
    },
  },
  fields: {
    region: s.identifier(s.string({ doc: 'Region, such as europe-west1.' })),
    labels: labelsField(),
  },
  labels: apiLabels('labels', 'settings.userLabels'),
  operations: sqlOperations,
  methods: {
    get: 'instances.get',
    create: 'instances.insert',
    delete: 'instances.delete',
    list: 'instances.list',
    items: 'items',
  },
  permissions: {
    Observe: ['cloudsql.instances.get', 'cloudsql.instances.list'],
    Create: ['cloudsql.instances.create', 'cloudsql.instances.get'],
    Update: ['cloudsql.instances.get', 'cloudsql.instances.update', 'cloudsql.users.update'],
    Delete: ['cloudsql.instances.get', 'cloudsql.instances.delete'],
  },
  place: ({ project }, name) => ({ project, instance: name }),
  parent: ({ project }) => ({ project }),
  create: ({ project }, name, body, { forProvider: { region } }) => ({
    method: 'instances.insert',
    params: { project },
    body: { ...withNetworkPath(body), name, region: String(region) },
  }),
  update({ client: { project }, name, changed, found, forProvider }) {
    const steps: Step[] = []
    const { rootPassword, ...values } = changed
    if (Object.keys(values).length > 0) {
      const version = valueAt(found, 'settings.settingsVersion')
      const body =
        version === undefined ? values : withValue(withTier(values, forProvider), 'settings.settingsVersion', version)
      steps.push({ method: 'instances.patch', params: { project, instance: name }, body: withNetworkPath(body) })
    }
    if (rootPassword !== undefined) {
      const params = { project, instance: name, name: administratorOf(found) }
      steps.push({ method: 'users.update', params, body: { password: rootPassword } })
    }
    return steps
  },
  location: ({ region }) => String(region),
  nameOf: ({ name }) => String(name),
  ready: ({ state, suspensionReason }) => readyWhen(state === 'RUNNABLE', state, reasonsOf(suspensionReason)),
  connection: (found, forProvider) => ({
    endpoint: addressOf(found),
    port: portOf(found),
    username: administratorOf(found),
    connectionName: textOf(found['connectionName']),
    serverCA: textOf(valueAt(found, 'serverCaCert.cert')),
    ...passwordOf(forProvider),
  }),
  createdConnection: (forProvider) => passwordOf(forProvider),
})

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

function passwordOf({ rootPassword }: Readonly<Record<string, unknown>>) {
  return typeof rootPassword === 'string' ? { password: rootPassword } : {}
}

const reasonsOf = (reasons: unknown): string | undefined => (Array.isArray(reasons) ? reasons.join(', ') : undefined)

/** The tier is part of every patch of the settings: the API requires it. */
function withTier(values: Values, { settings }: Readonly<Record<string, unknown>>): Values {
  const tier = isObject(settings) ? settings['tier'] : undefined
  return values['settings'] === undefined || tier === undefined
    ? values
    : withValue(values, 'settings.tier', String(tier))
}

/** The API takes the path of a network without host and version. */
function withNetworkPath(body: Values): Values {
  const path = 'settings.ipConfiguration.privateNetwork'
  const given = valueAt(body, path)
  return typeof given === 'string' ? withValue(body, path, given.replace(/^.*?(?=projects\/)/, '')) : body
}

function addressOf({ ipAddresses }: Values): string | undefined {
  if (!Array.isArray(ipAddresses)) return undefined
  const addresses = ipAddresses.filter(isObject)
  const found = ['PRIVATE', 'PRIMARY'].flatMap((type) => addresses.filter((each) => each['type'] === type))
  return textOf(found[0]?.['ipAddress'])
}

function portOf({ databaseVersion }: Values): string {
  const version = String(databaseVersion)
  return version.startsWith('POSTGRES') ? '5432' : version.startsWith('SQLSERVER') ? '1433' : '3306'
}

function administratorOf({ databaseVersion }: Values): string {
  const version = String(databaseVersion)
  return version.startsWith('POSTGRES') ? 'postgres' : version.startsWith('SQLSERVER') ? 'sqlserver' : 'root'
}
