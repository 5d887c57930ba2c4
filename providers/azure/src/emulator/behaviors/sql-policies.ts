import { createHash } from 'node:crypto'
import { at, merged, textOf, type Values, valuesOf, without } from '../../values.js'
import { type Behavior, done } from '../behavior.js'
import { badRequest, conflict } from '../problem.js'
import { idOf, lastName, parentOf } from '../resource-id.js'
import type { Stored, World } from '../world.js'
import { sqlWork } from './sql-work.js'

const SERVER = 'Microsoft.Sql/servers'
const DATABASE = `${SERVER}/databases`
const inSubscription = '/subscriptions/{subscription}/providers/Microsoft.Sql/locations/{location}'

const timeOf = ({ createdAt }: Stored): string => new Date(createdAt).toISOString()
const propertiesOf = ({ body }: Stored): Values => valuesOf(body['properties'])

/** Both pages of the portal set the same policy: while one is being set, the other waits. */
function refuseThreatPolicyAtWork(target: Stored['target'], world: World): void {
  const parent = parentOf(target)
  if (!parent) return
  for (const type of ['securityAlertPolicies', 'advancedThreatProtectionSettings']) {
    if (!world.find(`${idOf(parent)}/${type}/Default`)?.operation) continue
    throw conflict(
      'ServerAdvancedThreatProtectionInProgress',
      'Setting the server Advanced Threat Protection settings is already in progress. Use Azure-AsyncOperation request to track your operation',
    )
  }
}

function requireThreatDetection(target: Stored['target'], world: World): void {
  const server = idOf({ ...target, types: ['servers'], names: target.names.slice(0, 1) })
  const enabled = ['securityAlertPolicies', 'advancedThreatProtectionSettings'].some((type) => {
    const policy = world.find(`${server}/${type}/Default`)
    return policy?.phase === 'ready' && textOf(propertiesOf(policy)['state']) === 'Enabled'
  })
  if (enabled) return
  throw badRequest(
    'VulnerabilityAssessmentADSIsDisabled',
    'Advanced Data Security should be enabled in order to use Vulnerability Assessment.',
  )
}

const alertPolicy: Pick<Behavior, 'show' | 'singleton'> = {
  singleton: 'Default',
  show: (resource) => ({
    properties: merged(
      {
        state: 'Disabled',
        disabledAlerts: [''],
        emailAddresses: [''],
        emailAccountAdmins: false,
        storageEndpoint: '',
        storageAccountAccessKey: '',
        retentionDays: 0,
        creationTime: timeOf(resource),
      },
      without(propertiesOf(resource), 'storageAccountAccessKey'),
    ),
  }),
}

const threatProtection: Pick<Behavior, 'show' | 'singleton'> = {
  singleton: 'Default',
  show: (resource) => ({
    properties: { state: 'Disabled', ...propertiesOf(resource), creationTime: timeOf(resource) },
  }),
}

const AUDITED = [
  'SUCCESSFUL_DATABASE_AUTHENTICATION_GROUP',
  'FAILED_DATABASE_AUTHENTICATION_GROUP',
  'BATCH_COMPLETED_GROUP',
]

const auditing: Pick<Behavior, 'show' | 'singleton'> = {
  singleton: 'Default',
  show: (resource) => ({
    properties: merged(
      {
        retentionDays: 0,
        auditActionsAndGroups: AUDITED,
        isStorageSecondaryKeyInUse: false,
        isAzureMonitorTargetEnabled: false,
        isManagedIdentityInUse: false,
        state: 'Disabled',
        storageEndpoint: '',
        storageAccountSubscriptionId: '00000000-0000-0000-0000-000000000000',
      },
      without(propertiesOf(resource), 'storageAccountAccessKey'),
    ),
  }),
}

const assessment = (status: number): Behavior => ({
  create: done(status, 'resource'),
  update: done(200, 'resource'),
  remove: done(200),
  singleton: 'Default',
  check: ({ target, world }) => requireThreatDetection(target, world),
  show(resource) {
    const given = propertiesOf(resource)
    const path = textOf(given['storageContainerPath']) ?? ''
    return {
      properties: {
        storageContainerPath: path.replace(/\/?$/, '/'),
        recurringScans: merged(
          { isEnabled: false, emailSubscriptionAdmins: true, emails: [] },
          valuesOf(given['recurringScans']),
        ),
      },
    }
  },
})

const keyKind = (type: unknown): string => (type === 'AzureKeyVault' ? 'azurekeyvault' : 'servicemanaged')

