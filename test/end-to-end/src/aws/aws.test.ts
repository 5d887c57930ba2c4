import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import {
  CreateTagsCommand,
  CreateVpcCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2'
import type { KubeObject } from '@crosstie/kube'
import { Moto, motoMissing } from '@crosstie/provider-aws/testing'
import { eventually } from '../support/claims-world.js'
import { fileOf, Program } from '../support/program.js'

const missing = await motoMissing()
const PATIENCE_MS = 300_000
const examples = fileOf('providers/aws/examples')

/** The AWS provider as users run it: the program, credentials in its environment, and manifests. */
describe('AWS on moto', { skip: missing ?? false, timeout: 1_800_000 }, () => {
  let moto: Moto
  let program: Program
  let ec2: EC2Client

  before(async () => {
    moto = await Moto.start()
    ec2 = moto.client(EC2Client, 'us-east-1')
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI-not-to-be-seen',
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL: moto.url,
    })
    program = await Program.up('--providers', 'aws')
  })

  after(async () => {
    await program?.[Symbol.asyncDispose]()
    await moto?.[Symbol.asyncDispose]()
  })

  const get = async (what: string): Promise<KubeObject> => JSON.parse(await program.ok('get', what, '-o', 'json'))
  const condition = (object: KubeObject, type: string) => {
    const { conditions = [] } = (object['status'] ?? {}) as { conditions?: { type: string; status: string }[] }
    return conditions.find((each) => each.type === type) as { status: string; message?: string } | undefined
  }
  const settled = async (what: string): Promise<KubeObject> =>
    await eventually(
      `${what} settles`,
      async () => {
        const object = await get(what)
        const is = (type: string) => condition(object, type)?.status === 'True'
        return is('Ready') && is('Synced') && object
      },
      PATIENCE_MS,
    )
  const apply = async (text: string): Promise<void> => {
    const { code, out, err } = await program.run(['apply', '-f', '-'], { input: text })
    assert.equal(code, 0, `${out}${err}`)
  }
  const atProvider = (object: KubeObject) => (object['status'] as { atProvider: Record<string, unknown> }).atProvider

  test('credentials of the environment become the ProviderConfig default, and it is said whose they are', async () => {
    const said = await program.plane!.says(/^ +aws +(.*)$/m, PATIENCE_MS)
    assert.match(said![1]!, /^AWS_ACCESS_KEY_ID: arn:aws:\S+ of account 123456789012, region eu-west-1/)
    const config = await get('providerconfig.aws.crossplane.io/default')
    assert.deepEqual(config['spec'], {
      credentials: { source: 'InjectedIdentity' },
      endpoint: { url: moto.url },
      region: 'eu-west-1',
    })
  })

  test('all examples become ready, and go again', async () => {
    const files = readdirSync(examples)
    assert.ok(files.length > 0)
    await eventually(
      'the kinds are served',
      async () => (await program.run(['apply', '--dry-run', '-f', examples])).code === 0,
      PATIENCE_MS,
    )
    await program.ok('apply', '-f', examples)
    await program.ok('wait', 'managed', '--for', 'condition=Ready', '--timeout', '8m')
    await program.ok('wait', 'managed', '--for', 'condition=Synced', '--timeout', '8m')
    const secret = await get('secret/example-bucket')
    const details = Object.entries(secret['data'] as Record<string, string>)
    const read = Object.fromEntries(details.map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]))
    assert.deepEqual(read, {
      endpoint: moto.url,
      region: 'eu-west-1',
      bucket: 'crosstie-example-bucket',
      arn: 'arn:aws:s3:::crosstie-example-bucket',
    })
    const table = atProvider(await get('routetable/example'))
    assert.equal((table['subnetIds'] as string[]).length, 2, 'both subnets, by their labels')
    await program.ok('delete', '-f', examples, '--timeout', '8m')
  })

  test('OBS1 a VPC that exists is observed by its name, read like a data source, and referred to', async () => {
    const made = await ec2.send(new CreateVpcCommand({ CidrBlock: '172.16.0.0/16' }))
    const vpcId = made.Vpc!.VpcId!
    await ec2.send(new CreateTagsCommand({ Resources: [vpcId], Tags: [{ Key: 'managed-by', Value: 'terraform' }] }))
    await apply(`
apiVersion: ec2.aws.crossplane.io/v1beta1
kind: VPC
metadata:
  name: existing-vpc
  annotations:
    crossplane.io/external-name: ${vpcId}
spec:
  managementPolicy: ObserveOnly
  forProvider:
    region: us-east-1
---
apiVersion: ec2.aws.crossplane.io/v1beta1
kind: Subnet
metadata:
  name: sample-subnet1
spec:
  forProvider:
    region: us-east-1
    availabilityZone: us-east-1b
    cidrBlock: 172.16.1.0/24
    vpcIdRef:
      name: existing-vpc
    mapPublicIpOnLaunch: true
`)
    const subnet = await settled('subnet/sample-subnet1')
    const vpc = await settled('vpc/existing-vpc')
    const { cidrBlock, enableDnsSupport, enableDnsHostnames, instanceTenancy, region, tags } = atProvider(vpc)
    assert.deepEqual(
      { cidrBlock, enableDnsSupport, enableDnsHostnames, instanceTenancy, region, tags },
      {
        cidrBlock: '172.16.0.0/16',
        enableDnsSupport: true,
        enableDnsHostnames: false,
        instanceTenancy: 'default',
        region: 'us-east-1',
        tags: { 'managed-by': 'terraform' },
      },
    )
    assert.deepEqual((vpc['spec'] as { forProvider: object }).forProvider, { region: 'us-east-1' }, 'POL6')
    const { Subnets = [] } = await ec2.send(
      new DescribeSubnetsCommand({ Filters: [{ Name: 'vpc-id', Values: [vpcId] }] }),
    )
    assert.deepEqual(
      Subnets.map(({ SubnetId, MapPublicIpOnLaunch }) => [SubnetId, MapPublicIpOnLaunch]),
      [[atProvider(subnet)['subnetId'], true]],
    )
  })

  test('OBS3 a typo in name or region under Observe makes nothing, and says what is missing', async () => {
    const count = async () => (await ec2.send(new DescribeVpcsCommand({}))).Vpcs!.length
    const before = await count()
    await apply(`
apiVersion: ec2.aws.crossplane.io/v1beta1
kind: VPC
metadata:
  name: typo
  annotations:
    crossplane.io/external-name: vpc-0f8da654a40cb68cc
spec:
  managementPolicies: [Observe]
  forProvider:
    region: us-east-1
`)
    const object = await eventually(
      'the typo is told',
      async () => {
        const found = await get('vpc/typo')
        return condition(found, 'Synced')?.status === 'False' && found
      },
      PATIENCE_MS,
    )
    assert.match(condition(object, 'Synced')!.message!, /external resource does not exist/)
    assert.equal(await count(), before)
  })

  test('INI3 tags that an outside system adds are left alone, ours are kept', async () => {
    const tagged = (annotations: Record<string, string>) => `
apiVersion: ec2.aws.crossplane.io/v1beta1
kind: VPC
metadata:
  name: tagged
  annotations: ${JSON.stringify(annotations)}
spec:
  forProvider:
    region: us-east-1
    cidrBlock: 10.9.0.0/16
    tags:
      team: net
  initProvider:
    tags:
      stage: first
`
    await apply(tagged({}))
    const vpcId = atProvider(await settled('vpc/tagged'))['vpcId'] as string
    const Tags = [
      { Key: 'cost-center', Value: '42' },
      { Key: 'stage', Value: 'second' },
      { Key: 'team', Value: 'somebody' },
    ]
    await ec2.send(new CreateTagsCommand({ Resources: [vpcId], Tags }))
    // The annotation triggers an immediate reconciliation. Tags from outside must survive it.
    await apply(tagged({ 'crossplane.io/reconcile-requested-at': new Date().toISOString() }))
    const tags = await eventually(
      'our tag is back and the others are as they were',
      async () => {
        const { Vpcs: [found] = [] } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [vpcId] }))
        const held = Object.fromEntries(found!.Tags!.map(({ Key, Value }) => [Key, Value]))
        return held['team'] === 'net' && held
      },
      PATIENCE_MS,
    )
    assert.equal(tags['cost-center'], '42')
    assert.equal(tags['stage'], 'second', 'what initProvider said was for the creation only')
    assert.equal(tags['crossplane-name'], 'tagged')
  })

  test('CLM1 a claim for a bucket gets one of S3, of the name it asks for, and the details to reach it', async () => {
    await apply(`
apiVersion: s3.aws.crossplane.io/v1beta1
kind: BucketClass
metadata:
  name: standard
  annotations:
    crossplane.io/external-name-prefix: acme-
    resourceclass.crossplane.io/is-default-class: "true"
specTemplate:
  writeConnectionSecretsToNamespace: default
  forProvider:
    region: eu-north-1
    versioningConfiguration:
      status: Enabled
---
apiVersion: storage.crossplane.io/v1alpha1
kind: Bucket
metadata:
  name: pictures
  namespace: default
spec:
  name: pictures
  predefinedACL: Private
  writeConnectionSecretToRef:
    name: pictures
`)
    await program.ok('wait', 'buckets.storage.crossplane.io/pictures', '--for', 'condition=Ready', '--timeout', '8m')
    const { data } = (await get('secret/pictures')) as unknown as { data: Record<string, string> }
    const detail = (name: string) => Buffer.from(data[name]!, 'base64').toString()
    assert.deepEqual(['bucket', 'region', 'arn'].map(detail), [
      'acme-pictures',
      'eu-north-1',
      'arn:aws:s3:::acme-pictures',
    ])
    await program.ok('delete', 'buckets.storage.crossplane.io/pictures', '--timeout', '8m')
  })

  test('no secret is in what was said or kept', async () => {
    const { output, errors } = program.plane!
    const events = await program.ok('get', 'events', '-A', '-o', 'json')
    const managed = await program.ok('get', 'managed', '-o', 'json')
    for (const text of [output, errors, events, managed]) assert.ok(!text.includes('not-to-be-seen'))
  })
})
