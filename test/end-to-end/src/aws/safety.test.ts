import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DescribeDBSnapshotsCommand, RDSClient } from '@aws-sdk/client-rds'
import type { KubeObject } from '@crosstie/kube'
import { countCalls, motoMissing } from '@crosstie/provider-aws/testing'
import { load } from 'js-yaml'
import { specOf, statusOf } from '../claims/kinds.js'
import { eventually } from '../support/claims-world.js'
import { AwsWorld, inventory, region } from './world.js'

const missing = await motoMissing()
const PATIENCE_MS = 120_000

/** Data is not lost by accident, and passwords are never exposed. */
describe('data and passwords on AWS', { skip: missing ?? false, timeout: 900_000 }, () => {
  let aws: AwsWorld

  before(async () => {
    aws = await AwsWorld.open()
  })
  after(async () => {
    await aws?.[Symbol.asyncDispose]()
  })

  const database = (name: string, forProvider: object, spec: object = {}): KubeObject => ({
    apiVersion: 'rds.aws.crossplane.io/v1alpha1',
    kind: 'DBInstance',
    metadata: { name },
    spec: {
      forProvider: {
        region,
        engine: 'postgres',
        dbInstanceClass: 'db.t4g.micro',
        allocatedStorage: 20,
        masterUsername: 'keeper',
        ...forProvider,
      },
      ...spec,
    },
  })
  const secret = (name: string, password: string) =>
    load(`
apiVersion: v1
kind: Secret
metadata: { namespace: default, name: ${name} }
data: { password: ${Buffer.from(password).toString('base64')} }
`) as KubeObject
  const connection = (name: string) => ({ writeConnectionSecretToRef: { namespace: 'default', name } })

  test('deletion protection is told of with what to do, and respected until it is turned off', async () => {
    const table = load(`
apiVersion: dynamodb.aws.crossplane.io/v1alpha1
kind: Table
metadata: { name: guarded }
spec:
  forProvider:
    region: ${region}
    billingMode: PAY_PER_REQUEST
    deletionProtectionEnabled: true
    attributeDefinitions: [{ attributeName: id, attributeType: S }]
    keySchema: [{ attributeName: id, keyType: HASH }]
`) as KubeObject
    const server = database('guarded', { deletionProtection: true, skipFinalSnapshot: true }, connection('guarded'))
    const fields = new Map([
      [table, 'deletionProtectionEnabled'],
      [server, 'deletionProtection'],
    ])
    for (const [object, field] of fields) {
      await aws.apply(object)
      await aws.ready(object)
      const before = await inventory(aws.moto)
      await aws.remove(object)
      await aws.says(object, 'Synced', /protected against deletion.*remove Delete from managementPolicies/)
      assert.deepEqual(await inventory(aws.moto), before, 'it is still there')
      await aws.merge(object, { spec: { forProvider: { [field]: false } } })
      await aws.gone(object)
    }
    const { databases, dynamoTables } = await inventory(aws.moto)
    assert.deepEqual([databases, dynamoTables], [[], []])
  })

  test('a database leaves a last snapshot, unless that is not wanted', async () => {
    const rds = aws.moto.client(RDSClient, region)
    const kept = database('kept', {}, connection('kept'))
    const named = database('named', { finalDBSnapshotIdentifier: 'the-last-of-named' }, connection('named'))
    const lost = database('lost', { skipFinalSnapshot: true }, connection('lost'))
    await aws.apply(kept, named, lost)
    for (const object of [kept, named, lost]) await aws.ready(object)
    const uid = (await aws.read(kept))!.metadata.uid!
    await aws.remove(kept, named, lost)
    await aws.gone(kept, named, lost)
    const { DBSnapshots = [] } = await rds.send(new DescribeDBSnapshotsCommand({ SnapshotType: 'manual' }))
    const left = DBSnapshots.map(({ DBSnapshotIdentifier }) => DBSnapshotIdentifier).sort()
    assert.deepEqual(left, [`kept-final-${uid.slice(0, 8)}`, 'the-last-of-named'])
  })

  test('MR9 a password by SecretRef is used, rotated when the Secret changes, and seen nowhere', async () => {
    using calls = countCalls()
    const given = { masterUserPasswordSecretRef: { namespace: 'default', name: 'given', key: 'password' } }
    const server = database('rotated', { ...given, skipFinalSnapshot: true }, connection('rotated'))
    await aws.apply(secret('given', 'the-first-password'), server)
    await aws.ready(server)
    assert.equal((await aws.secret('default', 'rotated'))['password'], 'the-first-password')
    assert.equal(calls.of('rds:ModifyDBInstance'), 0)
    await aws.apply(secret('given', 'the-second-password'))
    await eventually(
      'the new password is published',
      async () => (await aws.secret('default', 'rotated'))['password'] === 'the-second-password',
      PATIENCE_MS,
    )
    assert.ok(calls.of('rds:ModifyDBInstance') >= 1, 'AWS was told')
    await aws.ready(server)
    const shown = JSON.stringify([await aws.read(server), aws.crew.events])
    assert.ok(!/the-(first|second)-password/.test(shown))
    await aws.remove(server)
    await aws.gone(server)
  })

  test('MR9 where AWS keeps the password none is made up, and no Secret is asked for', async () => {
    const server = database('managed', { manageMasterUserPassword: true, skipFinalSnapshot: true })
    await aws.apply(server)
    const found = await aws.ready(server)
    assert.match(statusOf(found).atProvider.masterUserSecret.secretArn, /^arn:aws:secretsmanager:/)
    assert.equal(specOf(found).writeConnectionSecretToRef, undefined)
    await aws.remove(server)
    await aws.gone(server)
    // Without a Secret for the password, the object reports this before anything is created.
    const nowhere = database('nowhere', {})
    await aws.apply(nowhere)
    await aws.says(nowhere, 'Synced', /set masterUserPasswordSecretRef, or writeConnectionSecretToRef/)
    assert.deepEqual((await inventory(aws.moto))['databases'], [])
    await aws.remove(nowhere)
    await aws.gone(nowhere)
  })
})
