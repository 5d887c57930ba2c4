import { type DBInstance, type ModifyDBInstanceCommandInput, ModifyDBInstanceMessage$ } from '@aws-sdk/client-rds'
import type { Infer } from '@crosstie/resources/provider'
import { toApi } from '../shapes.js'
import type { parameters } from './dbinstance-fields.js'

type Wanted = Infer<typeof parameters>
type Changed = { readonly [K in keyof Wanted]?: unknown }
type Modification = Omit<ModifyDBInstanceCommandInput, 'DBInstanceIdentifier'>

/** Sets of fields that AWS requires together when one of them changes. */
const together: readonly (readonly (keyof Wanted)[])[] = [
  ['allocatedStorage', 'storageType', 'iops', 'storageThroughput'],
  ['domain', 'domainFqdn', 'domainOu', 'domainAuthSecretArn', 'domainDnsIps', 'domainIAMRoleName'],
  ['tdeCredentialArn', 'tdeCredentialPassword'],
  ['monitoringInterval', 'monitoringRoleArn'],
  ['enablePerformanceInsights', 'performanceInsightsKMSKeyId', 'performanceInsightsRetentionPeriod'],
  ['databaseInsightsMode', 'enablePerformanceInsights', 'performanceInsightsRetentionPeriod'],
  ['manageMasterUserPassword', 'masterUserPassword', 'masterUserSecretKmsKeyId'],
]

/** Parameters that define how a call works, not what it changes. */
const manner = [
  'applyImmediately',
  'allowMajorVersionUpgrade',
  'certificateRotationRestart',
  'resumeFullAutomationModeMinutes',
] as const

/** Returns the request that changes an instance to its desired state, or undefined if only tags differ. */
export function modification(changed: Changed, wanted: Wanted, is: DBInstance): Modification | undefined {
  const names = new Set(Object.keys(changed) as (keyof Wanted)[])
  names.delete('tags')
  if (names.size === 0) return undefined
  for (const set of together) {
    if (set.some((name) => changed[name] !== undefined)) for (const name of set) names.add(name)
  }
  // A rotated password is among the changes. A password that AWS manages is not sent.
  if (wanted.manageMasterUserPassword) names.delete('masterUserPassword')
  for (const name of manner) names.add(name)
  const given = Object.fromEntries([...names].map((name) => [name, wanted[name]]))
  const input = toApi<Modification>(ModifyDBInstanceMessage$, { ...given, dbPortNumber: given['port'] })
  if (changed.enableCloudwatchLogsExports) {
    input.CloudwatchLogsExportConfiguration = logTypes(wanted.enableCloudwatchLogsExports ?? [], is)
  }
  if (changed.additionalStorageVolumes) {
    const kept = new Set(wanted.additionalStorageVolumes?.map(({ volumeName }) => volumeName))
    const gone = (is.AdditionalStorageVolumes ?? []).filter(({ VolumeName = '' }) => !kept.has(VolumeName))
    const removed = gone.map(({ VolumeName }) => ({ VolumeName, SetForDelete: true }))
    input.AdditionalStorageVolumes = [...(input.AdditionalStorageVolumes ?? []), ...removed]
  }
  return input
}

function logTypes(wanted: readonly string[], { EnabledCloudwatchLogsExports: is = [] }: DBInstance) {
  return {
    EnableLogTypes: wanted.filter((type) => !is.includes(type)),
    DisableLogTypes: is.filter((type) => !wanted.includes(type)),
  }
}
