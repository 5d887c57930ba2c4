import { s } from '@crosstie/resources/provider'
import { region, tags } from '../fields.js'
import { roleArn, securityGroupIds } from '../references.js'
import { dbSubnetGroup } from './dbsubnetgroup.js'

const text = (doc: string) => s.optional(s.string({ doc }))
const fixed = (doc: string) => s.optional(s.string({ doc, immutable: true }))
const integer = (doc: string) => s.optional(s.integer({ doc }))
const flag = (doc: string) => s.optional(s.boolean({ doc }))
const names = (doc: string) => s.optional(s.list(s.string(), { doc, set: true }))
const onCall = (doc: string) => s.optional(s.boolean({ doc, unreported: true }))

/** Compares versions. 8.0 matches any 8.0.x, because AWS upgrades patch versions by itself. */
const sameVersion = (desired: string, observed: string) => observed === desired || observed.startsWith(`${desired}.`)

/** Reports whether no password is needed: AWS manages it, or the engine does not use one. */
const needsNoPassword = (beside: Readonly<Record<string, unknown>>) =>
  beside['manageMasterUserPassword'] === true ||
  beside['dbClusterIdentifier'] !== undefined ||
  beside['masterUserAuthenticationType'] === 'iam-db-auth'

const storage = {
  allocatedStorage: s.optional(
    s.integer({
      doc: 'Size of the storage in GiB. Where storage grows by itself, leave it to initProvider. Required, unless the instance belongs to a cluster.',
      requiredUnless: ['dbClusterIdentifier'],
    }),
  ),
  maxAllocatedStorage: integer('Up to which size storage grows by itself, in GiB.'),
  storageType: text('gp2, gp3, io1, io2 or standard.'),
  iops: integer('Operations per second, for gp3, io1 and io2.'),
  storageThroughput: integer('In MiB per second, for gp3.'),
  storageEncrypted: s.optional(s.boolean({ doc: 'Encrypted at rest.', immutable: true })),
  kmsKeyId: s.optional(
    s.string({
      doc: 'The key that storage is encrypted with: ARN, id or alias.',
      immutable: true,
      same: (desired, observed) =>
        observed === desired || observed.endsWith(`/${desired}`) || desired.startsWith('alias/'),
    }),
  ),
  dedicatedLogVolume: flag('A volume of its own for the log.'),
  additionalStorageVolumes: s.optional(
    s.list(
      s.object({
        volumeName: s.string({ doc: 'rdsdbdata2, rdsdbdata3 or rdsdbdata4.' }),
        allocatedStorage: integer('In GiB.'),
        iops: integer('Operations per second.'),
        maxAllocatedStorage: integer('Up to which size it grows by itself, in GiB.'),
        storageThroughput: integer('In MiB per second.'),
        storageType: text('gp3 or io2.'),
      }),
      { doc: 'More volumes, for Oracle and SQL Server.', keys: ['volumeName'] },
    ),
  ),
}

const network = {
  dbSubnetGroupName: s.optional(
    s.reference(s.string({ doc: 'The subnets that the instance is in.' }), { to: () => dbSubnetGroup.type }),
  ),
  vpcSecurityGroupIds: s.optional(securityGroupIds('Who may reach the instance.')),
  availabilityZone: s.optional(
    s.string({ doc: 'In which zone. It changes with a failover.', lateInitialize: false, immutable: true }),
  ),
  multiAZ: flag('Keep a standby in another zone.'),
  port: integer('Where the database listens.'),
  publiclyAccessible: flag('Give it an address on the Internet.'),
  networkType: text('IPV4 or DUAL.'),
  enableCustomerOwnedIp: flag('An address of the own network, on an Outpost.'),
}

