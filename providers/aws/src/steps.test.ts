import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AwsError } from './errors.js'
import { eachOf, oneAfterAnother, readiness } from './steps.js'
import { agreedVersion } from './versions.js'

const busy = async () => {
  throw new AwsError('it has an update in progress', 'inUse', 'ResourceInUseException')
}

test('changes that AWS does not take yet wait for the next look', async () => {
  const made: string[] = []
  const change = (name: string) => async () => void made.push(name)
  await oneAfterAnother([change('a'), busy, change('b')])
  assert.deepEqual(made, ['a'])
  await assert.rejects(
    oneAfterAnother([busy, change('c')]),
    /still busy with an earlier change; this one is made after/,
  )
  const refuse = async () => {
    throw new AwsError('no', 'invalid', 'InvalidParameterException')
  }
  await assert.rejects(oneAfterAnother([change('d'), refuse]), /no/)
  assert.deepEqual(made, ['a', 'd'])
})

test('each is asked for, a few at a time, and the answers are in order', async () => {
  let [now, most] = [0, 0]
  const answers = await eachOf(
    Array.from({ length: 50 }, (_, i) => i),
    async (i) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
      return i * 2
    },
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, (_, i) => i * 2),
  )
  assert.ok(most <= 8)
})

test('what is not ready says why', () => {
  assert.equal(readiness(true, 'ACTIVE'), true)
  assert.deepEqual(readiness(false, 'DEGRADED', ['no capacity']), {
    type: 'Ready',
    status: 'False',
    reason: 'Unavailable',
    message: 'its state is DEGRADED; no capacity',
  })
})

const versions: Readonly<Record<string, { asked?: string; offered?: string; agreed: string | undefined }>> = {
  'nobody cares': { agreed: undefined },
  'only the claim says': { asked: '8.0', agreed: '8.0' },
  'only the class says': { offered: '8.0.35', agreed: '8.0.35' },
  'the class is more exact': { asked: '8.0', offered: '8.0.35', agreed: '8.0.35' },
  'the claim is more exact': { asked: '8.0.35', offered: '8.0', agreed: '8.0.35' },
}

for (const [because, { asked, offered, agreed }] of Object.entries(versions)) {
  test(`claim and class agree on a version: ${because}`, () => {
    assert.equal(agreedVersion('DBInstanceClass small', asked, offered), agreed)
  })
}

test('versions are compared part by part: 8.01 is none of 8.0', () => {
  assert.throws(
    () => agreedVersion('DBInstanceClass small', '8.01', '8.0'),
    /asks for version 8.01, but DBInstanceClass small is for version 8.0/,
  )
})
