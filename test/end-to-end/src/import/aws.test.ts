import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  AttachInternetGatewayCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateInternetGatewayCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeVpcsCommand,
  EC2Client,
  type ResourceType,
} from '@aws-sdk/client-ec2'
import { CreateClusterCommand, CreateNodegroupCommand, EKSClient } from '@aws-sdk/client-eks'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import type { KubeObject } from '@crosstie/kube'
import { provider } from '@crosstie/provider-aws'
import { Moto, motoMissing } from '@crosstie/provider-aws/testing'
import { Imagination, plan } from '@crosstie/resources'
import { eventually } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { fileOf, Program } from '../support/program.js'
import { CountingProxy } from './counting.js'

/** The number of resources to import. `CROSSTIE_IMPORT=1000` takes minutes. */
const COUNT = Number(process.env['CROSSTIE_IMPORT'] ?? 60)
const OF_EACH_VPC = 10
const region = 'eu-west-1'

const missing = await motoMissing()
const surroundings = { environment: {}, readFile: async () => '' }

describe('import of what exists on AWS', { skip: missing ?? false }, () => {
  let moto: Moto
  let proxy: CountingProxy
  let program: Program
  let made = 0

  before(async () => {
    moto = await Moto.start()
    proxy = await CountingProxy.before(moto.url)
    made = await networks(moto.client(EC2Client, region), Math.ceil((0.9 * COUNT) / OF_EACH_VPC))
    made += await cluster(moto.client(EKSClient, region))
    made += await tables(moto.client(DynamoDBClient, region), COUNT - made)
    program = await Program.up('--providers', 'aws')
    const manifests = join(program.folder, 'config.yaml')
    await writeFile(manifests, configFor(proxy.url))
    await program.ok('apply', '-f', manifests)
  })
  after(async () => {
    await program?.[Symbol.asyncDispose]()
    await moto?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
  })

  const discover = (...more: readonly string[]) =>
    program.run(['discover', 'aws', 'all', '--region', region, '--filter', 'tags.team=payments', ...more])

  test('OBS2 MR13 all of it is observed, then managed, and ownership tags are all that changes outside', async () => {
    const { code, out, err } = await discover('-o', 'imported/')
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`${made} manifests`))
    const listing = proxy.clear()
    await program.ok('apply', '-f', 'imported/')
    const shown = await program.run(['promote', '-f', 'imported/', '--dry-run', '--timeout', '5m'])
    assert.equal(shown.code, 0, shown.err)
    assert.equal(
      shown.out.match(/external resource tags\.crossplane-name:/g)?.length,
      made - nodeGroups.length,
      'the plan shows the tags',
    )
    assert.deepEqual(proxy.writes, [], 'observing and a dry run write nothing')
    const promoted = await program.run(['promote', '-f', 'imported/', '--timeout', '5m'])
    assert.equal(promoted.code, 0, promoted.err)
    assert.match(promoted.out, new RegExp(`${made} promoted, 0 managed already, 0 refused`))
    const promoting = proxy.total

    using client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    const kinds = new Set<string>()
    let planned = 0
    for (const kind of provider.kinds) {
      const { items } = await client.list(kind.type)
      for (const { metadata } of items) {
        const subject = { kind, key: { name: metadata.name! } }
        const label = `${kind.type.kind} ${metadata.name}`
        await eventually(`${label} has its tags`, async () => tagsOf(await client.get(kind.type, subject.key)), 180_000)
        const options = { world: new Imagination(client), surroundings }
        const [resource] = (await plan(options, [subject], AbortSignal.timeout(120_000))).resources
        assert.deepEqual([resource!.outcome, resource!.steps], ['none', []], label)
        kinds.add(kind.type.kind)
        planned++
      }
    }
    assert.equal(planned, made)
    assert.ok(kinds.size >= 8, [...kinds].join())
    assert.deepEqual(withoutTagging(proxy), [], 'tags are all that was written')
    const vpcs = await moto.client(EC2Client, region).send(new DescribeVpcsCommand({}))
    const ours = vpcs.Vpcs!.filter(({ Tags = [] }) => Tags.some(({ Key }) => Key === 'team'))
    assert.ok(ours.length > 0)
    for (const { Tags = [] } of ours) {
      const kept = Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]))
      assert.equal(kept['team'], 'payments', 'tags of others stay')
      assert.equal(kept['crossplane-kind'], 'vpc.ec2.aws.crossplane.io')
      assert.ok(kept['crossplane-name'])
      assert.equal(kept['crosstie-uid'], undefined, 'the proof of a create is not written to what others created')
    }
    console.log(
      `# ${made} resources of ${kinds.size} kinds: ${listing} calls to list, ${(promoting / made).toFixed(1)} calls for each to observe, promote and settle`,
    )
  })

  test('OBS2 references lead to what was found, and a second run finds nothing new', async () => {
    const again = await discover('-o', 'json')
    const { resources } = JSON.parse(again.out) as { resources: readonly { object?: { manages: boolean } }[] }
    assert.equal(resources.length, made)
    assert.ok(resources.every(({ object }) => object?.manages))
    using client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    const of = async (name: string) => {
      const kind = provider.kinds.find(({ type }) => type.kind === name)!
      return (await client.list(kind.type)).items
    }
    const vpcs = new Map((await of('VPC')).map((object) => [object.metadata.name, externalName(object)]))
    const subnets = await of('Subnet')
    assert.ok(subnets.length > 0)
    for (const subnet of subnets) {
      const { forProvider } = subnet['spec'] as { forProvider: { vpcId: string; vpcIdRef: { name: string } } }
      assert.equal(vpcs.get(forProvider.vpcIdRef.name), forProvider.vpcId)
      assert.equal(condition(subnet, 'Ready')?.status, 'True')
    }
    const resumed = await program.run(['promote', '-f', 'imported/'])
    assert.match(resumed.out, new RegExp(`0 promoted, ${made} managed already, 0 refused`))
    assert.deepEqual(withoutTagging(proxy), [])
  })

  test('OBS3 typing errors are told of, and create nothing', async () => {
    const typo = join(program.folder, 'typo.yaml')
    await writeFile(typo, observed('typo', 'vpc-00000000000000000', region))
    await program.ok('apply', '-f', typo)
    const refused = await program.run(['promote', '-f', typo, '--timeout', '5m'])
    assert.equal(refused.code, 1)
    assert.match(refused.out, /typo refused: its external resource is not seen .*check the external name/)
    const field = await program.run(['discover', 'aws', 'vpc', '--region', region, '--filter', 'tag.team=payments'])
    assert.equal(field.code, 2)
    assert.match(field.err, /VPC has no field 'tag' to filter by: choose from externalName, name, region/)
    const kind = await program.run(['discover', 'aws', 'vpx', '--region', region])
    assert.equal(kind.code, 2)
    assert.match(kind.err, /unknown managed kind 'vpx'/)
    const nowhere = await program.run(['discover', 'aws', 'vpc'])
    assert.equal(nowhere.code, 2)
    assert.match(nowhere.err, /VPC is looked for by region: say --region NAME/)
    assert.deepEqual(withoutTagging(proxy), [])
  })

  test('OBS1 OBS4 the example: what others manage is referred to and queried, and stays when that ends', async () => {
    using client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
    const kindOf = (name: string) => provider.kinds.find(({ type }) => type.kind === name)!
    const vpc = kindOf('VPC')
    const ec2 = moto.client(EC2Client, region)
    const there = async () =>
      ((await ec2.send(new DescribeVpcsCommand({}))).Vpcs ?? []).map(({ VpcId }) => VpcId).sort()
    const before = await there()
    const made = await ec2.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }))
    const { VpcId = '' } = made.Vpc!
    const manifests = join(program.folder, 'observe.yaml')
    const files = await Promise.all(['vpc.yaml', 'subnet.yaml', 'query.yaml'].map((file) => exampleOf(file, VpcId)))
    await writeFile(manifests, files.join('---\n'))
    await program.ok('apply', '-f', manifests)
    await program.ok('wait', 'subnet/ours', 'vpc/existing', '--for', 'condition=Ready', '--timeout', '180s')
    const { query } = vpc
    const networks = (await client.list(vpc.type)).items.filter(({ metadata }) => metadata.name!.startsWith('net-'))
    const shown = await eventually(
      'the query shows every network',
      async () => {
        const { status } = await client.get(query!.type, { name: 'payments' })
        const { matches = [] } = (status ?? {}) as { matches?: { externalName: string }[] }
        return matches.length === networks.length && matches
      },
      180_000,
    )
    assert.deepEqual(shown.map((match) => match.externalName).sort(), networks.map(externalName).sort())
    await program.ok('delete', 'vpcquery/payments', 'vpc/existing', '--timeout', '180s')
    await eventually(
      'what the query owned is gone',
      async () => (await client.list(vpc.type, { labelSelector: 'team=payments' })).items.length === 0,
      180_000,
    )
    assert.deepEqual(await there(), [...before, VpcId].sort())
    assert.deepEqual(withoutTagging(proxy), ['CreateSubnet'], 'the subnet is all that was created')
  })
})