const login = {
  masterUsername: s.optional(
    s.string({
      doc: 'Name of the administrator. Required, unless the instance belongs to a cluster.',
      immutable: true,
      requiredUnless: ['dbClusterIdentifier'],
    }),
  ),
  masterUserPassword: s.sensitive({
    doc: 'Password of the administrator. Not needed with manageMasterUserPassword, or in a cluster.',
    unless: needsNoPassword,
  }),
  manageMasterUserPassword: flag('Let AWS Secrets Manager make, keep and rotate the password.'),
  masterUserSecretKmsKeyId: text('The key that Secrets Manager encrypts the password with.'),
  masterUserAuthenticationType: s.optional(
    s.string({ doc: 'How the administrator logs in.', enum: ['password', 'iam-db-auth'], unreported: true }),
  ),
  enableIAMDatabaseAuthentication: flag('Let users log in with IAM.'),
  tdeCredentialArn: text('ARN of the key store, for TDE.'),
  tdeCredentialPassword: s.optional(s.sensitive({ doc: 'Password of the key store, for TDE.', generate: false })),
}

const domain = {
  domain: text('The Active Directory that the instance joins.'),
  domainFqdn: text('Its name, where it is managed by yourself.'),
  domainOu: text('The organizational unit in it.'),
  domainAuthSecretArn: text('The Secret of Secrets Manager with which to join.'),
  domainDnsIps: names('Addresses of its domain controllers.'),
  domainIAMRoleName: text('The role with which to call the directory.'),
}

const watching = {
  monitoringInterval: integer('Seconds between enhanced measurements; 0 for none.'),
  monitoringRoleArn: s.optional(roleArn({ doc: 'The role that sends enhanced measurements.' })),
  databaseInsightsMode: text('standard or advanced.'),
  enablePerformanceInsights: flag('Keep performance insights.'),
  performanceInsightsKMSKeyId: text('The key that they are encrypted with.'),
  performanceInsightsRetentionPeriod: integer('For how many days they are kept.'),
  enableCloudwatchLogsExports: names('Which logs are sent to CloudWatch.'),
}

const keeping = {
  backupRetentionPeriod: integer('For how many days backups are kept; 0 for no backups.'),
  preferredBackupWindow: text('When backups are made, as hh24:mi-hh24:mi in UTC.'),
  preferredMaintenanceWindow: text('When maintenance is done, as ddd:hh24:mi-ddd:hh24:mi in UTC.'),
  copyTagsToSnapshot: flag('Snapshots get the tags of the instance.'),
  backupTarget: fixed('Where backups are kept: region or outposts.'),
  deletionProtection: flag('Refuse to delete the instance. Set it to false to delete a protected one.'),
  skipFinalSnapshot: onCall('Keep no snapshot when the instance is deleted. All data is lost then.'),
  finalDBSnapshotIdentifier: s.optional(
    s.string({
      doc: "Name of the snapshot that is kept when the instance is deleted. Absent: its name, `final` and a part of the object's uid.",
      unreported: true,
    }),
  ),
  deleteAutomatedBackups: onCall('Delete automated backups with the instance. True when absent.'),
}

