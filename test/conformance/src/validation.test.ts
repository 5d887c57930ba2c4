import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

/** Schemas of `spec.x` with values to try. Every value is a dry-run create. */
const tables: Record<string, { x: Loose; values: readonly Loose[] }> = {
  'type string': { x: { type: 'string' }, values: ['', 5, true, [], {}, null] },
  'type integer': { x: { type: 'integer' }, values: [1, 0, -1, 1.0, 1.5, '1', true, null] },
  'type number': { x: { type: 'number' }, values: [1, 1.5, '1', true] },
  'type boolean': { x: { type: 'boolean' }, values: [true, false, 'true', 1] },
  'type array': { x: { type: 'array', items: { type: 'string' } }, values: [[], ['a'], [1], ['a', null], 'a', {}] },
  'type object': { x: { type: 'object' }, values: [{}, [], 'a', 1] },
  nullable: { x: { type: 'string', nullable: true }, values: [null, 'a', 1] },
  'int or string': { x: { 'x-kubernetes-int-or-string': true }, values: [1, '1', '10%', 1.5, true, [], null] },
  'int or string with a pattern': {
    x: { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+%$' },
    values: [1, '10%', 'x'],
  },
  enum: { x: { type: 'string', enum: ['a', 'b'] }, values: ['a', 'c', 1] },
  'enum of numbers': { x: { type: 'integer', enum: [1, 2] }, values: [1, 3] },
  'minimum and maximum': { x: { type: 'integer', minimum: 1, maximum: 3 }, values: [0, 1, 3, 4] },
  'exclusive bounds': {
    x: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true },
    values: [1, 1.5, 3],
  },
  'fractional bounds': { x: { type: 'number', minimum: 0.5 }, values: [0.25, 0.5] },
  multipleOf: { x: { type: 'integer', multipleOf: 3 }, values: [3, 4] },
  'multipleOf a fraction': { x: { type: 'number', multipleOf: 0.1 }, values: [0.3, 0.35] },
  'min and max length': {
    x: { type: 'string', minLength: 2, maxLength: 3 },
    values: ['a', 'ab', 'abcd', 'äöü', '😀', '😀😀😀'],
  },
  pattern: { x: { type: 'string', pattern: '^[a-z]+$' }, values: ['abc', 'ABC', ''] },
  'pattern is not anchored': { x: { type: 'string', pattern: 'b' }, values: ['abc', 'ac'] },
  'min and max items': {
    x: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'integer' } },
    values: [[], [1], [1, 2, 3]],
  },
  'min and max properties': {
    x: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    values: [{}, { a: 1 }, { a: 1, b: 2, c: 3 }],
  },
  required: {
    x: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'integer' } } },
    values: [{}, { a: '' }, { a: '', b: 0 }],
  },
  'zero is not missing': {
    x: {
      type: 'object',
      required: ['s', 'n', 'b', 'l', 'o'],
      properties: {
        s: { type: 'string' },
        n: { type: 'integer' },
        b: { type: 'boolean' },
        l: { type: 'array', items: { type: 'string' } },
        o: { type: 'object' },
      },
    },
    values: [{ s: '', n: 0, b: false, l: [], o: {} }],
  },
  'values of a map': {
    x: { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
    values: [{ a: 1 }, { a: 0 }, { a: 'x' }, { 'with.dot': 0 }],
  },
  'items of a list': {
    x: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', maximum: 5 } } } },
    values: [[{ n: 1 }], [{ n: 1 }, { n: 9 }], [{ n: 'x' }]],
  },
  'lists of lists': {
    x: { type: 'array', items: { type: 'array', items: { type: 'integer', minimum: 0 } } },
    values: [[[1]], [[1], [2, -1]]],
  },
  anyOf: { x: { type: 'string', anyOf: [{ minLength: 3 }, { pattern: '^a' }] }, values: ['abc', 'a', 'b'] },
  allOf: { x: { type: 'string', allOf: [{ minLength: 2 }, { pattern: '^a' }] }, values: ['ab', 'a', 'bb', 'b'] },
  oneOf: { x: { type: 'string', oneOf: [{ minLength: 3 }, { pattern: '^a' }] }, values: ['a', 'bbb', 'abc', 'b'] },
  not: { x: { type: 'string', not: { enum: ['bad'] } }, values: ['good', 'bad'] },
  'oneOf by required': {
    x: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    values: [{ a: '1' }, { a: '1', b: '2' }, {}],
  },
  set: {
    x: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    values: [
      ['a', 'b'],
      ['a', 'b', 'a'],
    ],
  },
  'set of numbers': {
    x: { type: 'array', items: { type: 'number' }, 'x-kubernetes-list-type': 'set' },
    values: [
      [1, 1.5],
      [1, 1],
    ],
  },
  'map list': {
    x: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'n'],
      items: {
        type: 'object',
        required: ['k'],
        properties: { k: { type: 'string' }, n: { type: 'integer', default: 1 }, v: { type: 'string' } },
      },
    },
    values: [
      [{ k: 'a' }, { k: 'a', n: 2 }],
      [{ k: 'a' }, { k: 'a', n: 1 }],
      [{ k: 'a', v: '1' }, { k: 'b' }, { k: 'a', v: '2' }],
    ],
  },
  'embedded resource': {
    x: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    values: [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { l: 'x' } }, spec: { y: 1 } },
      {},
      { apiVersion: 'v1' },
      { apiVersion: '', kind: '' },
      { apiVersion: 'a/b/c', kind: 'bad kind', metadata: { name: 'BAD' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 5 } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'bad key': 'x' } } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', unknown: 1 } },
      { apiVersion: 'v1', kind: 'Pod', metadata: 'x' },
    ],
  },
}