/** Returns the writes of the control plane, except those that tag a resource. */
const withoutTagging = ({ writes }: CountingProxy) =>
  writes.filter((name) => !/^(CreateTags|TagResource|POST \/tags\/)/.test(name))

/** Returns the ownership tag in the status of an object. */
const tagsOf = ({ status }: KubeObject): string | undefined =>
  (status as { atProvider?: { tags?: Record<string, string> } } | undefined)?.atProvider?.tags?.['crossplane-name']

/** Returns a file of the example, adapted to the existing network. */
async function exampleOf(file: string, id: string): Promise<string> {
  const text = await readFile(fileOf(`examples/observe-existing/${file}`), 'utf8')
  return text.replace('vpc-0123456789abcdef0', id).replace('refreshInterval: 1m', 'refreshInterval: 2s')
}

const externalName = ({ metadata }: KubeObject) => metadata.annotations?.['crossplane.io/external-name']

/** Creates networks like a team without Crosstie. Returns the number of resources with the tag of the team. */
async function networks(ec2: EC2Client, count: number): Promise<number> {
  let made = 0
  const tagged = (type: ResourceType, name: string) => {
    made++
    const Tags = [
      { Key: 'team', Value: 'payments' },
      { Key: 'Name', Value: name },
    ]
    return { TagSpecifications: [{ ResourceType: type, Tags }] }
  }
  for (let i = 0; i < count; i++) {
    const CidrBlock = `10.${i % 256}.0.0/16`
    const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock, ...tagged('vpc', `net ${i}`) }))
    const VpcId = Vpc!.VpcId!
    const gateway = await ec2.send(new CreateInternetGatewayCommand(tagged('internet-gateway', `gateway ${i}`)))
    const { InternetGatewayId } = gateway.InternetGateway!
    await ec2.send(new AttachInternetGatewayCommand({ VpcId, InternetGatewayId }))
    for (let n = 0; n < 3; n++) {
      const block = `10.${i % 256}.${n}.0/24`
      await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock: block, ...tagged('subnet', 'private') }))
      const names = { GroupName: `group-${n}`, Description: 'what may come in' }
      const group = await ec2.send(
        new CreateSecurityGroupCommand({ VpcId, ...names, ...tagged('security-group', 'web') }),
      )
      const IpPermissions = [
        { IpProtocol: 'tcp', FromPort: 443, ToPort: 443 + n, IpRanges: [{ CidrIp: '10.0.0.0/8' }] },
      ]
      await ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: group.GroupId, IpPermissions }))
    }
    for (let n = 0; n < 2; n++) {
      await ec2.send(new CreateRouteTableCommand({ VpcId, ...tagged('route-table', `routes ${n}`) }))
    }
  }
  return made
}

