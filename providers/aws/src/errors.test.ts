import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateVpcCommand, DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2'
import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreatePolicyCommand,
  CreateUserCommand,
  GetRoleCommand,
  IAMClient,
} from '@aws-sdk/client-iam'
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { apiVersionOf, conditionsOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { budgets, managedController } from '@crosstie/resources'
import { FakeApi } from '@crosstie/resources/testing'
import { clientFor } from './clients.js'
import { providerConfig } from './config.js'
import { vpc } from './ec2/vpc.js'
import { troubleOf } from './errors.js'
import { type Answer, errorBodies, type Fault, Front } from './testing/front.js'
import { Moto, motoConfig, motoMissing } from './testing/moto.js'

const missing = await motoMissing()
const SECRET = 'wJalrXUtnFEMIK7MDENGbPxRfiCYSECRETKEY'
const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

/** A VPC with its ProviderConfig, its credentials and a controller. */
class Network {
  readonly api: FakeApi
  readonly events: string[] = []
  passed = 0
  readonly #controller

  private constructor(readonly url: string) {
    const now = () => Date.now() + this.passed
    this.api = new FakeApi({ now })
    const events = {
      event: (_: KubeObject, type: string, reason: string, message: string) =>
        this.events.push(`${type} ${reason} ${message}`),
    }
    const sleep = async (milliseconds: number) => {
      this.passed += milliseconds
    }
    const spend = budgets({ perSecond: 20, burst: 100, clock: { now }, sleep })
    this.#controller = managedController(vpc, { client: this.api, clock: { now }, events, budgets: spend })
  }

  static async at(url: string, keys = { id: 'AKIAIOSFODNN7EXAMPLE', secret: SECRET }): Promise<Network> {
    const network = new Network(url)
    const { type } = providerConfig
    const text = `[default]\naws_access_key_id = ${keys.id}\naws_secret_access_key = ${keys.secret}\n`
    await network.api.create(secretType, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'aws', namespace: 'ops' },
      data: { creds: Buffer.from(text).toString('base64') },
    })
    const secretRef = { name: 'aws', namespace: 'ops', key: 'creds' }
    await network.api.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name: 'default' },
      spec: { credentials: { source: 'Secret', secretRef }, endpoint: { url } },
    })
    await network.api.create(vpc.type, {
      apiVersion: apiVersionOf(vpc.type),
      kind: 'VPC',
      metadata: { name: 'net' },
      spec: {
        managementPolicies: ['*'],
        deletionPolicy: 'Delete',
        providerConfigRef: { name: 'default' },
        forProvider: { region: 'eu-west-1', cidrBlock: '10.0.0.0/16' },
      },
    })
    return network
  }

  get object(): KubeObject | undefined {
    return this.api.peek(vpc.type, { name: 'net' })
  }

  async reconcile() {
    return await this.#controller.reconcile({ name: 'net' }, AbortSignal.timeout(120_000))
  }

  synced(): string {
    return conditionsOf(this.object!).find(({ type }) => type === 'Synced')?.message ?? ''
  }

  /** Returns everything that users could read. */
  told(): string {
    return JSON.stringify([this.object, this.events])
  }
}

interface Case {
  readonly because: string
  /** The operation that fails. */
  readonly at: string
  readonly with: Answer
  readonly says: readonly RegExp[]
}

const encoded = `Encoded authorization failure message: ${'x'.repeat(900)}`
const canonical =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and ' +
  'signing method. The Canonical String for this request should have been POST / x-amz-security-token:THETOKEN'

const cases: Record<string, Case> = {
  Throttled: {
    because: 'EC2 says so with a status that looks like a fault',
    at: 'DescribeVpcs',
    with: errorBodies.ec2(503, 'RequestLimitExceeded', 'Request limit exceeded.'),
    says: [/ec2:DescribeVpcs in eu-west-1: AWS asks to slow down/],
  },
  WrongKey: {
    because: 'nobody that AWS knows',
    at: 'DescribeVpcs',
    with: errorBodies.ec2(401, 'AuthFailure', 'AWS was not able to validate the provided access credentials'),
    says: [/does not accept the credentials \(AuthFailure\)/, /Check what the ProviderConfig leads to/],
  },
  WrongSecret: {
    because: 'AWS repeats the request, with the session token in it',
    at: 'DescribeVpcs',
    with: errorBodies.ec2(403, 'SignatureDoesNotMatch', canonical),
    says: [/does not accept the credentials/, /its secret does not fit/],
  },
  Expired: {
    because: 'sessions end',
    at: 'DescribeVpcs',
    with: errorBodies.ec2(400, 'ExpiredToken', 'The provided token has expired.'),
    says: [/they have expired\. Write new ones/],
  },
  ClockWrong: {
    because: 'the credentials are fine',
    at: 'DescribeVpcs',
    with: errorBodies.ec2(403, 'RequestTimeTooSkewed', 'The difference is too large.'),
    says: [/the clock of this machine is wrong/],
  },
  Denied: {
    because: 'the missing permission is named, and what only AWS can read is left out',
    at: 'CreateVpc',
    with: errorBodies.ec2(403, 'UnauthorizedOperation', `You are not authorized to perform this operation. ${encoded}`),
    says: [/create failed: ec2:CreateVpc in eu-west-1: AWS denies it/, /Allow ec2:CreateVpc to the credentials/],
  },
  Quota: {
    because: 'an account has five VPCs in a region unless it asks for more',
    at: 'CreateVpc',
    with: errorBodies.ec2(400, 'VpcLimitExceeded', 'The maximum number of VPCs has been reached.'),
    says: [/the account may have no more \(VpcLimitExceeded\)/, /Service Quotas/],
  },
  Refused: {
    because: 'AWS knows best what is wrong with a value',
    at: 'CreateVpc',
    with: errorBodies.ec2(400, 'InvalidVpc.Range', "The CIDR '10.0.0.0/8' is invalid."),
    says: [/ec2:CreateVpc in eu-west-1: The CIDR '10\.0\.0\.0\/8' is invalid \(InvalidVpc\.Range\)/],
  },
}

