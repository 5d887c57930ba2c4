import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const outcome = (body: Loose): Loose =>
  body.kind === 'Status' ? { message: body.message, causes: body.details?.causes } : body.spec

/** A value that a stricter schema would reject, and the permitted operations on the object with that value. */
interface Ratchet {
  readonly x: Loose
  readonly value: Loose
  readonly changes: readonly Loose[]
  readonly loose?: Loose
}

const str = { type: 'string', maxLength: 50 }
const ratchets: Record<string, Ratchet> = {
  minimum: { x: { type: 'integer', minimum: 5 }, value: 1, changes: [1, 2, 5] },
  maximum: { x: { type: 'integer', maximum: 5 }, value: 9, changes: [9, 8, 5] },
  enum: { x: { type: 'string', enum: ['a'] }, value: 'z', changes: ['z', 'y', 'a'] },
  minLength: { x: { type: 'string', minLength: 3 }, value: 'a', changes: ['a', 'b'] },
  maxLength: { x: { type: 'string', maxLength: 1 }, value: 'abc', changes: ['abc', 'abd'] },
  pattern: { x: { type: 'string', pattern: '^a$' }, value: 'z', changes: ['z', 'y'] },
  format: { x: { type: 'string', format: 'ipv4' }, value: 'z', changes: ['z', 'y'] },
  multipleOf: { x: { type: 'integer', multipleOf: 2 }, value: 1, changes: [1, 3] },
  minItems: { x: { type: 'array', minItems: 2, items: { type: 'string' } }, value: ['a'], changes: [['a'], ['b']] },
  maxItems: {
    x: { type: 'array', maxItems: 1, items: { type: 'string' } },
    value: ['a', 'b'],
    changes: [
      ['a', 'b'],
      ['a', 'c'],
    ],
  },
  minProperties: {
    x: { type: 'object', minProperties: 2, additionalProperties: { type: 'string' } },
    value: { a: '1' },
    changes: [{ a: '1' }, { a: '2' }],
  },
  maxProperties: {
    x: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    value: { a: '1', b: '2' },
    changes: [
      { a: '1', b: '2' },
      { a: '1', b: '3' },
    ],
  },
  required: {
    x: { type: 'object', required: ['r'], properties: { r: { type: 'string' }, o: { type: 'string' } } },
    value: { o: '1' },
    changes: [{ o: '1' }, { o: '2' }],
    loose: { type: 'object', properties: { r: { type: 'string' }, o: { type: 'string' } } },
  },
  'values of maps': {
    x: { type: 'object', additionalProperties: { type: 'integer', maximum: 5 } },
    value: { a: 9 },
    changes: [{ a: 9, b: 1 }, { a: 8 }],
    loose: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  'items of plain lists do not correlate': {
    x: { type: 'array', items: { type: 'integer', maximum: 5 } },
    value: [9],
    changes: [[9], [9, 1], [1, 9]],
    loose: { type: 'array', items: { type: 'integer' } },
  },
  'items of map lists correlate': {
    x: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: str, n: { type: 'integer', maximum: 5 } } },
    },
    value: [{ k: 'a', n: 9 }],
    changes: [
      [
        { k: 'a', n: 9 },
        { k: 'b', n: 1 },
      ],
      [
        { k: 'b', n: 1 },
        { k: 'a', n: 9 },
      ],
      [{ k: 'a', n: 8 }],
      [{ k: 'b', n: 9 }],
    ],
    loose: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: str, n: { type: 'integer' } } },
    },
  },
  'nested objects': {
    x: {
      type: 'object',
      properties: { o: { type: 'object', properties: { n: { type: 'integer', maximum: 5 }, m: { type: 'integer' } } } },
    },
    value: { o: { n: 9, m: 1 } },
    changes: [{ o: { n: 9, m: 2 } }, { o: { n: 8, m: 2 } }],
    loose: {
      type: 'object',
      properties: { o: { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' } } } },
    },
  },
  'not does not ratchet': { x: { type: 'string', not: { enum: ['z'] } }, value: 'z', changes: ['z', 'y'] },
  'allOf does not ratchet': { x: { type: 'string', allOf: [{ maxLength: 1 }] }, value: 'zz', changes: ['zz', 'yy'] },
  'anyOf does not ratchet': {
    x: { type: 'string', anyOf: [{ maxLength: 1 }, { pattern: '^a' }] },
    value: 'zz',
    changes: ['zz', 'yy'],
  },
  'oneOf does not ratchet': {
    x: { type: 'string', oneOf: [{ maxLength: 1 }, { pattern: '^a' }] },
    value: 'zz',
    changes: ['zz', 'yy'],
  },
  'a CEL rule': {
    x: { ...str, 'x-kubernetes-validations': [{ rule: 'self.startsWith("a")' }] },
    value: 'z',
    changes: ['z', 'y'],
    loose: str,
  },
  'a CEL transition rule does not ratchet': {
    x: { ...str, 'x-kubernetes-validations': [{ rule: 'oldSelf == "a" || self == "b"' }] },
    value: 'z',
    changes: ['z', 'b'],
    loose: str,
  },
  'a CEL rule with optionalOldSelf': {
    x: {
      ...str,
      'x-kubernetes-validations': [{ rule: 'oldSelf.hasValue() || self.startsWith("a")', optionalOldSelf: true }],
    },
    value: 'z',
    changes: ['z', 'y'],
    loose: str,
  },
  'a CEL rule over an object with another change inside': {
    x: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a < 5' }],
    },
    value: { a: 9, b: 1 },
    changes: [
      { a: 9, b: 1 },
      { a: 9, b: 2 },
    ],
    loose: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
  },
  'a CEL rule meets a value of a tolerated format': {
    x: {
      type: 'object',
      properties: { d: { ...str, format: 'duration' }, n: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'has(self.d)' }],
    },
    value: { d: 'soon' },
    changes: [{ d: 'soon' }, { d: 'soon', n: 1 }, { n: 1 }],
    loose: { type: 'object', properties: { d: str, n: { type: 'integer' } } },
  },
  'duplicates of a set stay tolerated': {
    x: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    value: ['a', 'a'],
    changes: [
      ['a', 'a'],
      ['a', 'a', 'b'],
      ['a', 'b'],
      ['b', 'b'],
    ],
    loose: { type: 'array', items: { type: 'string' } },
  },
  'another type does not ratchet': {
    x: { type: 'string' },
    value: 5,
    changes: [5, 'x'],
    loose: { 'x-kubernetes-preserve-unknown-fields': true },
  },
}

