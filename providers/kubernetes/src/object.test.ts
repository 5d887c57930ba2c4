import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, KubeObject } from '@crosstie/kube'
import { managerOf } from './apply.js'
import { differencesBetween, holds } from './difference.js'
import { told, withoutTexts } from './errors.js'
import { applicable, identityOf, secretTexts, shown } from './manifest.js'
import { type Readiness, readinessOf } from './readiness.js'
import { textAt } from './values.js'

const live = (more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'ns', uid: 'u', resourceVersion: '7' },
  ...more,
})
const withConditions = (...conditions: object[]) => live({ status: { phase: 'Running', conditions } })
const isTrue = { type: 'Ready', status: 'True', reason: 'Fine' }
const isFalse = { type: 'Available', status: 'False', reason: 'Slow', message: 'takes its time' }

const ready: Record<string, { because: string; object: KubeObject; readiness: Readiness; want: true | RegExp }> = {
  Default: { because: 'there is enough', object: live(), readiness: {}, want: true },
  Going: {
    because: 'what is being deleted is not to be used',
    object: { ...live(), metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' } },
    readiness: {},
    want: /being deleted/,
  },
  Ready: {
    because: 'it says so',
    object: withConditions(isTrue),
    readiness: { policy: 'DeriveFromObject' },
    want: true,
  },
  Silent: {
    because: 'it says nothing yet',
    object: live(),
    readiness: { policy: 'DeriveFromObject' },
    want: /no condition Ready yet/,
  },
  Named: {
    because: 'another condition counts, and its words are passed on',
    object: withConditions(isTrue, isFalse),
    readiness: { policy: 'ByCondition', conditionType: 'Available' },
    want: /Available is False \(Slow\): takes its time/,
  },
  Unnamed: {
    because: 'which one?',
    object: live(),
    readiness: { policy: 'ByCondition' },
    want: /conditionType is missing/,
  },
  All: {
    because: 'one is false',
    object: withConditions(isTrue, isFalse),
    readiness: { policy: 'AllTrue' },
    want: /Available/,
  },
  Query: {
    because: 'the query holds',
    object: withConditions(),
    readiness: { policy: 'DeriveFromCelQuery', celQuery: 'object.status.phase == "Running"' },
    want: true,
  },
  QueryTooEarly: {
    because: 'a field that is not there yet is no error',
    object: live(),
    readiness: { policy: 'DeriveFromCelQuery', celQuery: 'object.status.phase == "Running"' },
    want: /no answer yet/,
  },
  QueryNonsense: {
    because: 'people are told where',
    object: live(),
    readiness: { policy: 'DeriveFromCelQuery', celQuery: 'object.' },
    want: /celQuery cannot be read/,
  },
  QueryNoBoolean: {
    because: 'a number is neither',
    object: live(),
    readiness: { policy: 'DeriveFromCelQuery', celQuery: '1 + 1' },
    want: /must give true or false/,
  },
}

for (const [name, { because, object, readiness, want }] of Object.entries(ready)) {
  test(`readiness: ${name}`, () => {
    const said = readinessOf(object, readiness)
    if (want === true) assert.equal(said, true, because)
    else assert.match(said === true ? 'ready' : (said.message ?? ''), want, because)
  })
}

const held: Record<string, { because: string; live: unknown; wanted: unknown; want: boolean }> = {
  More: { because: 'others may add fields', live: { a: 1, b: 2 }, wanted: { a: 1 }, want: true },
  Defaults: { because: 'items get defaults', live: [{ a: 1, b: 2 }], wanted: [{ a: 1 }], want: true },
  Items: { because: 'an item more may be a difference', live: [1, 2], wanted: [1], want: false },
  Null: { because: 'null asks for nothing to be there', live: {}, wanted: { a: null }, want: true },
  Differs: { because: 'it differs', live: { a: 1 }, wanted: { a: 2 }, want: false },
  Inherited: { because: 'only own fields count', live: {}, wanted: { constructor: {} }, want: false },
}

for (const [name, { because, live: is, wanted, want }] of Object.entries(held)) {
  test(`holds: ${name}`, () => assert.equal(holds(is, wanted), want, because))
}

test('differences name fields, leave bookkeeping out and hide what is secret', () => {
  const secret = (password: string, size: number) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', generation: size, labels: { size: `${size}` } },
    data: { password },
  })
  const found = differencesBetween(secret('YQ==', 1) as never, secret('Yg==', 2) as never, [], 'all')
  assert.deepEqual(found, [
    { path: 'manifest.metadata.labels.size', desired: '1', observed: '2' },
    { path: 'manifest.data.password', desired: '<hidden>', observed: '<hidden>' },
  ])
})

