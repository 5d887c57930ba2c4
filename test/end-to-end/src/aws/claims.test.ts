import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DescribeNodegroupCommand, EKSClient, ListNodegroupsCommand } from '@aws-sdk/client-eks'
import { DescribeDBInstancesCommand, RDSClient } from '@aws-sdk/client-rds'
import type { KubeObject } from '@crosstie/kube'
import { provider } from '@crosstie/provider-aws'
import { motoMissing } from '@crosstie/provider-aws/testing'
import { aggregateType } from '@crosstie/resources'
import { load } from 'js-yaml'
import { specOf, statusOf } from '../claims/kinds.js'
import { AwsWorld, inventory, manifest, region } from './world.js'

const missing = await motoMissing()

describe('claims on AWS', { skip: missing ?? false, timeout: 900_000 }, () => {
  let aws: AwsWorld
  let empty: Awaited<ReturnType<typeof inventory>>

  before(async () => {
    aws = await AwsWorld.open()
    empty = await inventory(aws.moto)
  })
  after(async () => {
    await aws?.[Symbol.asyncDispose]()
  })

  /** Returns all managed resources that were created for a claim. */
  const partsOf = async (claim: KubeObject): Promise<readonly KubeObject[]> => {
    const uid = (await aws.read(claim))!.metadata.uid
    const found = provider.kinds.map(({ type }) => aws.world.list(type, `resourceclaim.crossplane.io/uid=${uid}`))
    return (await Promise.all(found)).flat()
  }
  const kindsOf = (parts: readonly KubeObject[]) => parts.map(({ kind }) => kind).sort()
  const leavesNothing = async (was: typeof empty) => assert.deepEqual(await inventory(aws.moto), was)

  test('AGG11 CLM4 MySQLInstance and PostgreSQLInstance are servers of RDS with subnets and a security group of their own', async () => {
    const network = await manifest('examples/aws-database/network.yaml')
    await aws.apply(...network)
    const managed = network.filter(({ kind }) => kind !== 'Namespace')
    for (const object of managed) await aws.ready(object)
    const before = await inventory(aws.moto)

    const claims: KubeObject[] = []
    for (const name of ['mysql', 'postgresql']) {
      const [claim] = await manifest(`examples/aws-database/${name}-claim.yaml`)
      claims.push(claim!)
      // The claim is created first and waits for its class.
      await aws.apply(claim!, ...(await manifest(`examples/aws-database/${name}-class.yaml`)))
    }
    const rds = aws.moto.client(RDSClient, region)
    for (const claim of claims) {
      const bound = await aws.ready(claim)
      assert.equal(statusOf(bound).bindingPhase, 'Bound')
      assert.equal(specOf(bound).resourceRef.kind, aggregateType.kind)
      const parts = await partsOf(claim)
      assert.deepEqual(kindsOf(parts), ['DBInstance', 'DBSubnetGroup', 'SecurityGroup'])
      const part = (kind: string) => parts.find((each) => each.kind === kind)!
      const external = (kind: string) => part(kind).metadata.annotations!['crossplane.io/external-name']!

      const DBInstanceIdentifier = external('DBInstance')
      const { DBInstances: [server] = [] } = await rds.send(new DescribeDBInstancesCommand({ DBInstanceIdentifier }))
      assert.equal(server!.DBSubnetGroup?.DBSubnetGroupName, external('DBSubnetGroup'))
      assert.deepEqual(
        server!.VpcSecurityGroups?.map(({ VpcSecurityGroupId }) => VpcSecurityGroupId),
        [external('SecurityGroup')],
      )
      assert.equal(server!.Engine, claim.kind === 'MySQLInstance' ? 'mysql' : 'postgres')
      const { groupName } = specOf(part('SecurityGroup')).forProvider
      assert.match(groupName, new RegExp(`^default-${claim.metadata.name}-`), 'named after its claim')

      const secret = await aws.secret('default', claim.metadata.name!)
      assert.equal(secret['endpoint'], server!.Endpoint!.Address)
      assert.equal(secret['port'], String(server!.Endpoint!.Port))
      assert.equal(secret['username'], 'keeper')
      assert.equal(secret['database'], 'app')
      assert.match(secret['password']!, /^[A-Za-z0-9]{27}$/, 'MR9 made up')
      const everywhere = JSON.stringify([await Promise.all(parts.map((each) => aws.read(each))), aws.crew.events])
      assert.ok(!everywhere.includes(secret['password']!), 'and seen nowhere else')
    }
    const passwords = await Promise.all(claims.map(async ({ metadata }) => aws.secret('default', metadata.name!)))
    assert.notEqual(passwords[0]!['password'], passwords[1]!['password'])

    await aws.remove(...claims)
    await aws.gone(...claims)
    await leavesNothing(before)
    await aws.remove(...managed)
    await aws.gone(...managed)
    await leavesNothing(empty)
  })

  test('CLM6 a claim that its class cannot meet is told why, and nothing is made', async () => {
    const claim = load(`
apiVersion: database.crossplane.io/v1alpha1
kind: MySQLInstance
metadata: { namespace: default, name: old }
spec:
  engineVersion: "5.7"
  classSelector: { matchLabels: { engine: mysql } }
`) as KubeObject
    const wrong = load(`
apiVersion: database.crossplane.io/v1alpha1
kind: MySQLInstance
metadata: { namespace: default, name: wrong }
spec:
  classSelector: { matchLabels: { engine: postgres } }
`) as KubeObject
    await aws.apply(claim, wrong)
    const says = (object: KubeObject, words: RegExp) =>
      aws.until(`says ${words}`, object, (found) => words.test(JSON.stringify(statusOf(found))))
    await says(claim, /the claim asks for version 5\.7, but DBInstanceClass rds-mysql is for version 8\.0/)
    await says(wrong, /DBInstanceClass rds-postgres makes databases of engine postgres, not of mysql or mariadb/)
    assert.deepEqual(await partsOf(claim), [])
    await aws.remove(claim, wrong)
    await aws.gone(claim, wrong)
    await leavesNothing(empty)
  })

  test('AGG6 AGG11 KubernetesCluster is a cluster of EKS with two groups of nodes and their roles in a new network', async () => {
    const [claim] = await manifest('examples/aws-cluster/claim.yaml')
    await aws.apply(claim!, ...(await manifest('examples/aws-cluster/infrastructure.yaml')).toReversed())
    const bound = await aws.ready(claim!)
    assert.equal(statusOf(bound).bindingPhase, 'Bound')
    const parts = await partsOf(claim!)
    assert.deepEqual(kindsOf(parts), [
      'Cluster',
      'NodeGroup',
      'NodeGroup',
      'Role',
      'Role',
      'Role',
      'Subnet',
      'Subnet',
      'VPC',
    ])
    const of = (kind: string) => parts.filter((each) => each.kind === kind)
    const external = ({ metadata }: KubeObject) => metadata.annotations!['crossplane.io/external-name']!
    const byClass = (kind: string, name: string) => of(kind).find((each) => specOf(each).classRef.name === name)!

    const eks = aws.moto.client(EKSClient, region)
    const clusterName = external(of('Cluster')[0]!)
    const { nodegroups = [] } = await eks.send(new ListNodegroupsCommand({ clusterName }))
    assert.deepEqual(nodegroups.toSorted(), of('NodeGroup').map(external).sort())
    for (const pool of ['own-cluster-steady', 'own-cluster-spare']) {
      const nodegroupName = external(byClass('NodeGroup', pool))
      const { nodegroup } = await eks.send(new DescribeNodegroupCommand({ clusterName, nodegroupName }))
      assert.equal(nodegroup!.nodeRole, statusOf(byClass('Role', pool)).atProvider.arn, 'each has its own role')
      assert.deepEqual(nodegroup!.subnets?.toSorted(), of('Subnet').map(external).sort(), 'in both subnets')
      assert.deepEqual(nodegroup!.scalingConfig, { minSize: 1, maxSize: 5, desiredSize: 1 })
    }

    const secret = await aws.secret('default', 'team')
    assert.deepEqual(Object.keys(secret).sort(), ['clusterCA', 'endpoint', 'kubeconfig'])
    const kubeconfig = load(secret['kubeconfig']!) as {
      clusters: { cluster: { server: string; 'certificate-authority-data': string } }[]
      users: { user: { exec: { command: string; args: string[] } } }[]
    }
    const { server, 'certificate-authority-data': authority } = kubeconfig.clusters[0]!.cluster
    assert.equal(server, secret['endpoint'])
    assert.equal(Buffer.from(authority, 'base64').toString(), secret['clusterCA'])
    const { command, args } = kubeconfig.users[0]!.user.exec
    assert.deepEqual(
      [command, ...args],
      ['aws', '--region', region, 'eks', 'get-token', '--cluster-name', clusterName, '--output', 'json'],
    )

    await aws.remove(claim!)
    await aws.gone(claim!)
    await leavesNothing(empty)
  })
})
