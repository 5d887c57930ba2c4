import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Server, startServer } from '@crosstie/apiserver'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { provider as aws } from '@crosstie/provider-aws'
import { provider as kubernetes } from '@crosstie/provider-kubernetes'
import { provider as nop } from '@crosstie/provider-nop'
import { provider as sql } from '@crosstie/provider-sql'
import type { ManagedKind } from '@crosstie/resources'
import { eventually } from '../support/claims-world.js'
import { crdType } from '../support/plane.js'

/**
 * Fields that are required only to manage a resource (POL10): the rules of every generated CRD, on a running
 * server.
 */

type Values = Readonly<Record<string, unknown>>

interface Row {
  /** The identifiers, which every object must have. */
  readonly identifiers?: Values
  /** The other fields that a managing object must have, one entry for each rule. */
  readonly required?: Values
  /** Alternatives to a field, by field. */
  readonly instead?: Readonly<Record<string, readonly Values[]>>
}

const region = { region: 'eu-west-1' }
const ref = { name: 'x' }

/** Rows by group and kind. The test fails for a missing kind. */
const rows: Readonly<Record<string, Row>> = {
  'ec2.aws.crossplane.io/VPC': {
    identifiers: region,
    required: { cidrBlock: '10.0.0.0/16' },
    instead: { cidrBlock: [{ ipv4IpamPoolId: 'ipam-1' }] },
  },
  'ec2.aws.crossplane.io/Subnet': {
    identifiers: region,
    required: { vpcId: 'vpc-1', cidrBlock: '10.0.0.0/24' },
    instead: {
      vpcId: [{ vpcIdRef: ref }, { vpcIdSelector: { matchLabels: { a: 'b' } } }],
      cidrBlock: [{ ipv4IpamPoolId: 'ipam-1' }, { ipv6Native: true }],
    },
  },
  'ec2.aws.crossplane.io/SecurityGroup': { identifiers: region, required: { groupName: 'web', description: 'web' } },
  'ec2.aws.crossplane.io/InternetGateway': { identifiers: region },
  'ec2.aws.crossplane.io/RouteTable': {
    identifiers: region,
    required: { vpcId: 'vpc-1' },
    instead: { vpcId: [{ vpcIdRef: ref }] },
  },
  'iam.aws.crossplane.io/Role': { required: { assumeRolePolicyDocument: '{}' } },
  's3.aws.crossplane.io/Bucket': { identifiers: region },
  'autoscaling.aws.crossplane.io/LaunchConfiguration': {
    identifiers: region,
    required: { imageId: 'ami-1', instanceType: 't3.micro' },
    instead: { imageId: [{ instanceId: 'i-1' }], instanceType: [{ instanceId: 'i-1' }] },
  },
  'autoscaling.aws.crossplane.io/AutoScalingGroup': {
    identifiers: region,
    required: { minSize: 0, maxSize: 1, launchConfigurationName: 'web', vpcZoneIdentifier: ['subnet-1'] },
    instead: {
      launchConfigurationName: [
        { launchConfigurationNameRef: ref },
        { launchTemplate: { launchTemplateId: 'lt-1' } },
        { mixedInstancesPolicy: {} },
        { instanceId: 'i-1' },
      ],
      vpcZoneIdentifier: [{ availabilityZones: ['eu-west-1a'] }, { availabilityZoneIds: ['euw1-az1'] }],
    },
  },
  'dynamodb.aws.crossplane.io/Table': {
    identifiers: region,
    required: {
      attributeDefinitions: [{ attributeName: 'id', attributeType: 'S' }],
      keySchema: [{ attributeName: 'id', keyType: 'HASH' }],
    },
    instead: {
      attributeDefinitions: [{ globalTableSourceArn: 'arn:aws:dynamodb:eu-west-1:1:table/t' }],
      keySchema: [{ globalTableSourceArn: 'arn:aws:dynamodb:eu-west-1:1:table/t' }],
    },
  },
  'eks.aws.crossplane.io/Cluster': {
    identifiers: region,
    required: { roleArn: 'arn:aws:iam::1:role/eks', resourcesVpcConfig: { subnetIds: ['subnet-1'] } },
    instead: { roleArn: [{ roleArnRef: ref }] },
  },
  'eks.aws.crossplane.io/NodeGroup': {
    identifiers: { ...region, clusterName: 'shop' },
    required: { subnets: ['subnet-1'], nodeRole: 'arn:aws:iam::1:role/node' },
    instead: { nodeRole: [{ nodeRoleRef: ref }] },
  },
  'rds.aws.crossplane.io/DBSubnetGroup': {
    identifiers: region,
    required: { dbSubnetGroupDescription: 'databases', subnetIds: ['subnet-1'] },
  },
  'rds.aws.crossplane.io/DBInstance': {
    identifiers: region,
    required: { dbInstanceClass: 'db.t4g.micro', engine: 'postgres', allocatedStorage: 20, masterUsername: 'keeper' },
    instead: {
      allocatedStorage: [{ dbClusterIdentifier: 'aurora' }],
      masterUsername: [{ dbClusterIdentifier: 'aurora' }],
    },
  },
  'postgresql.sql.crossplane.io/Database': {},
  'postgresql.sql.crossplane.io/Role': {},
  'postgresql.sql.crossplane.io/Grant': {
    required: { role: 'app', privileges: ['CONNECT'] },
    instead: {
      role: [{ roleRef: ref }],
      privileges: [{ memberOf: 'admins' }, { memberOfRef: ref }, { memberOfSelector: { matchLabels: { a: 'b' } } }],
    },
  },
  'postgresql.sql.crossplane.io/Schema': {},
  'postgresql.sql.crossplane.io/Extension': {},
  'kubernetes.crossplane.io/Object': { required: { manifest: { apiVersion: 'v1', kind: 'ConfigMap' } } },
  'nop.crossplane.io/NopResource': {},
}

