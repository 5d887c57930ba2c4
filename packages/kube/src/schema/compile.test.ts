import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import fc from 'fast-check'
import { fieldErrorText } from '../errors.js'
import { compileSchema } from './compile.js'

const crontab: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['cronSpec'],
      properties: {
        cronSpec: { type: 'string', pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$' },
        replicas: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
        policy: { type: 'string', enum: ['Allow', 'Forbid'] },
        image: { type: 'string', maxLength: 5 },
        tags: { type: 'array', maxItems: 2, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        port: { 'x-kubernetes-int-or-string': true },
        at: { type: 'string', format: 'date-time' },
        note: { type: 'string', nullable: true },
        limits: { type: 'object', additionalProperties: { type: 'integer' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        one: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
        },
        big: { type: 'integer', format: 'int64', minimum: 0 },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, port: { type: 'integer', maximum: 100 } },
          },
        },
      },
    },
  },
}
const compiled = compileSchema(crontab)
const object = (spec: unknown) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name: 'a' },
  spec,
})
const valid = { cronSpec: '* * * * */5' }

interface ValidationCase {
  readonly because: string
  readonly spec: unknown
  readonly old?: unknown
  readonly want: readonly string[]
}

const validations: Record<string, ValidationCase> = {
  Valid: { because: 'a valid object', spec: valid, want: [] },
  MissingRequired: {
    because: 'a required field is reported without a value',
    spec: {},
    want: ['spec.cronSpec: Required value'],
  },
  WrongType: {
    because: 'the reported value is the type found',
    spec: { ...valid, replicas: 'x' },
    want: ['spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"'],
  },
  TooGreat: {
    because: 'a bound is reported with the value',
    spec: { ...valid, replicas: 20 },
    want: ['spec.replicas: Invalid value: 20: spec.replicas in body should be less than or equal to 10'],
  },
  Enum: {
    because: 'the allowed values are listed',
    spec: { ...valid, policy: 'x' },
    want: ['spec.policy: Unsupported value: "x": supported values: "Allow", "Forbid"'],
  },
  TooLong: {
    because: 'a long text is omitted',
    spec: { ...valid, image: '123456' },
    want: ['spec.image: Too long: may not be more than 5 bytes'],
  },
  LengthInCharacters: {
    because: 'five characters of four bytes each fit',
    spec: { ...valid, image: '😀😀😀😀😀' },
    want: [],
  },
  TooMany: {
    because: 'a long list is reported with its length',
    spec: { ...valid, tags: ['a', 'b', 'c'] },
    want: ['spec.tags: Too many: 3: must have at most 2 items'],
  },
  IntOrString: {
    because: 'both types are named',
    spec: { ...valid, port: true },
    want: ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
  },
  Format: {
    because: 'kube-apiserver reports a format as a type',
    spec: { ...valid, at: 'now' },
    want: ['spec.at: Invalid value: "now": spec.at in body must be of type date-time: "now"'],
  },
  Nullable: { because: 'null is allowed there', spec: { ...valid, note: null }, want: [] },
  NotNullable: {
    because: 'null is not a string',
    spec: { ...valid, image: null },
    want: ['spec.image: Invalid value: "null": spec.image in body must be of type string: "null"'],
  },
  AdditionalProperties: {
    because: 'values of a map have a schema',
    spec: { ...valid, limits: { cpu: 'x' } },
    want: ['spec.limits.cpu: Invalid value: "string": spec.limits.cpu in body must be of type integer: "string"'],
  },
  OneOf: {
    because: 'an error of a combination has no path',
    spec: { ...valid, one: {} },
    want: [
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
      'spec.one.a: Required value',
    ],
  },
  BigInt: { because: 'an int64 beyond 2^53 is an integer', spec: { ...valid, big: 9007199254740993n }, want: [] },
  BeyondInt64: {
    because: 'a number beyond int64 is a float',
    spec: { ...valid, big: 2n ** 64n },
    want: ['spec.big: Invalid value: "number": spec.big in body must be of type integer: "number"'],
  },
  RatchetedValue: {
    because: 'errors of unchanged values are tolerated on update',
    spec: { ...valid, replicas: 20, image: 'new' },
    old: { ...valid, replicas: 20 },
    want: [],
  },
  RatchetedKeyedItem: {
    because: 'items of a keyed list are matched by key, not by index',
    spec: {
      ...valid,
      ports: [
        { name: 'new', port: 1 },
        { name: 'old', port: 200 },
      ],
    },
    old: { ...valid, ports: [{ name: 'old', port: 200 }] },
    want: [],
  },
  NotRatchetedAfterChange: {
    because: 'a changed value must be valid',
    spec: { ...valid, replicas: 30 },
    old: { ...valid, replicas: 20 },
    want: ['spec.replicas: Invalid value: 30: spec.replicas in body should be less than or equal to 10'],
  },
}

