import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { howFar } from '../commands/migrate.js'
import { connectionUri } from './connection.js'
import { durationOf } from './duration.js'
import { explainLines, fieldTree, type KindSchema } from './explain.js'
import { encoded, outputOf, valuesAt } from './output.js'
import { plain } from './terminal.js'
import { parseAim } from './wait.js'

test('how far a migration is', () => {
  const type = { group: 'ec2.aws.crossplane.io', version: 'v1beta1', kind: 'VPC', resource: 'vpcs', namespaced: false }
  const at = { type, name: 'a', kind: 2, kinds: 21, objects: 1500 }
  const words = (found: number, dryRun: boolean) => howFar(at, found, dryRun)
  assert.equal(words(3, true), '1500 looked at, 3 to migrate; kind 2 of 21: vpc.ec2.aws.crossplane.io/a')
  assert.equal(words(0, false), '1500 looked at, 0 migrated; kind 2 of 21: vpc.ec2.aws.crossplane.io/a')
})

describe('what is waited for', () => {
  const object = (conditions: readonly object[], generation = 1, metadata = {}) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', generation, ...metadata },
    status: { conditions, phase: 'Bound' },
  })
  const ready = { type: 'Ready', status: 'True', reason: 'Available' }
  const cases: readonly [string, string, object | undefined, boolean][] = [
    ['a condition', 'condition=Ready', object([ready]), true],
    ['in any case', 'condition=ready=true', object([ready]), true],
    ['with another status', 'condition=Ready=False', object([ready]), false],
    ['one that is not there', 'condition=Synced', object([ready]), false],
    ['said of an older spec', 'condition=Ready', object([{ ...ready, observedGeneration: 1 }], 2), false],
    ['a field', 'jsonpath={.status.phase}=Bound', object([]), true],
    ['a field without braces', 'jsonpath=.status.phase=Bound', object([]), true],
    ['a field with another value', 'jsonpath={.status.phase}=Unbound', object([]), false],
    ['a field with any value', 'jsonpath={.status.phase}', object([]), true],
    ['gone', 'delete', undefined, true],
    ['not gone', 'delete', object([]), false],
    ['there', 'create', object([]), true],
    ['not there', 'condition=Ready', undefined, false],
  ]
  for (const [because, text, given, want] of cases) {
    test(`${text}: ${because}`, () => assert.equal(parseAim(text).reached(given as never), want))
  }

  test('how far it is', () => {
    const waiting = { type: 'Ready', status: 'False', reason: 'Creating' }
    const failed = { type: 'Synced', status: 'False', reason: 'ReconcileError', message: 'access denied' }
    assert.equal(parseAim('condition=Ready').state(object([waiting, failed])), 'Ready is False: access denied')
    const deleted = object([failed], 1, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] })
    assert.equal(parseAim('delete').state(deleted), 'it is being deleted, held by x/y: access denied')
  })

  test('what cannot be meant', () => {
    for (const text of ['', 'ready', 'condition=', 'jsonpath='])
      assert.throws(() => parseAim(text), /--for takes/, text)
  })
})

describe('one address of a connection', () => {
  const mask = () => '***'
  const cases: readonly [string, Record<string, string>, string][] = [
    [
      'PostgreSQL by its port',
      { host: 'db', port: '5432', username: 'me', password: 'a b' },
      'postgresql://me:a%20b@db:5432',
    ],
    ['with a database', { endpoint: 'db', port: '3306', database: 'shop' }, 'mysql://db:3306/shop'],
    ['one that is there already', { uri: 'postgresql://me:x@db/shop', host: 'other' }, 'postgresql://me:x@db/shop'],
    ['an endpoint that is an address', { endpoint: 'https://k8s:6443' }, 'https://k8s:6443'],
    ['an endpoint with a port', { endpoint: 'cache:6379' }, 'redis://cache:6379'],
  ]
  for (const [because, details, want] of cases) {
    test(because, () => assert.equal(connectionUri(details, String), want))
  }
  test('the password is masked wherever it comes from', () => {
    assert.equal(connectionUri({ uri: 'postgresql://me:secret@db/shop' }, mask), 'postgresql://me:***@db/shop')
    assert.equal(connectionUri({ host: 'db', username: 'me', password: 'secret' }, mask), 'tcp://me:***@db')
  })
  test('without an address there is none', () => {
    assert.throws(() => connectionUri({ token: 'x' }, mask), /no address in the Secret, only token/)
  })
})

describe('output for programs', () => {
  test('formats and what was meant', () => {
    assert.deepEqual(outputOf({ output: 'jsonpath=a=b' }, 'table', 'jsonpath=PATH'), {
      format: 'jsonpath',
      path: 'a=b',
    })
    assert.throws(() => outputOf({ output: 'ymal' }, 'table', 'yaml'), /Did you mean 'yaml'/)
  })
  test('integers beyond 2^53 stay what they are', () => {
    assert.equal(encoded('json', { a: 9007199254740993n }), '{\n  "a": 9007199254740993\n}')
    assert.equal(encoded('yaml', { a: 9007199254740993n }), 'a: 9007199254740993')
  })
  test('paths', () => {
    assert.equal(valuesAt('{.a[*].b}', { a: [{ b: 1 }, { b: 'x' }] }), '1 x')
    assert.throws(() => valuesAt('', {}), /takes a path/)
    assert.throws(() => valuesAt('{.a[', {}), /-o jsonpath: /)
  })
})

test('durations', () => {
  assert.equal(durationOf('--timeout', '1m30s'), 90_000)
  assert.equal(durationOf('--timeout', '0', { zero: true }), 0)
  for (const bad of ['0', '-1s', 'soon', '5']) assert.throws(() => durationOf('--timeout', bad), /such as 90s/, bad)
})

describe('explaining a schema', () => {
  const kind: KindSchema = {
    kind: 'Lamp',
    root: {
      type: 'object',
      description: 'A lamp.',
      properties: { spec: { allOf: [{ $ref: '#/components/schemas/Spec' }], description: 'What it should be.' } },
      required: ['spec'],
    },
    schemas: {
      Spec: {
        type: 'object',
        required: ['watts'],
        properties: {
          watts: { type: 'integer', minimum: 1, description: 'How bright.' },
          tags: { additionalProperties: { type: 'string' } },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Spec' } },
          colour: {
            type: 'string',
            enum: ['red', 'blue'],
            default: 'red',
            'x-kubernetes-validations': [{ message: 'stays' }],
          },
        },
      },
    },
  }
  test('fields through references and lists', () => {
    const lines = explainLines(kind, ['spec', 'parts'], plain)
    assert.equal(lines[0], 'FIELD:    parts'.replace('parts', 'spec.parts  <[]object>'))
    assert.ok(lines.includes('  watts  <integer> required'))
    assert.ok(lines.includes('  tags  <map[string]string>'))
    const at = lines.indexOf('  colour  <string>')
    assert.deepEqual(
      lines.slice(at + 2, at + 5).map((line) => line.trim()),
      ['One of: red, blue', 'Default: "red"', 'Rule: stays'],
    )
  })
  test('a schema that holds itself has an end', () => {
    const lines = fieldTree(kind, [])
    assert.deepEqual(lines.slice(1, 3), ['spec  <object> required', '  watts  <integer> required'])
    assert.equal(lines.filter((line) => line.includes('watts')).length, 1)
  })
  test('a field that is not there', () => {
    assert.throws(
      () => explainLines(kind, ['spec', 'wats'], plain),
      /Lamp\.spec has no field 'wats'\. Did you mean 'watts'\?/,
    )
  })
})
