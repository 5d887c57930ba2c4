import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import type { ProviderConfiguration } from '@crosstie/resources/provider'
import { clientFor } from './clients.js'
import { credentialsOf, endpointFor } from './config.js'
import { samePolicy } from './fields.js'
import { parseProfiles } from './profiles.js'
import { Front } from './testing/front.js'
import { Moto, motoConfig, motoMissing } from './testing/moto.js'

const missing = await motoMissing()

const FILE = `
# what somebody's tools wrote
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key=secret/of+default==
region = eu-west-1

[profile work] ; as in a config file
AWS_ACCESS_KEY_ID = AKIAWORK
aws_secret_access_key = secret-of-work
aws_session_token = token-of-work

[admin]
role_arn = arn:aws:iam::123456789012:role/admin
source_profile = work

[loop]
role_arn = arn:aws:iam::123456789012:role/admin
source_profile = loop
`

const config = (spec: object, credentials: string | undefined = FILE): ProviderConfiguration => ({
  ...motoConfig('http://127.0.0.1:9'),
  name: 'mine',
  spec: { credentials: { source: 'Secret' }, ...spec } as never,
  credentials,
})

test('a credentials file is read as the tools of AWS write it', async () => {
  assert.deepEqual([...parseProfiles(FILE).keys()], ['default', 'work', 'admin', 'loop'])
  assert.deepEqual(await credentialsOf(config({}))(), {
    accessKeyId: 'AKIADEFAULT',
    secretAccessKey: 'secret/of+default==',
  })
  assert.deepEqual(await credentialsOf(config({ profile: 'work' }))(), {
    accessKeyId: 'AKIAWORK',
    secretAccessKey: 'secret-of-work',
    sessionToken: 'token-of-work',
  })
})

test('a credentials file that does not serve is told, without what is in it', () => {
  const cases: Record<string, [object, string, RegExp]> = {
    NoSuchProfile: [
      { profile: 'wrok' },
      FILE,
      /ProviderConfig mine have no profile \[wrok\], only default, work, admin/,
    ],
    NoKeys: [
      {},
      '[default]\nregion = eu-west-1',
      /profile \[default\] needs aws_access_key_id and aws_secret_access_key/,
    ],
    NoFile: [{}, 'secret-of-nobody', /have no profile \[default\], only none at all/],
    Circle: [{ profile: 'loop' }, FILE, /profile \[loop\] needs aws_access_key_id/],
  }
  for (const [name, [spec, file, words]] of Object.entries(cases)) {
    assert.throws(
      () => credentialsOf(config(spec, file)),
      (error: Error) => words.test(error.message) && !error.message.includes('secret-of'),
      name,
    )
  }
})

test('an endpoint serves all services, or those that are named', () => {
  const url = 'http://localhost:5000'
  assert.equal(endpointFor({}, 's3'), undefined)
  assert.equal(endpointFor({ endpoint: { url } }, 'ec2'), url)
  assert.equal(endpointFor({ endpoint: { url, services: ['s3'] } }, 'ec2'), undefined)
  assert.equal(endpointFor({ endpoint: { url, services: ['s3'] } }, 's3'), url)
})

test('policies are compared by what they say', () => {
  const policy = (statement: object) => JSON.stringify({ Version: '2012-10-17', Statement: statement })
  const one = { Effect: 'Allow', Action: 's3:GetObject', Resource: ['b', 'a'] }
  assert.ok(samePolicy(policy(one), policy([{ Resource: ['a', 'b'], Action: ['s3:GetObject'], Effect: 'Allow' }])))
  assert.ok(samePolicy(policy(one), encodeURIComponent(policy(one))), 'IAM encodes it')
  assert.ok(!samePolicy(policy(one), policy({ ...one, Effect: 'Deny' })))
  assert.ok(!samePolicy('not JSON', 'not JSON either'))
})

describe('credentials that are asked for', { skip: missing ?? false }, () => {
  let moto: Moto
  let front: Front
  let folder: string
  before(async () => {
    moto = await Moto.start()
    front = await Front.start(moto.url)
    folder = await mkdtemp(join(tmpdir(), 'crosstie-aws-'))
  })
  after(async () => {
    await front?.[Symbol.asyncDispose]()
    await moto?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const whoIs = async (given: ProviderConfiguration, region = 'eu-west-1') =>
    (await clientFor(STSClient, given, region).send(new GetCallerIdentityCommand({}))).Arn
  const at = (spec: object, credentials?: string) => ({
    ...motoConfig(front.url, { endpoint: { url: front.url }, ...spec }),
    ...(credentials === undefined ? {} : { credentials }),
  })

  test('a role is taken on once for all clients, with what its trust policy asks for', async () => {
    const asked: string[] = []
    front.fault = ({ operation, body }) => {
      if (operation === 'AssumeRole') asked.push(decodeURIComponent(body))
      return undefined
    }
    const roleARN = 'arn:aws:iam::123456789012:role/deploy'
    const given = at({ assumeRole: { roleARN, externalID: 'ext-1', sessionName: 'net', tags: { team: 'net' } } })
    for (const region of ['eu-west-1', 'eu-north-1', 'us-east-1']) {
      assert.equal(await whoIs(given, region), 'arn:aws:sts::123456789012:assumed-role/deploy/net')
    }
    assert.equal(asked.length, 1)
    for (const part of ['ExternalId=ext-1', 'RoleSessionName=net', 'Tags.member.1.Key=team']) {
      assert.ok(asked[0]!.includes(part), part)
    }
  })

  test('a profile may take on a role with the keys of another', async () => {
    const given = at({ profile: 'admin' }, FILE)
    assert.equal(await whoIs(given), 'arn:aws:sts::123456789012:assumed-role/admin/crosstie')
  })

  test('a token of an identity provider is worth a role', async () => {
    const tokenFile = join(folder, 'token')
    await writeFile(tokenFile, 'a-token-that-moto-does-not-check')
    const webIdentity = { roleARN: 'arn:aws:iam::123456789012:role/pod', tokenFile, sessionName: 'pod' }
    const given = { ...at({ webIdentity }), credentials: undefined }
    assert.equal(await whoIs(given), 'arn:aws:sts::123456789012:assumed-role/pod/pod')
    assert.ok(front.requests.includes('AssumeRoleWithWebIdentity'))
  })

  test('clients are kept while the ProviderConfig stays as it is, and made anew when it changes', () => {
    const given = at({})
    const next = { ...given, revision: given.revision.replace(/\/1\/0$/, '/2/0') }
    assert.equal(clientFor(STSClient, given, 'a'), clientFor(STSClient, given, 'a'))
    assert.notEqual(clientFor(STSClient, given, 'a'), clientFor(STSClient, given, 'b'))
    assert.notEqual(clientFor(STSClient, given, 'a'), clientFor(STSClient, next, 'a'))
  })
})
