import { readFile } from 'node:fs/promises'
import {
  AutoScalingClient,
  DescribeAutoScalingGroupsCommand,
  DescribeLaunchConfigurationsCommand,
} from '@aws-sdk/client-auto-scaling'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import {
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2'
import { EKSClient, ListClustersCommand } from '@aws-sdk/client-eks'
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam'
import { DescribeDBInstancesCommand, DescribeDBSubnetGroupsCommand, RDSClient } from '@aws-sdk/client-rds'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { apiVersionOf, type KubeObject, parseApiVersion, type ResourceType } from '@crosstie/kube'
import { provider } from '@crosstie/provider-aws'
import { Moto } from '@crosstie/provider-aws/testing'
import { aggregateClassType, aggregateType, claimKinds } from '@crosstie/resources'
import { loadAll } from 'js-yaml'
import { type Crew, eventually, namespaceType, World } from '../support/claims-world.js'
import { condition } from '../support/plane.js'
import { fileOf } from '../support/program.js'

/** The region of the tests. */
export const region = 'eu-west-1'

/** The resource type of Secrets. */
export const secretType: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
}

const PATIENCE_MS = 120_000

/** Moto shows created resources immediately, so that the delay for a slower cloud is unnecessary. */
const kinds = provider.kinds.map((kind) => ({ ...kind, consistencySeconds: 0 }))

/** An embedded server with all AWS kinds, their controllers, and a moto server that a ProviderConfig refers to. */
export class AwsWorld implements AsyncDisposable {
  private constructor(
    readonly moto: Moto,
    readonly world: World,
    readonly crew: Crew,
  ) {}

  static async open(): Promise<AwsWorld> {
    const moto = await Moto.start()
    try {
      const world = await World.embedded({ bindings: provider.bindings ?? [], managed: kinds })
      const aws = new AwsWorld(moto, world, world.start())
      await aws.#configure()
      return aws
    } catch (error) {
      await moto[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Creates a Secret with credentials, and the default ProviderConfig. */
  async #configure(): Promise<void> {
    const { spec, credentials } = this.moto.config()
    const [namespace, name, key] = ['crossplane-system', 'aws', 'credentials']
    await this.world.client.create(secretType, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      data: { [key]: Buffer.from(credentials ?? '').toString('base64') },
    })
    const { type } = provider.kinds[0]!.providerConfig!
    await this.world.client.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name: 'default' },
      spec: { ...spec, credentials: { source: 'Secret', secretRef: { namespace, name, key } } },
    })
  }

  typeOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): ResourceType {
    const { group } = parseApiVersion(apiVersion)!
    const found = types.find((type) => type.kind === kind && type.group === group)
    if (!found) throw new Error(`there is no kind ${kind} of ${apiVersion} here`)
    return found
  }

  /** Creates or updates objects. */
  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const metadata = { ...object.metadata, name: object.metadata.name! }
      await this.world.client.apply(this.typeOf(object), { ...object, metadata }, { fieldManager: 'test', force: true })
    }
  }

  async read(object: KubeObject): Promise<KubeObject | undefined> {
    return await this.world.find(this.typeOf(object), object.metadata.name!, object.metadata.namespace)
  }

  /** Waits until a predicate holds for the object. On timeout the error contains the status of the object. */
  async until(
    what: string,
    object: KubeObject,
    holds: (found: KubeObject) => boolean | Promise<boolean>,
  ): Promise<KubeObject> {
    try {
      return await eventually(
        `${object.kind} ${object.metadata.name} ${what}`,
        async () => {
          const found = await this.read(object)
          return found && (await holds(found)) ? found : undefined
        },
        PATIENCE_MS,
      )
    } catch (error) {
      throw new Error(`${error}: ${JSON.stringify((await this.read(object))?.['status'])}`)
    }
  }

  async ready(object: KubeObject): Promise<KubeObject> {
    return await this.until('is ready', object, (found) => {
      const synced = condition(found, 'Synced')
      return condition(found, 'Ready')?.status === 'True' && (!synced || synced.status === 'True')
    })
  }

  /** Waits until the message of a condition matches. */
  async says(object: KubeObject, type: string, words: RegExp): Promise<KubeObject> {
    return await this.until(`says ${words}`, object, (found) => words.test(condition(found, type)?.message ?? ''))
  }

  async merge(object: KubeObject, patch: object): Promise<void> {
    const { name, namespace } = object.metadata
    const key = { name: name!, ...(namespace ? { namespace } : {}) }
    await this.world.client.patch(this.typeOf(object), key, { type: 'merge', patch: patch as never })
  }

  async remove(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const { name, namespace } = object.metadata
      await this.world.client.delete(this.typeOf(object), { name: name!, ...(namespace ? { namespace } : {}) })
    }
  }

  async gone(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const what = `${object.kind} ${object.metadata.name} is gone`
      await eventually(what, async () => !(await this.read(object)), PATIENCE_MS).catch(async (error) => {
        throw new Error(`${error}: ${JSON.stringify((await this.read(object))?.['status'])}`)
      })
    }
  }

  /** Returns the decoded data of a Secret. */
  async secret(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
    const found = await eventually(
      `Secret ${namespace}/${name} is there`,
      () => this.world.find(secretType, name, namespace),
      PATIENCE_MS,
    )
    const data = (found['data'] ?? {}) as Readonly<Record<string, string>>
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
    await this.moto[Symbol.asyncDispose]()
  }
}