describe('errors of AWS, as conditions', { skip: missing ?? false }, () => {
  let moto: Moto
  let front: Front

  before(async () => {
    moto = await Moto.start()
    front = await Front.start(moto.url)
  })
  after(async () => {
    await front?.[Symbol.asyncDispose]()
    await moto?.[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    front.fault = () => undefined
    front.requests.length = 0
  })

  const failing = (operation: string, fault: Fault) => {
    front.fault = (asked) => (asked.operation === operation ? fault : undefined)
  }
  const vpcs = async () => {
    const { Vpcs = [] } = await moto.client(EC2Client).send(new DescribeVpcsCommand({}))
    return Vpcs.filter(({ IsDefault }) => !IsDefault).length
  }

  for (const [name, { because, at, with: answer, says }] of Object.entries(cases)) {
    test(`${name}: ${because}`, async () => {
      const network = await Network.at(front.url)
      failing(at, answer)
      // A resource without an external name is created before it is observed.
      let next = await network.reconcile()
      if (!front.requests.includes(at)) next = await network.reconcile()
      assert.equal(next.after, 'backoff', 'it is tried again, each time later')
      assert.equal(front.requests.filter((operation) => operation === at).length, 1, 'one attempt, not a loop')
      for (const words of says) assert.match(network.synced(), words)
      assert.ok(!network.told().includes(SECRET), 'no secret')
      assert.ok(!network.told().includes('THETOKEN'), 'no token')
      assert.ok(!network.told().includes('xxxx'), 'nothing that only AWS can read')

      // The object recovers without intervention when the cause is gone.
      front.fault = () => undefined
      for (let i = 0; i < 4; i++) await network.reconcile()
      assert.equal(conditionsOf(network.object!).find(({ type }) => type === 'Ready')?.status, 'True')
      await network.api.delete(vpc.type, { name: 'net' })
      for (let i = 0; i < 20 && network.object; i++) {
        await network.reconcile()
        network.passed += 10_000
      }
      assert.equal(network.object, undefined)
      assert.equal(await vpcs(), 0, 'and nothing is left')
    })
  }

  test('XN2 a create whose answer is lost on the way makes one VPC', async () => {
    const network = await Network.at(front.url)
    let lost = 0
    front.fault = ({ operation }) => (operation === 'CreateVpc' && lost++ === 0 ? 'lost' : undefined)
    await network.reconcile()
    assert.match(network.synced(), /ec2:CreateVpc in eu-west-1: the answer was lost/)
    for (let i = 0; i < 10; i++) {
      await network.reconcile()
      network.passed += 10_000
    }
    assert.equal(await vpcs(), 1)
    assert.equal(front.requests.filter((operation) => operation === 'CreateVpc').length, 1)
    await moto.reset()
  })

  test('a read whose answer is lost is repeated, three times at most', async () => {
    const network = await Network.at(front.url)
    failing('DescribeVpcs', 'cut')
    await network.reconcile()
    // Without an external name there is nothing to observe: the VPC was created, and could not be found afterwards.
    await network.reconcile()
    assert.equal(front.requests.filter((operation) => operation === 'DescribeVpcs').length, 3)
    assert.match(network.synced(), /observe failed: ec2:DescribeVpcs in eu-west-1: the answer was lost/)
    await moto.reset()
  })

  test('an endpoint that is not there is told, with what to check', async () => {
    const network = await Network.at('http://127.0.0.1:9')
    const next = await network.reconcile()
    assert.equal(next.after, 'backoff')
    assert.match(network.synced(), /AWS cannot be reached: .*Check the region, spec\.endpoint of the ProviderConfig/)
  })

  test('what still depends on it keeps it, and is named', async () => {
    const network = await Network.at(front.url)
    for (let i = 0; i < 3; i++) await network.reconcile()
    const words = "The vpc 'vpc-1' has dependencies and cannot be deleted."
    failing('DeleteVpc', errorBodies.ec2(400, 'DependencyViolation', words))
    await network.api.delete(vpc.type, { name: 'net' })
    const next = await network.reconcile()
    assert.equal(next.after, 'backoff')
    assert.match(
      network.synced(),
      /delete failed: .*still in use \(DependencyViolation\).*Delete what depends on it first/,
    )
    await moto.reset()
  })

  test('other protocols tell the same troubles', async () => {
    const config = motoConfig(front.url)
    const at = (answer: Answer) => {
      front.fault = () => answer
    }
    const trouble = async (call: Promise<unknown>) => {
      try {
        await call
        return 'none'
      } catch (error) {
        return troubleOf(error) ?? (error as Error).name
      }
    }
    const role = () => clientFor(IAMClient, config).send(new GetRoleCommand({ RoleName: 'r' }))
    at(errorBodies.query(403, 'AccessDenied', 'User: arn:aws:iam::1:user/u is not authorized'))
    assert.equal(await trouble(role()), 'denied')
    at(errorBodies.query(404, 'NoSuchEntity', 'The role with name r cannot be found.'))
    assert.equal(await trouble(role()), 'notFound')
    at(errorBodies.query(400, 'Throttling', 'Rate exceeded'))
    assert.equal(await trouble(role()), 'ThrottledError')

    const s3 = clientFor(S3Client, config, 'eu-west-1')
    at({ status: 403, body: '' })
    assert.equal(await trouble(s3.send(new HeadBucketCommand({ Bucket: 'b' }))), 'denied')
    at({ status: 301, body: '', headers: { 'x-amz-bucket-region': 'eu-north-1' } })
    await assert.rejects(s3.send(new HeadBucketCommand({ Bucket: 'b' })), /the bucket is in eu-north-1/)
    at(errorBodies.s3(503, 'SlowDown', 'Please reduce your request rate.'))
    assert.equal(await trouble(s3.send(new CreateBucketCommand({ Bucket: 'b' }))), 'ThrottledError')
    at(errorBodies.s3(409, 'BucketAlreadyExists', 'The requested bucket name is not available.'))
    assert.equal(await trouble(s3.send(new CreateBucketCommand({ Bucket: 'b' }))), 'exists')

    const table = () => clientFor(DynamoDBClient, config).send(new DescribeTableCommand({ TableName: 't' }))
    at(errorBodies.json(400, 'ResourceNotFoundException', 'Requested resource not found'))
    assert.equal(await trouble(table()), 'notFound')
    at(errorBodies.json(400, 'ThrottlingException', 'Rate of requests exceeds the allowed throughput.'))
    assert.equal(await trouble(table()), 'ThrottledError')
    at(errorBodies.json(400, 'UnrecognizedClientException', 'The security token included in the request is invalid.'))
    assert.equal(await trouble(table()), 'credentials')
  })
})

test('a permission that is missing in IAM is named, and what is allowed works', {
  skip: missing ?? false,
}, async () => {
  // The calls of the setup are not checked. From then on moto checks signatures and policies.
  await using moto = await Moto.start({ callsBeforeAuthorization: 4 })
  const iam = moto.client(IAMClient, 'us-east-1')
  const statement = (Action: string[]) =>
    JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] })
  await iam.send(new CreateUserCommand({ UserName: 'reader' }))
  const PolicyDocument = statement(['ec2:DescribeVpcs', 'ec2:DescribeVpcAttribute'])
  const { Policy } = await iam.send(new CreatePolicyCommand({ PolicyName: 'look', PolicyDocument }))
  await iam.send(new AttachUserPolicyCommand({ UserName: 'reader', PolicyArn: Policy!.Arn! }))
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: 'reader' }))
  const keys = { id: AccessKey!.AccessKeyId!, secret: AccessKey!.SecretAccessKey! }

  const denied = await Network.at(moto.url, keys)
  await denied.reconcile()
  assert.match(denied.synced(), /ec2:CreateVpc in eu-west-1: AWS denies it .*Allow ec2:CreateVpc to the credentials/)

  const unknown = await Network.at(moto.url, { id: 'AKIAIOSFODNN7UNKNOWN', secret: keys.secret })
  await unknown.reconcile()
  assert.match(unknown.synced(), /AWS does not accept the credentials/)

  const wrong = await Network.at(moto.url, { id: keys.id, secret: `${keys.secret}wrong` })
  await wrong.reconcile()
  assert.match(wrong.synced(), /AWS does not accept the credentials/)
  for (const { told } of [denied, unknown, wrong].map((network) => ({ told: network.told() }))) {
    assert.ok(!told.includes(keys.secret), 'no secret')
  }
  await assert.rejects(
    clientFor(EC2Client, motoConfig(moto.url)).send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' })),
  )
})