async function tables(dynamo: DynamoDBClient, count: number): Promise<number> {
  const made = Math.max(1, count)
  for (let i = 0; i < made; i++) {
    await dynamo.send(
      new CreateTableCommand({
        TableName: `Orders_${i}`,
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        ProvisionedThroughput: { ReadCapacityUnits: 1 + i, WriteCapacityUnits: 1 },
        Tags: [{ Key: 'team', Value: 'payments' }],
      }),
    )
  }
  return made
}

const nodeGroups = ['small', 'large']
const formerOwner = { 'crossplane-name': 'former' }

/** Creates a cluster with two node groups, which are listed by the name of the cluster. */
async function cluster(eks: EKSClient): Promise<number> {
  const tags = { team: 'payments' }
  const roleArn = 'arn:aws:iam::123456789012:role/eks'
  const resourcesVpcConfig = { subnetIds: ['subnet-0001', 'subnet-0002'] }
  await eks.send(new CreateClusterCommand({ name: 'shop', roleArn, resourcesVpcConfig, tags }))
  // Moto cannot change tags of node groups. Those with tags of another owner keep them.
  const nodes = { clusterName: 'shop', nodeRole: roleArn, subnets: ['subnet-0001'], tags: { ...tags, ...formerOwner } }
  for (const nodegroupName of nodeGroups) await eks.send(new CreateNodegroupCommand({ ...nodes, nodegroupName }))
  return 3
}

function observed(name: string, id: string, where: string): string {
  return `apiVersion: ec2.aws.crossplane.io/v1beta1
kind: VPC
metadata:
  name: ${name}
  annotations:
    crossplane.io/external-name: ${id}
spec:
  managementPolicies: ["Observe"]
  forProvider:
    region: ${where}
`
}

function configFor(url: string): string {
  return `apiVersion: v1
kind: Secret
metadata:
  name: aws
  namespace: default
stringData:
  credentials: |
    [default]
    aws_access_key_id = AKIAIOSFODNN7EXAMPLE
    aws_secret_access_key = not-checked-by-moto
---
apiVersion: aws.crossplane.io/v1beta1
kind: ProviderConfig
metadata:
  name: default
spec:
  credentials:
    source: Secret
    secretRef:
      name: aws
      namespace: default
      key: credentials
  endpoint:
    url: ${url}
`
}
