import {
  CreateDBInstanceCommand,
  type CreateDBInstanceCommandInput,
  CreateDBInstanceMessage$,
  type DBInstance,
  DeleteDBInstanceCommand,
  DescribeDBInstancesCommand,
  ModifyDBInstanceCommand,
  paginateDescribeDBInstances,
  RDSClient,
} from '@aws-sdk/client-rds'
import type { KubeObject } from '@crosstie/kube'
import { absent, type ConnectionDetails, defineManaged, present } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { collect } from '../pages.js'
import { toApi } from '../shapes.js'
import { readiness } from '../steps.js'
import { tagList } from '../tags.js'
import { observation, parameters } from './dbinstance-fields.js'
import { modification } from './modify.js'
import { atProviderOf } from './report.js'
import { updateTags } from './tags.js'

const connect = connectTo(RDSClient)

/** States in which the database accepts connections while AWS changes it. */
const usable = new Set([
  'available',
  'backing-up',
  'configuring-enhanced-monitoring',
  'configuring-iam-database-auth',
  'configuring-log-exports',
  'modifying',
  'storage-config-upgrade',
  'storage-initialization',
  'storage-optimization',
])

/** The managed kind for RDS database instances. */
export const dbInstance = defineManaged({
  group: 'rds.aws.crossplane.io',
  version: 'v1alpha1',
  kind: 'DBInstance',
  doc: 'A database server that AWS runs. Its connection Secret has `endpoint`, `port`, `username`, `password` and `database`.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: ['rds:DescribeDBInstances'],
    Create: [
      'rds:CreateDBInstance',
      'rds:AddTagsToResource',
      'ec2:DescribeSecurityGroups',
      'ec2:DescribeSubnets',
      'ec2:DescribeVpcs',
      'iam:CreateServiceLinkedRole',
      'iam:PassRole',
    ],
    Update: [
      'rds:DescribeDBInstances',
      'rds:ModifyDBInstance',
      'rds:AddTagsToResource',
      'rds:RemoveTagsFromResource',
      'iam:PassRole',
    ],
    Delete: ['rds:DeleteDBInstance', 'rds:DescribeDBInstances', 'rds:ModifyDBInstance', 'rds:CreateDBSnapshot'],
    LateInitialize: [],
  },

  connect,

  async observe({ client, externalName, forProvider, managed, signal }) {
    if (externalName === '') return absent
    const found = await describe(client, externalName, signal)
    if (!found) return absent
    // A generated password stays. A password of the user may be newer than that of AWS, until an update sets it.
    const password = isGiven(managed) ? undefined : forProvider.masterUserPassword
    return { ...sightOf(found, forProvider.region), connection: connectionOf(found, password) }
  },

  async create({ client, externalName, forProvider, tags, signal: abortSignal }) {
    const given = { ...forProvider, dbInstanceIdentifier: externalName, tags: undefined }
    const input = toApi<CreateDBInstanceCommandInput>(CreateDBInstanceMessage$, given)
    await client.send(new CreateDBInstanceCommand({ ...input, Tags: tagList(tags) }), { abortSignal })
    return { connection: { username: forProvider.masterUsername, password: forProvider.masterUserPassword } }
  },

  async update(call) {
    const { client, externalName, forProvider, changed, signal: abortSignal } = call
    const found = await describe(client, externalName, abortSignal)
    await updateTags(client, call, async () => found?.DBInstanceArn)
    const input = modification(changed, forProvider, found ?? {})
    if (!input) return
    await client.send(new ModifyDBInstanceCommand({ DBInstanceIdentifier: externalName, ...input }), { abortSignal })
    return changed.masterUserPassword ? { connection: { password: changed.masterUserPassword } } : {}
  },

  async delete(call) {
    const { client, externalName: DBInstanceIdentifier, forProvider, managed, signal: abortSignal } = call
    const found = await describe(client, DBInstanceIdentifier, abortSignal)
    if (!found || found.DBInstanceStatus === 'deleting') return
    if (found.DeletionProtection && forProvider.deletionProtection === false) {
      const unprotect = new ModifyDBInstanceCommand({ DBInstanceIdentifier, DeletionProtection: false })
      await client.send(unprotect, { abortSignal })
    }
    const named = forProvider.finalDBSnapshotIdentifier
    const uid = managed.metadata.uid?.slice(0, 8)
    const command = new DeleteDBInstanceCommand({
      DBInstanceIdentifier,
      ...(leavesNoSnapshot(found, forProvider.skipFinalSnapshot)
        ? { SkipFinalSnapshot: true }
        : { SkipFinalSnapshot: false, FinalDBSnapshotIdentifier: named ?? `${DBInstanceIdentifier}-final-${uid}` }),
      ...(forProvider.deleteAutomatedBackups === undefined
        ? {}
        : { DeleteAutomatedBackups: forProvider.deleteAutomatedBackups }),
    })
    await unlessNotFound(client.send(command, { abortSignal }))
  },

  async list({ client, forProvider: { region }, signal: abortSignal }) {
    const pages = paginateDescribeDBInstances({ client }, {}, { abortSignal })
    return (await collect(pages, (page) => page.DBInstances)).map((found) => ({
      ...sightOf(found, region),
      connection: connectionOf(found, undefined),
    }))
  },
})

async function describe(client: RDSClient, DBInstanceIdentifier: string, abortSignal: AbortSignal) {
  const command = new DescribeDBInstancesCommand({ DBInstanceIdentifier })
  return (await unlessNotFound(client.send(command, { abortSignal })))?.DBInstances?.[0]
}

function sightOf(found: DBInstance, region: string) {
  const { DBInstanceStatus, StatusInfos = [] } = found
  const issues = StatusInfos.filter(({ Normal }) => Normal === false).map(({ Message = '' }) => Message)
  return present({
    externalName: found.DBInstanceIdentifier ?? '',
    ready: readiness(usable.has(DBInstanceStatus ?? ''), DBInstanceStatus, issues),
    atProvider: { ...atProviderOf(found), region },
  })
}

function isGiven(managed: KubeObject): boolean {
  const { forProvider } = managed['spec'] as { forProvider?: { masterUserPasswordSecretRef?: unknown } }
  return forProvider?.masterUserPasswordSecretRef !== undefined
}

function connectionOf(found: DBInstance, password: string | undefined): ConnectionDetails {
  const { Address, Port } = found.Endpoint ?? {}
  return {
    endpoint: Address,
    port: Port === undefined ? undefined : String(Port),
    username: found.MasterUsername,
    password,
    database: found.DBName,
  }
}

/** Reports whether to skip the final snapshot. AWS rejects snapshots of replicas and of members of clusters. */
function leavesNoSnapshot(found: DBInstance, skip = false): boolean {
  return skip || Boolean(found.ReadReplicaSourceDBInstanceIdentifier || found.DBClusterIdentifier)
}
