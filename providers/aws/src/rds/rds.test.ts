import { CreateSubnetCommand, CreateVpcCommand, EC2Client } from '@aws-sdk/client-ec2'
import {
  AddTagsToResourceCommand,
  CreateDBSubnetGroupCommand,
  DescribeDBInstancesCommand,
  DescribeDBSubnetGroupsCommand,
  ModifyDBInstanceCommand,
  RDSClient,
} from '@aws-sdk/client-rds'
import { motoContract, motoForFile } from '../testing/contract.js'
import type { Moto } from '../testing/moto.js'
import { dbInstance } from './dbinstance.js'
import { dbSubnetGroup } from './dbsubnetgroup.js'

const region = 'eu-west-1'

const moto = await motoForFile()
if (moto) await contracts(moto)

async function contracts(moto: Moto): Promise<void> {
  const past = moto.client(RDSClient, region)
  const network = moto.client(EC2Client, region)
  const groups = async () =>
    (await past.send(new DescribeDBSubnetGroupsCommand({}))).DBSubnetGroups!.map((each) => each.DBSubnetGroupName)
  const instances = async () =>
    (await past.send(new DescribeDBInstancesCommand({}))).DBInstances!.map((each) => each.DBInstanceIdentifier)
  const { Vpc } = await network.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }))
  const subnets = await Promise.all(
    ['a', 'b', 'c'].map(async (zone, i) => {
      const AvailabilityZone = `${region}${zone}`
      const place = { VpcId: Vpc!.VpcId, CidrBlock: `10.0.${i}.0/24`, AvailabilityZone }
      return (await network.send(new CreateSubnetCommand(place))).Subnet!.SubnetId!
    }),
  )

  motoContract(moto, dbSubnetGroup, async () => ({
    example: {
      region,
      dbSubnetGroupDescription: 'for the contract',
      subnetIds: subnets.slice(0, 2),
      tags: { team: 'apps' },
    },
    // Not tested, because moto lacks it: a modified group disappears.
    change: { tags: { team: 'ops', tier: 'one' } },
    meddle: async (DBSubnetGroupName) => {
      const { DBSubnetGroups } = await past.send(new DescribeDBSubnetGroupsCommand({ DBSubnetGroupName }))
      const ResourceName = DBSubnetGroups![0]!.DBSubnetGroupArn
      await past.send(new AddTagsToResourceCommand({ ResourceName, Tags: [{ Key: 'team', Value: 'others' }] }))
    },
    exists: async (name) => (await groups()).includes(name),
    count: async () => (await groups()).length,
  }))

  const DBSubnetGroupName = 'for-instances'
  const described = { DBSubnetGroupName, DBSubnetGroupDescription: 'for instances', SubnetIds: subnets }
  await past.send(new CreateDBSubnetGroupCommand(described))

  motoContract(moto, dbInstance, async () => ({
    example: {
      region,
      dbInstanceClass: 'db.t4g.micro',
      engine: 'postgres',
      engineVersion: '16',
      allocatedStorage: 20,
      masterUsername: 'keeper',
      dbName: 'app',
      dbSubnetGroupName: DBSubnetGroupName,
      port: 5433,
      backupRetentionPeriod: 3,
      preferredBackupWindow: '03:00-03:30',
      multiAZ: true,
      copyTagsToSnapshot: true,
      deletionProtection: false,
      applyImmediately: true,
      skipFinalSnapshot: true,
      tags: { team: 'apps' },
    },
    spec: { writeConnectionSecretToRef: { namespace: 'crossplane-system', name: 'contract' } },
    change: { dbInstanceClass: 'db.t4g.small', backupRetentionPeriod: 7, tags: { team: 'ops', tier: 'one' } },
    meddle: async (DBInstanceIdentifier) => {
      const change = { DBInstanceIdentifier, BackupRetentionPeriod: 9, ApplyImmediately: true }
      await past.send(new ModifyDBInstanceCommand(change))
    },
    exists: async (name) => (await instances()).includes(name),
    count: async () => (await instances()).length,
  }))
}