for (const [name, { because, spec, old, want }] of Object.entries(validations)) {
  test(`validate ${name}`, () => {
    const errors = compiled.validate(object(spec), old === undefined ? undefined : object(old))
    assert.deepEqual(errors.map(fieldErrorText), want, because)
  })
}

test('prune removes unknown fields and reports their paths', () => {
  const unknown: string[] = []
  const given = object({ ...valid, foo: 1, ports: [{ name: 'a', bar: 2 }], free: { kept: { deeply: true } } })
  const pruned = compiled.prune(given, { root: true, unknown })
  assert.deepEqual(unknown, ['spec.foo', 'spec.ports[0].bar'])
  assert.deepEqual(pruned, object({ ...valid, ports: [{ name: 'a' }], free: { kept: { deeply: true } } }))
})

test('an object that needs no change is returned as the same object', () => {
  const given = object({ ...valid, replicas: 2, tags: ['a'], limits: { cpu: 1 } })
  assert.equal(compiled.prune(given, { root: true }), given)
  assert.equal(compiled.dropNulls(given), given)
  assert.equal(compiled.applyDefaults(given), given)
  assert.equal(compiled.coerceMetadata(given).object, given)
})

test('nulls are dropped, defaulted or kept', () => {
  const nulls = compiled.dropNulls(object({ ...valid, image: null, note: null, replicas: null }))
  assert.deepEqual(compiled.applyDefaults(nulls).spec, { ...valid, note: null, replicas: 1 })
})

test('names such as __proto__ are ordinary keys', () => {
  const given = JSON.parse(
    '{"spec":{"cronSpec":"* * * * *","__proto__":{"x":1},"constructor":1,"limits":{"__proto__":"x"}}}',
  )
  const unknown: string[] = []
  const pruned = compiled.prune(given, { root: true, unknown })
  assert.deepEqual(unknown, ['spec.__proto__', 'spec.constructor'])
  assert.deepEqual(compiled.validate(pruned).map(fieldErrorText), [
    'spec.limits.__proto__: Invalid value: "string": spec.limits.__proto__ in body must be of type integer: "string"',
  ])
})

test('coerceMetadata rejects input and drops fields of stored objects', () => {
  const given = { ...object(valid), metadata: { name: 'a', labels: { a: 1 }, foo: 2 } }
  const unknown: string[] = []
  assert.equal(
    compiled.coerceMetadata(given).error,
    'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  )
  assert.deepEqual(compiled.coerceMetadata(given, { drop: true, unknown }).object.metadata, { name: 'a' })
  assert.deepEqual(unknown, ['metadata.foo'])
})

test('duplicates are tolerated if the old object had some', () => {
  const twice = object({ ...valid, tags: ['a', 'a'] })
  assert.deepEqual(compiled.validateListTypes(twice).map(fieldErrorText), ['spec.tags[1]: Duplicate value: "a"'])
  assert.deepEqual(compiled.validateListTypes(twice, twice), [])
})

test('every step accepts any JSON, and pruning is idempotent', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('spec', 'metadata', 'x'), fc.jsonValue()), (given) => {
      const pruned = compiled.prune(given, { root: true })
      assert.equal(compiled.prune(pruned, { root: true }), pruned)
      const defaulted = compiled.applyDefaults(compiled.dropNulls(pruned))
      assert.equal(compiled.applyDefaults(defaulted), defaulted)
      compiled.validate(defaulted, given)
      compiled.coerceMetadata(given as Record<string, unknown>)
      compiled.validateListTypes(given)
    }),
    { numRuns: 300 },
  )
})

test('hundreds of thousands of invalid items are reported fast', () => {
  const items = new Array(300_000).fill(1)
  const started = process.cpuUsage()
  const errors = compiled.validate(object({ ...valid, tags: items }))
  const { user, system } = process.cpuUsage(started)
  assert.equal(errors.length, 10_000)
  assert.ok(user + system < 30_000_000, `took ${(user + system) / 1000} ms of CPU`)
})

test('no text makes a format check slow', () => {
  const texts = ['1', ' ', 'a', '0', '.', ':', '-', '"', '(', 'a.', '1.', 'é', '=', '%', '1:', '\\'].map((part) =>
    part.repeat(20_000),
  )
  const formats =
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid isbn isbn13 creditcard ssn hexcolor rgbcolor byte date duration date-time'
  for (const format of formats.split(' ')) {
    const schema = compileSchema({ type: 'string', format })
    const started = process.cpuUsage()
    for (const text of texts)
      for (const around of [text, `rgb(${text}`, `1${text}h`, `http://${text}`, `${text}@b`]) schema.validate(around)
    const { user, system } = process.cpuUsage(started)
    assert.ok(user + system < 15_000_000, `${format} took ${(user + system) / 1000} ms of CPU`)
  }
})
