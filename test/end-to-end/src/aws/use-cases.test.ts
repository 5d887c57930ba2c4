import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  AutoScalingClient,
  DescribeAutoScalingGroupsCommand,
  SetDesiredCapacityCommand,
} from '@aws-sdk/client-auto-scaling'
import { DescribeTableCommand, DynamoDBClient, TagResourceCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import {
  CreateClusterCommand,
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  EKSClient,
  UpdateNodegroupConfigCommand,
} from '@aws-sdk/client-eks'
import { CreateDBInstanceCommand, DescribeDBInstancesCommand, RDSClient } from '@aws-sdk/client-rds'
import type { KubeObject } from '@crosstie/kube'
import { motoMissing } from '@crosstie/provider-aws/testing'
import { load } from 'js-yaml'
import { specOf, statusOf } from '../claims/kinds.js'
import { eventually } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { AwsWorld, inventory, manifest, region } from './world.js'

const missing = await motoMissing()
const parse = (text: string) => load(text) as KubeObject

/** The use cases of designs 000 and 001, field by field, as far as moto supports them. */
describe('use cases on AWS', { skip: missing ?? false, timeout: 900_000 }, () => {
  let aws: AwsWorld

  before(async () => {
    aws = await AwsWorld.open()
  })
  after(async () => {
    await aws?.[Symbol.asyncDispose]()
  })

  const example = async (name: string): Promise<readonly KubeObject[]> => {
    const objects = await manifest(`providers/aws/examples/${name}.yaml`)
    await aws.apply(...objects)
    for (const object of objects) await aws.ready(object)
    return objects
  }
  const last = (objects: readonly KubeObject[]) => objects.at(-1)!
  /** Waits until the controller has observed a change, so that it had the chance to revert it. */
  const seen = (object: KubeObject, what: string, holds: (atProvider: ReturnType<typeof statusOf>) => boolean) =>
    aws.until(`shows ${what}`, object, (found) => holds(statusOf(found).atProvider ?? {}))
  const cleanUp = async (objects: readonly KubeObject[]) => {
    await aws.remove(...objects)
    await aws.gone(...objects)
  }

  test('INI3 AutoScalingGroup: an autoscaler sets desiredCapacity, and nobody sets it back', async () => {
    const objects = await example('autoscaling-autoscalinggroup')
    const group = last(objects)
    const scaling = aws.moto.client(AutoScalingClient, region)
    const AutoScalingGroupName = group.metadata.name!
    const described = async () =>
      (await scaling.send(new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: [AutoScalingGroupName] })))
        .AutoScalingGroups![0]!
    await scaling.send(new SetDesiredCapacityCommand({ AutoScalingGroupName, DesiredCapacity: 4 }))
    const found = await seen(group, 'the capacity', (at) => at['desiredCapacity'] === 4)
    assert.equal(specOf(found).forProvider.desiredCapacity, undefined, 'POL4 it stays open')
    await aws.merge(group, { spec: { forProvider: { maxSize: 6 } } })
    await seen(group, 'the change', (at) => at['maxSize'] === 6)
    assert.equal((await described()).DesiredCapacity, 4)
    assert.notEqual(condition((await aws.read(group))!, 'Drifted')?.status, 'True')

    // With LateInitialize the value is written to the spec and kept from then on. Design 001 criticizes this.
    await aws.merge(group, { spec: { managementPolicies: ['*'] } })
    await aws.until('has its capacity in the spec', group, (each) => specOf(each).forProvider.desiredCapacity === 4)
    await scaling.send(new SetDesiredCapacityCommand({ AutoScalingGroupName, DesiredCapacity: 2 }))
    await eventually('it is set back', async () => (await described()).DesiredCapacity === 4, 120_000)
    await cleanUp(objects)
  })

  test('INI3 INI4 DynamoDB Table: capacity from initProvider is for the creation alone; outside tags stay', async () => {
    const objects = await example('dynamodb-table')
    const table = last(objects)
    const TableName = table.metadata.name!
    const dynamo = aws.moto.client(DynamoDBClient, region)
    const units = async () => {
      const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }))
      return [Table!.ProvisionedThroughput!.ReadCapacityUnits, Table!.ProvisionedThroughput!.WriteCapacityUnits]
    }
    assert.deepEqual(await units(), [1, 1], 'made with what initProvider says')
    const ProvisionedThroughput = { ReadCapacityUnits: 50, WriteCapacityUnits: 20 }
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }))
    const Tags = [{ Key: 'cost-center', Value: '42' }]
    await dynamo.send(new TagResourceCommand({ ResourceArn: Table!.TableArn, Tags }))
    await dynamo.send(new UpdateTableCommand({ TableName, ProvisionedThroughput }))
    await seen(table, 'the capacity', (at) => at['readCapacity'] === 50 && at['writeCapacity'] === 20)
    await aws.merge(table, { spec: { forProvider: { deletionProtectionEnabled: false, tags: { team: 'ops' } } } })
    const found = await seen(table, 'the change', (at) => at['tags'].team === 'ops')
    assert.deepEqual(await units(), [50, 20])
    assert.equal(statusOf(found).atProvider.tags['cost-center'], '42')
    assert.equal(specOf(found).forProvider.readCapacity, undefined)
    assert.deepEqual(specOf(found).initProvider, { readCapacity: 1, writeCapacity: 1 })
    await cleanUp(objects)
  })

  test('INI3 INI5 EKS NodeGroup: desiredSize by initProvider and by ignoreChanges is left to the autoscaler', async () => {
    const objects = await example('eks-nodegroup')
    const group = last(objects)
    const [ignoring] = (await manifest('examples/ignore-changes/nodegroup.yaml')) as [KubeObject]
    await aws.apply(ignoring)
    await aws.ready(ignoring)
    const eks = aws.moto.client(EKSClient, region)
    for (const each of [group, ignoring]) {
      const named = { clusterName: 'example-nodes', nodegroupName: each.metadata.name! }
      const sizes = async () => (await eks.send(new DescribeNodegroupCommand(named))).nodegroup!.scalingConfig!
      assert.deepEqual(await sizes(), { minSize: 1, maxSize: 5, desiredSize: 1 })
      await eks.send(new UpdateNodegroupConfigCommand({ ...named, scalingConfig: { desiredSize: 3 } }))
      await seen(each, 'the size', (at) => at['scalingConfig'].desiredSize === 3)
      await aws.merge(each, { spec: { forProvider: { scalingConfig: { maxSize: 7 } } } })
      await seen(each, 'the change', (at) => at['scalingConfig'].maxSize === 7)
      assert.deepEqual(await sizes(), { minSize: 1, maxSize: 7, desiredSize: 3 })
    }
    await cleanUp([ignoring])
    await cleanUp(objects)
  })

  test('OBS1 POL5 the OIDC issuer of a cluster that exists, read like a data source', async () => {
    const eks = aws.moto.client(EKSClient, 'us-west-2')
    const name = 'existing-eks-cluster'
    const roleArn = 'arn:aws:iam::123456789012:role/existing-eks-cluster'
    const resourcesVpcConfig = { subnetIds: ['subnet-1'], endpointPublicAccess: true, endpointPrivateAccess: true }
    await eks.send(new CreateClusterCommand({ name, roleArn, resourcesVpcConfig, tags: { 'managed-by': 'terraform' } }))
    const { cluster } = await eks.send(new DescribeClusterCommand({ name }))
    const observed = parse(`
apiVersion: eks.aws.crossplane.io/v1beta1
kind: Cluster
metadata:
  name: existing-eks-cluster
spec:
  managementPolicy: ObserveOnly
  forProvider:
    region: us-west-2
`)
    await aws.apply(observed)
    const found = await aws.ready(observed)
    assert.equal(found.metadata.annotations?.['crossplane.io/external-name'], name)
    assert.deepEqual(specOf(found).forProvider, { region: 'us-west-2' }, 'spec is never written')
    const at = statusOf(found).atProvider
    assert.equal(at.identity.oidc.issuer, cluster!.identity!.oidc!.issuer)
    assert.equal(at.arn, cluster!.arn)
    assert.equal(at.endpoint, cluster!.endpoint)
    assert.equal(at.certificateAuthorityData, cluster!.certificateAuthority!.data)
    assert.deepEqual(at.tags, { 'managed-by': 'terraform' })
    const { region: place, roleArn: role, status, version } = at
    assert.deepEqual([place, role, status, version], ['us-west-2', roleArn, 'ACTIVE', cluster!.version])
    assert.equal(at.logging.clusterLogging[0].enabled, false)
    assert.equal(at.resourcesVpcConfig.endpointPrivateAccess, true)

    await cleanUp([observed])
    assert.equal((await eks.send(new DescribeClusterCommand({ name }))).cluster!.status, 'ACTIVE', 'it is untouched')
  })

  test('OBS1 POL5 a database that exists is observed: its Secret leads there, and nothing of it is touched', async () => {
    const rds = aws.moto.client(RDSClient, region)
    const DBInstanceIdentifier = 'existing-database'
    const made = {
      DBInstanceIdentifier,
      DBInstanceClass: 'db.t4g.micro',
      Engine: 'postgres',
      MasterUsername: 'keeper',
      MasterUserPassword: 'a-secret-of-others',
      AllocatedStorage: 20,
      DBName: 'app',
      DeletionProtection: true,
      Tags: [{ Key: 'managed-by', Value: 'terraform' }],
    }
    await rds.send(new CreateDBInstanceCommand(made))
    const describe = async () =>
      (await rds.send(new DescribeDBInstancesCommand({ DBInstanceIdentifier }))).DBInstances![0]!
    const { LatestRestorableTime: _, ...before } = await describe()
    const observed = parse(`
apiVersion: rds.aws.crossplane.io/v1alpha1
kind: DBInstance
metadata:
  name: seen
  annotations:
    crossplane.io/external-name: ${DBInstanceIdentifier}
spec:
  managementPolicies: [Observe]
  forProvider:
    region: ${region}
  writeConnectionSecretToRef:
    namespace: default
    name: seen
`)
    await aws.apply(observed)
    const found = await aws.ready(observed)
    assert.deepEqual(specOf(found).forProvider, { region })
    assert.equal(statusOf(found).atProvider.dbInstanceClass, 'db.t4g.micro')
    const { endpoint, port, username, database, ...more } = await aws.secret('default', 'seen')
    assert.equal(endpoint, before.Endpoint!.Address)
    assert.deepEqual([port, username, database, more], [String(before.Endpoint!.Port), 'keeper', 'app', {}])
    await cleanUp([observed])
    const { LatestRestorableTime: __, ...now } = await describe()
    assert.deepEqual(now, before)
  })

  test('OBS3 a typo in name, region or cluster under Observe makes nothing, and says so', async () => {
    const before = await inventory(aws.moto)
    const kinds: Readonly<Record<string, string>> = {
      'eks.aws.crossplane.io/v1beta1 Cluster': '',
      'eks.aws.crossplane.io/v1alpha1 NodeGroup': 'clusterName: no-such-cluster',
      'autoscaling.aws.crossplane.io/v1beta1 AutoScalingGroup': '',
      'autoscaling.aws.crossplane.io/v1beta1 LaunchConfiguration': '',
      'dynamodb.aws.crossplane.io/v1alpha1 Table': '',
      'rds.aws.crossplane.io/v1alpha1 DBInstance': '',
      'rds.aws.crossplane.io/v1alpha1 DBSubnetGroup': '',
    }
    const objects = Object.entries(kinds).map(([named, more]) => {
      const [apiVersion, kind] = named.split(' ')
      return parse(`
apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: typo
spec:
  managementPolicies: [Observe]
  forProvider:
    region: ${region}
    ${more}
`)
    })
    await aws.apply(...objects)
    for (const object of objects) await aws.says(object, 'Synced', /external resource does not exist/)
    assert.deepEqual(await inventory(aws.moto), before)
    await cleanUp(objects)
  })
})