/** Policies and settings of servers and databases. Most exist from the start and are only changed. */
export const sqlPolicies: Readonly<Record<string, Behavior>> = {
  [`${SERVER}/securityAlertPolicies`]: {
    create: sqlWork('securityAlertPolicies', 'UpsertServerThreatDetectionPolicy', 3, inSubscription),
    update: sqlWork('securityAlertPolicies', 'UpsertServerThreatDetectionPolicy', 3, inSubscription),
    remove: done(200),
    check: ({ target, world }) => refuseThreatPolicyAtWork(target, world),
    ...alertPolicy,
  },
  [`${SERVER}/advancedThreatProtectionSettings`]: {
    create: sqlWork('advancedThreatProtection', 'UpsertServerThreatDetectionPolicy', 3),
    update: sqlWork('advancedThreatProtection', 'UpsertServerThreatDetectionPolicy', 3),
    remove: done(200),
    check: ({ target, world }) => refuseThreatPolicyAtWork(target, world),
    ...threatProtection,
  },
  [`${SERVER}/auditingSettings`]: {
    create: sqlWork('auditingSettings', 'UpsertServerEngineAuditingPolicy', 60, inSubscription),
    update: sqlWork('auditingSettings', 'UpsertServerEngineAuditingPolicy', 60, inSubscription),
    remove: done(200),
    ...auditing,
  },
  [`${SERVER}/connectionPolicies`]: {
    create: sqlWork('connectionPolicies', 'UpdateServerConnectionPolicy', 10),
    update: sqlWork('connectionPolicies', 'UpdateServerConnectionPolicy', 10),
    remove: done(200),
    singleton: 'default',
    location: 'parent',
    show: (resource) => ({ properties: { connectionType: 'Default', ...propertiesOf(resource) } }),
  },
  [`${SERVER}/vulnerabilityAssessments`]: assessment(201),
  [`${SERVER}/keys`]: {
    create: sqlWork('serverKey', 'UpsertLogicalServerEncryptionKeys', 1),
    update: sqlWork('serverKey', 'UpsertLogicalServerEncryptionKeys', 1),
    remove: sqlWork('serverKey', 'DropLogicalServerEncryptionKeys', 1),
    hidden: true,
    missing: 'provider',
    location: 'display',
    show: (resource) => ({
      kind: keyKind(propertiesOf(resource)['serverKeyType']),
      properties: {
        ...propertiesOf(resource),
        thumbprint: createHash('sha1').update(lastName(resource.target)).digest('hex').toUpperCase(),
        creationDate: timeOf(resource),
        autoRotationEnabled: false,
      },
    }),
  },
  [`${SERVER}/encryptionProtector`]: {
    create: sqlWork('encryptionProtector', 'UpsertLogicalServerEncryptionprotector', 1),
    update: sqlWork('encryptionProtector', 'UpsertLogicalServerEncryptionprotector', 1),
    remove: done(200),
    singleton: 'current',
    show(resource, world) {
      const given = propertiesOf(resource)
      const parent = parentOf(resource.target)
      const key = parent && world.find(`${idOf(parent)}/keys/${given['serverKeyName']}`)
      const type = given['serverKeyType'] ?? 'ServiceManaged'
      return {
        kind: keyKind(type),
        properties: {
          serverKeyName: 'ServiceManaged',
          ...given,
          serverKeyType: type,
          ...(key ? { uri: at(key.body, 'properties.uri') } : {}),
        },
      }
    },
  },
  [`${DATABASE}/transparentDataEncryption`]: {
    create: sqlWork('transparentDataEncryption', 'UpdateLogicalDatabase', 15),
    update: sqlWork('transparentDataEncryption', 'UpdateLogicalDatabase', 15),
    remove: done(200),
    singleton: 'Current',
    show: (resource) => ({ properties: { state: 'Enabled', ...propertiesOf(resource), scanState: 'Complete' } }),
  },
  [`${DATABASE}/backupLongTermRetentionPolicies`]: {
    create: sqlWork('longTermRetentionPolicy', 'UpsertDatabaseBackupArchivalPolicyV2', 15),
    update: sqlWork('longTermRetentionPolicy', 'UpsertDatabaseBackupArchivalPolicyV2', 15),
    remove: done(200),
    singleton: 'default',
    show: (resource, _, apiVersion) => ({
      properties: {
        ...(apiVersion >= '2024-11-01' ? { timeBasedImmutability: 'Disabled' } : {}),
        weeklyRetention: 'PT0S',
        monthlyRetention: 'PT0S',
        yearlyRetention: 'PT0S',
        weekOfYear: 0,
        ...propertiesOf(resource),
      },
    }),
  },
  [`${DATABASE}/backupShortTermRetentionPolicies`]: {
    create: sqlWork('shortTermRetentionPolicy', 'UpsertDatabaseBackupShortTermRetentionPolicy', 15),
    update: sqlWork('shortTermRetentionPolicy', 'UpsertDatabaseBackupShortTermRetentionPolicy', 15),
    remove: done(200),
    singleton: 'default',
    show: (resource) => ({
      properties: { retentionDays: 7, diffBackupIntervalInHours: 12, ...propertiesOf(resource) },
    }),
  },
  [`${DATABASE}/vulnerabilityAssessments`]: assessment(200),
  [`${DATABASE}/advancedThreatProtectionSettings`]: {
    create: done(200, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    ...threatProtection,
  },
  [`${DATABASE}/auditingSettings`]: {
    create: done(201, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    ...auditing,
  },
  [`${DATABASE}/securityAlertPolicies`]: {
    create: done(200, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    ...alertPolicy,
  },
}