const types: readonly ResourceType[] = [
  ...provider.kinds.flatMap(({ type, classType, providerConfig }) => [type, classType, providerConfig!.type]),
  ...claimKinds.map(({ type }) => type),
  aggregateType,
  aggregateClassType,
  secretType,
  namespaceType,
]

/** Returns the objects of a file in the checkout. */
export async function manifest(path: string): Promise<readonly KubeObject[]> {
  return loadAll(await readFile(fileOf(path), 'utf8')) as KubeObject[]
}

/** Returns the names of all resources in AWS by service, read without the kinds. */
export async function inventory(moto: Moto): Promise<Readonly<Record<string, readonly string[]>>> {
  const ec2 = moto.client(EC2Client, region)
  const scaling = moto.client(AutoScalingClient, region)
  const rds = moto.client(RDSClient, region)
  const names = (found: readonly (string | undefined)[] | undefined) => (found ?? []).map((name) => name ?? '').sort()
  const [vpcs, subnets, groups, gateways, tables] = await Promise.all([
    ec2.send(new DescribeVpcsCommand({})),
    ec2.send(new DescribeSubnetsCommand({})),
    ec2.send(new DescribeSecurityGroupsCommand({})),
    ec2.send(new DescribeInternetGatewaysCommand({})),
    ec2.send(new DescribeRouteTablesCommand({})),
  ])
  return {
    vpcs: names(vpcs.Vpcs?.map(({ VpcId }) => VpcId)),
    subnets: names(subnets.Subnets?.map(({ SubnetId }) => SubnetId)),
    securityGroups: names(groups.SecurityGroups?.map(({ GroupId }) => GroupId)),
    gateways: names(gateways.InternetGateways?.map(({ InternetGatewayId }) => InternetGatewayId)),
    routeTables: names(tables.RouteTables?.map(({ RouteTableId }) => RouteTableId)),
    roles: names((await moto.client(IAMClient, region).send(new ListRolesCommand({}))).Roles?.map((r) => r.RoleName)),
    buckets: names((await moto.client(S3Client, region).send(new ListBucketsCommand({}))).Buckets?.map((b) => b.Name)),
    clusters: names((await moto.client(EKSClient, region).send(new ListClustersCommand({}))).clusters),
    dynamoTables: names((await moto.client(DynamoDBClient, region).send(new ListTablesCommand({}))).TableNames),
    launchConfigurations: names(
      (await scaling.send(new DescribeLaunchConfigurationsCommand({}))).LaunchConfigurations?.map(
        (found) => found.LaunchConfigurationName,
      ),
    ),
    autoScalingGroups: names(
      (await scaling.send(new DescribeAutoScalingGroupsCommand({}))).AutoScalingGroups?.map(
        (found) => found.AutoScalingGroupName,
      ),
    ),
    databases: names(
      (await rds.send(new DescribeDBInstancesCommand({}))).DBInstances?.map((found) => found.DBInstanceIdentifier),
    ),
    subnetGroups: names(
      (await rds.send(new DescribeDBSubnetGroupsCommand({}))).DBSubnetGroups?.map((found) => found.DBSubnetGroupName),
    ),
  }
}
