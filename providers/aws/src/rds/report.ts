import { type DBInstance, DBInstance$ } from '@aws-sdk/client-rds'
import { fromApi } from '../shapes.js'
import { tagsOf } from '../tags.js'

type Values = Readonly<Record<string, unknown>>

/**
 * Converts a database instance to the field names of its configuration. Changes that AWS performs in the next
 * maintenance window count as done: another request would not perform them sooner.
 */
export function atProviderOf(found: DBInstance): Values {
  const { PendingModifiedValues: waiting = {} } = found
  // The latest restorable time changes continuously and would cause a status write at every observation.
  const reported = fromApi(DBInstance$, { ...found, PendingModifiedValues: undefined, LatestRestorableTime: undefined })
  const pending = pendingOf(waiting)
  return defined({
    ...reported,
    dbParameterGroupName: found.DBParameterGroups?.[0]?.DBParameterGroupName,
    optionGroupName: found.OptionGroupMemberships?.[0]?.OptionGroupName,
    dbSubnetGroupName: found.DBSubnetGroup?.DBSubnetGroupName,
    vpcSecurityGroupIds: found.VpcSecurityGroups?.map(({ VpcSecurityGroupId = '' }) => VpcSecurityGroupId),
    port: found.Endpoint?.Port ?? (found.DbInstancePort || undefined),
    enableIAMDatabaseAuthentication: found.IAMDatabaseAuthenticationEnabled,
    enablePerformanceInsights: found.PerformanceInsightsEnabled,
    enableCloudwatchLogsExports: found.EnabledCloudwatchLogsExports,
    enableCustomerOwnedIp: found.CustomerOwnedIpEnabled,
    manageMasterUserPassword: found.MasterUserSecret !== undefined,
    masterUserSecretKmsKeyId: found.MasterUserSecret?.KmsKeyId,
    ...domainOf(found),
    ...pending,
    pendingModifiedValues: Object.keys(pending).length > 0 ? pending : undefined,
    tags: tagsOf(found.TagList),
  })
}

/** Converts pending changes. The password, which AWS masks, and the pending identifier are left out. */
function pendingOf(waiting: NonNullable<DBInstance['PendingModifiedValues']>): Values {
  const { MasterUserPassword: _, DBInstanceIdentifier: __, ...named } = waiting
  return defined({
    ...fromApi(DBInstance$, named),
    port: waiting.Port,
    enableIAMDatabaseAuthentication: waiting.IAMDatabaseAuthenticationEnabled,
    dbSubnetGroupName: waiting.DBSubnetGroupName,
  })
}

function domainOf({ DomainMemberships: [joined] = [] }: DBInstance): Values {
  if (!joined) return {}
  return {
    domain: joined.Domain,
    domainFqdn: joined.FQDN,
    domainOu: joined.OU,
    domainAuthSecretArn: joined.AuthSecretArn,
    domainDnsIps: joined.DnsIps,
    domainIAMRoleName: joined.IAMRoleName,
  }
}

const defined = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