test('what the status shows has no secrets and no bookkeeping', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"YQ=="}}' }
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', resourceVersion: '7', annotations, managedFields: [] },
    data: { password: 'YQ==', 1: 'Yg==' },
  }
  assert.deepEqual(shown(secret, []), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    data: { password: '<hidden>', 1: '<hidden>' },
  })
  assert.deepEqual(
    secretTexts(secret as unknown as JsonObject)
      .slice()
      .sort(),
    ['YQ==', 'Yg==', 'a', 'b'],
  )
  const copied = withoutTexts({ spec: { login: 'me:sesame', list: ['sesame', 1] } }, ['sesame'])
  assert.deepEqual(copied, { spec: { login: '<hidden>', list: ['<hidden>', 1] } })
})

test('errors tell no secrets', async () => {
  const step = async () => {
    throw new Error('Invalid value: "open-sesame"')
  }
  await assert.rejects(told('apply it', ['open-sesame'], step), /cannot apply it: Invalid value: "<hidden>"/)
})

test('a manifest says whom it means, or why not', () => {
  const managed = live()
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'n' } }
  assert.deepEqual(identityOf(manifest, managed, 'y').key, { name: 'y', namespace: 'n' })
  assert.throws(() => identityOf(undefined, managed, 'x'), /manifest is missing/)
  assert.throws(() => identityOf({ kind: 'Pod' }, managed, 'x'), /must have an apiVersion and a kind/)
  const other = { ...manifest, metadata: { name: 'z' } }
  assert.equal(identityOf(other, managed, 'x').key.name, 'z', 'the name of the Object itself is no external name yet')
  assert.throws(() => identityOf(other, managed, 'y'), /names Pod "z", but the external name of this Object is "y"/)
})

test('what people paste is made fit to apply', () => {
  const pasted = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid: 'u', managedFields: [], labels: { a: 'b' } },
    status: {},
  }
  assert.deepEqual(applicable(pasted, { name: 'x' }), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { a: 'b' }, name: 'x' },
  })
})

test('values by path and by JSONPath, those of Secrets decoded', () => {
  const service = live({
    spec: {
      ports: [
        { name: 'http', port: 80 },
        { name: 'admin', port: 81 },
      ],
    },
  })
  assert.equal(textAt(service, 'spec.ports[0].port'), '80')
  assert.equal(textAt(service, '{.spec.ports[?(@.name=="admin")].port}'), '81')
  assert.equal(textAt(service, 'spec.nothing.here'), undefined)
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { token: 'c2VzYW1l' } }
  assert.equal(textAt(secret, 'data.token'), 'sesame')
  assert.throws(() => textAt(service, '{.spec.ports[}'), /is no path/)
})

test('field managers are short enough and differ', () => {
  const named = (name: string) => managerOf({ ...live(), metadata: { name } })
  assert.equal(named('a'), 'crosstie-object-a')
  const long = [named('a'.repeat(200)), named(`${'a'.repeat(199)}b`)]
  assert.ok(long.every(({ length }) => length <= 128))
  assert.notEqual(long[0], long[1])
})