/** The `spec.forProvider` fields of a DBInstance. */
export const parameters = s.object({
  region: region(),
  dbInstanceClass: s.string({ doc: 'Size of the instance, such as db.t4g.micro.' }),
  engine: s.string({ doc: 'Which database, such as mysql or postgres.', immutable: true }),
  engineVersion: s.optional(
    s.string({
      doc: 'Version of the database. 8.0 stands for any patch of 8.0, which AWS upgrades by itself.',
      same: sameVersion,
      lateInitialize: false,
    }),
  ),
  engineLifecycleSupport: text('What happens at the end of standard support.'),
  autoMinorVersionUpgrade: flag('Upgrade patches in the maintenance window.'),
  allowMajorVersionUpgrade: onCall('Let a change of engineVersion upgrade to another major version.'),
  applyImmediately: onCall('Make changes at once, not in the maintenance window.'),
  dbName: fixed('Name of the database that is made at first.'),
  dbParameterGroupName: text('Settings of the database.'),
  optionGroupName: text('Features of the database.'),
  licenseModel: text('Such as license-included or bring-your-own-license.'),
  characterSetName: fixed('Character set of Oracle and of SQL Server.'),
  ncharCharacterSetName: fixed('National character set of Oracle.'),
  timezone: fixed('Time zone of SQL Server and Db2.'),
  processorFeatures: s.optional(
    s.list(
      s.object({ name: s.string({ doc: 'coreCount or threadsPerCore.' }), value: s.string({ doc: 'How many.' }) }),
      { doc: 'Cores and threads.', keys: ['name'] },
    ),
  ),
  caCertificateIdentifier: s.optional(
    s.string({ doc: 'Who signs the certificate of the server.', lateInitialize: false }),
  ),
  certificateRotationRestart: onCall('Restart for a new certificate.'),
  multiTenant: flag('An Oracle container database with many tenants.'),
  dbClusterIdentifier: fixed('The Aurora cluster that the instance belongs to.'),
  promotionTier: integer('Which replica of a cluster comes first.'),
  dbSystemId: fixed('Oracle system id of an RDS Custom instance.'),
  customIamInstanceProfile: fixed('Instance profile of an RDS Custom instance.'),
  automationMode: text('full or all-paused, for RDS Custom.'),
  resumeFullAutomationModeMinutes: s.optional(
    s.integer({ doc: 'After how many minutes automation goes on, for RDS Custom.', unreported: true }),
  ),
  replicaMode: text('mounted or open-read-only, for replicas of Oracle and Db2.'),
  dbCapacityReservationIdentifier: text('The capacity reservation that the instance uses.'),
  ...storage,
  ...network,
  ...login,
  ...domain,
  ...watching,
  ...keeping,
  tags: tags(),
})

const endpoint = s.object({
  address: s.string({ doc: 'Host name.' }),
  port: s.integer({ doc: 'Port.' }),
  hostedZoneId: s.string({ doc: 'Zone of the name in Route 53.' }),
})

const state = (name: string, doc: string) => s.list(s.object({ [name]: s.string(), status: s.string() }), { doc })

/** The `status.atProvider` fields of a DBInstance. */
export const observation = s.object({
  dbInstanceArn: s.string({ doc: 'ARN of the instance.' }),
  dbiResourceId: s.string({ doc: 'Id that stays the same when the instance is renamed.' }),
  dbInstanceStatus: s.string({ doc: 'Such as creating, available, modifying, storage-full.' }),
  instanceCreateTime: s.string({ doc: 'When it was made.' }),
  endpoint,
  listenerEndpoint: endpoint,
  secondaryAvailabilityZone: s.string({ doc: 'Zone of the standby.' }),
  vpcSecurityGroups: state('vpcSecurityGroupId', 'State of its security groups.'),
  optionGroupMemberships: state('optionGroupName', 'State of its option groups.'),
  dbParameterGroups: s.list(
    s.object({ dbParameterGroupName: s.string(), parameterApplyStatus: s.string({ doc: 'Such as pending-reboot.' }) }),
    { doc: 'State of its parameter groups.' },
  ),
  dbSubnetGroup: s.object({
    vpcId: s.string({ doc: 'The VPC that it is in.' }),
    subnetGroupStatus: s.string({ doc: 'State of its subnet group.' }),
  }),
  statusInfos: s.list(
    s.object({ statusType: s.string(), normal: s.boolean(), status: s.string(), message: s.string() }),
    { doc: 'State of replication.' },
  ),
  pendingModifiedValues: s.json({ doc: 'Changes that wait for the maintenance window. They count as made.' }),
  readReplicaSourceDBInstanceIdentifier: s.string({ doc: 'What it is a replica of.' }),
  readReplicaDBInstanceIdentifiers: s.list(s.string(), { doc: 'Its replicas.' }),
  masterUserSecret: s.object({
    secretArn: s.string({ doc: 'Where Secrets Manager keeps the password.' }),
    secretStatus: s.string({ doc: 'State of the Secret.' }),
    kmsKeyId: s.string({ doc: 'The key that it is encrypted with.' }),
  }),
  certificateDetails: s.object({
    caIdentifier: s.string({ doc: 'Who signed the certificate.' }),
    validTill: s.string({ doc: 'When it ends.' }),
  }),
  storageVolumeStatus: s.string({ doc: 'State of the storage.' }),
  percentProgress: s.string({ doc: 'How far storage operations are.' }),
})