/** Returns the schema without its validation keywords, for the time before it becomes stricter. */
const loosen = (x: Loose): Loose => {
  const { type, items, additionalProperties, properties } = x
  return {
    type,
    ...(items ? { items } : {}),
    ...(additionalProperties ? { additionalProperties } : {}),
    ...(properties ? { properties } : {}),
  }
}

const cases: Record<string, (t: Case) => Promise<void>> = {}
for (const [name, { x, value, changes, loose }] of Object.entries(ratchets)) {
  cases[name] = async (t) => {
    const schema = (inner: Loose) => ({
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            x: inner,
            other: { type: 'integer' },
            probe: { type: 'integer', maximum: inner === x ? 1 : 9 },
          },
        },
      },
    })
    const widgets = await define(t, { scope: 'Cluster', schema: schema(loose ?? loosen(x)) })
    const path = `${widgets.path()}/a`
    await t.must('POST', widgets.path(), { body: widgets.object('a', { spec: { x: value } }) })
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schema(x) }],
    })
    for (;;) {
      const probe = await t.quiet('POST', widgets.path(), {
        query: { dryRun: 'All' },
        body: widgets.object('probe', { spec: { probe: 5 } }),
      })
      if (probe.status === 422) break
    }
    const { body: now } = await t.must('GET', path)
    const update = async (what: string, spec: Loose) => {
      const { body } = await t.quiet('PUT', path, { query: { dryRun: 'All' }, body: { ...now, spec } })
      t.see(what, outcome(body))
    }
    await update('another field', { x: value, other: 1 })
    for (const change of changes) await update(JSON.stringify(change), { x: change })
    const { body } = await t.quiet('POST', widgets.path(), {
      query: { dryRun: 'All' },
      body: widgets.object('b', { spec: { x: value } }),
    })
    t.see('create', outcome(body))
  }
}

conformance('ratcheting', cases)