const formats: Record<string, readonly string[]> = {
  'date-time': ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.5+02:00', '2020-01-01', 'x'],
  date: ['2020-01-01', '2020-13-01', '2020-01-01T00:00:00Z'],
  duration: ['1h', '1h30m', '10', '1 day', 'x'],
  byte: ['aGVsbG8=', 'not base64', 'aGVsbG8'],
  email: ['a@example.com', 'nobody'],
  hostname: ['example.com', 'bad_host!', '-x'],
  ipv4: ['10.0.0.1', '10.0.0.256', '::1'],
  ipv6: ['::1', '10.0.0.1', 'gggg::'],
  cidr: ['10.0.0.0/8', '10.0.0.0', '::/0'],
  mac: ['00:11:22:33:44:55', '00:11'],
  uri: ['https://example.com/x', 'no scheme', '/path'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000', 'x'],
  uuid3: ['a3bb189e-8bf9-3888-9912-ace4e6543002', '123e4567-e89b-12d3-a456-426614174000'],
  uuid4: ['f47ac10b-58cc-4372-a567-0e02b2c3d479', '123e4567-e89b-12d3-a456-426614174000'],
  uuid5: ['74738ff5-5367-5958-9aee-98fffdcd1876', '123e4567-e89b-12d3-a456-426614174000'],
  isbn: ['978-0321751041', '123'],
  creditcard: ['4111-1111-1111-1111', '123'],
  ssn: ['123-45-6789', '123'],
  hexcolor: ['#fff', 'red'],
  rgbcolor: ['rgb(1,2,3)', '1,2,3'],
  password: ['x'],
  bsonobjectid: ['507f1f77bcf86cd799439011', 'x'],
  'k8s-short-name': ['abc', 'Not Short', '1abc'],
  'k8s-long-name': ['abc.def', 'Not Long'],
  'made-up': ['anything'],
}
for (const [format, values] of Object.entries(formats))
  tables[`format ${format}`] = { x: { type: 'string', format }, values }
tables['format int32'] = { x: { type: 'integer', format: 'int32' }, values: [1, 2147483648] }
tables['format int64'] = { x: { type: 'integer', format: 'int64' }, values: [1] }

const cases: Record<string, (t: Case) => Promise<void>> = {}
for (const [name, { x, values }] of Object.entries(tables)) {
  cases[name] = async (t) => {
    const widgets = await define(t, { scope: 'Cluster', properties: { spec: { type: 'object', properties: { x } } } })
    for (const value of values) {
      const pick = (body: Loose) =>
        body.kind === 'Status' ? { message: body.message, causes: body.details?.causes } : (body.spec.x ?? null)
      const { status, body } = await t.quiet('POST', widgets.path(), {
        query: { dryRun: 'All' },
        body: widgets.object('a', { spec: { x: value } }),
      })
      t.see(JSON.stringify(value), { status, body: pick(body) })
    }
  }
}

conformance('validation', {
  ...cases,
  'several faults are all named, in order': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          required: ['r'],
          properties: {
            a: { type: 'integer', minimum: 1 },
            b: { type: 'string', maxLength: 1 },
            c: { type: 'array', items: { type: 'boolean' } },
            r: { type: 'string' },
          },
        },
      },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { a: 0, b: 'xx', c: [1, 'y'] } }), {
      pick: (body) => ({
        reason: body.reason,
        causes: body.details.causes.map((each: Loose) => `${each.field} ${each.reason} ${each.message}`).sort(),
      }),
    })
  },
  'the whole Status of one fault': async (t) => {
    const widgets = await define(t, {
      properties: { spec: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } } },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { a: 0 } }))
  },
  'required at the root': async (t) => {
    const widgets = await define(t, {
      schema: { type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } },
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a'))
    await t.post(all, widgets.object('a', { spec: null }))
    await t.post(all, widgets.object('a', { spec: {} }))
  },
  'metadata.name can be constrained': async (t) => {
    const widgets = await define(t, {
      schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('abcd'))
    await t.post(all, widgets.object('abc'))
  },
  'metadata is validated beside the schema': async (t) => {
    const widgets = await define(t, {
      properties: { spec: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } } },
    })
    await t.post(widgets.path(await t.namespace()), { ...widgets.object('BAD', { spec: { a: 0 } }) })
  },
  'a new schema is asked at the next write only': async (t) => {
    const widgets = await define(t, {
      properties: { spec: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } } },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { a: 9, b: 1 } }) })
    const stricter = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          required: ['c'],
          properties: { a: { type: 'integer', maximum: 5 }, b: { type: 'integer' }, c: { type: 'string' } },
        },
      },
    }
    await t.jsonPatch(
      `${CRDS}/${widgets.crd.metadata.name}`,
      [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: stricter }],
      { pick: (body) => body.kind },
    )
    await t.until(`${all}`, ({ status }) => status === 200)
    for (;;) {
      const probe = await t.quiet('POST', all, {
        query: { dryRun: 'All' },
        body: widgets.object('probe', { spec: { a: 9, c: 'x' } }),
      })
      if (probe.status === 422) break
    }
    await t.get(`${all}/a`)
    await t.mergePatch(`${all}/a`, { spec: { b: 2 } })
    await t.mergePatch(`${all}/a`, { metadata: { labels: { l: 'x' } } })
    await t.mergePatch(`${all}/a`, { spec: { b: 2, c: 'x' } })
    await t.mergePatch(`${all}/a`, { spec: { a: 8 } })
  },
})