const kinds: readonly ManagedKind[] = [aws, sql, kubernetes, nop].flatMap((provider) => provider.kinds)
const nameOf = ({ type }: ManagedKind) => `${type.group}/${type.kind}`

let server: Server
let dataDir: string

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'crosstie-required-'))
  server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const client = server.client()
  for (const kind of kinds) await client.create(crdType, kind.crd())
  await eventually('all kinds are served', async () => {
    const { items } = await client.list(crdType)
    return items.every((crd) =>
      conditionsOf(crd).some(({ type, status }) => type === 'Established' && status === 'True'),
    )
  })
})
after(async () => {
  await server?.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** Returns the error message for an object, or undefined if the server accepts it. Nothing is stored. */
async function refusal({ type }: ManagedKind, spec: object): Promise<string | undefined> {
  const object: KubeObject = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'x' }, spec }
  return await server
    .client()
    .create(type, object, { dryRun: true })
    .then(
      () => undefined,
      (error: Error) => error.message,
    )
}

const without = (values: Values, name: string): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key !== name))

test('POL10 every kind has a row', () => {
  assert.deepEqual(kinds.map(nameOf).sort(), Object.keys(rows).sort())
})

for (const kind of kinds) {
  const { identifiers = {}, required = {}, instead = {} } = rows[nameOf(kind)] ?? {}

  test(`POL10 ${kind.type.kind}: each required field is required to manage and not to observe`, async () => {
    const all = { ...identifiers, ...required }
    assert.equal(await refusal(kind, { forProvider: all }), undefined)
    for (const name of Object.keys(required)) {
      const forProvider = without(all, name)
      const said = await refusal(kind, { forProvider })
      assert.match(said ?? 'accepted', new RegExp(`spec\\.forProvider\\.${name} is a required parameter`))
      for (const managementPolicies of [['Create'], ['Observe', 'Update']])
        assert.notEqual(await refusal(kind, { forProvider, managementPolicies }), undefined, `${name} is not needed`)
      const initProvider = { [name]: required[name] }
      assert.equal(await refusal(kind, { forProvider, initProvider }), undefined, `initProvider.${name}`)
      for (const other of instead[name] ?? [])
        assert.equal(
          await refusal(kind, { forProvider: { ...forProvider, ...other } }),
          undefined,
          JSON.stringify(other),
        )
    }
    for (const managementPolicies of [['Observe'], ['Observe', 'Delete'], ['Observe', 'LateInitialize'], []])
      assert.equal(await refusal(kind, { forProvider: identifiers, managementPolicies }), undefined)
    for (const name of Object.keys(identifiers))
      assert.notEqual(
        await refusal(kind, { forProvider: without(identifiers, name), managementPolicies: ['Observe'] }),
        undefined,
        `an object can be observed without ${name}`,
      )
  })
}
