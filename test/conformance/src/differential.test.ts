import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Case } from './harness/case.js'
import { type Definition, define, definition, register } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { Pair } from './harness/pair.js'

/**
 * Sends random requests to both servers, which must return the same responses. A failure prints its seed.
 * DIFFERENTIAL_SEED repeats it, and DIFFERENTIAL_RUNS sets the number of runs.
 */
const numRuns = Number(process.env['DIFFERENTIAL_RUNS'] ?? 8)
const seed = process.env['DIFFERENTIAL_SEED'] ? Number(process.env['DIFFERENTIAL_SEED']) : undefined

// --- objects of a rich schema with many managers

const name = fc.constantFrom('a', 'b', 'c')
const text = fc.constantFrom('', 'x', 'y', 'long text')
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 })
const some = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(shape, { requiredKeys: [] })
// Non-empty maps: the real server turns an empty one into null if its manager had set entries before.
const spec = some<Record<string, Loose>>({
  size: fc.integer({ min: -1, max: 5 }),
  tags: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  ports: fc.uniqueArray(
    some<Record<string, Loose>>({ name, port: fc.integer({ min: 1, max: 3 }), note: text }).map((port) => ({
      name: 'a',
      ...port,
    })),
    { maxLength: 3, selector: (port) => port.name },
  ),
  options: fc.dictionary(name, text, { minKeys: 1, maxKeys: 3 }),
  plain: list(fc.integer({ min: 0, max: 3 })),
  whole: fc.dictionary(name, text, { minKeys: 1, maxKeys: 2 }),
  deep: fc.record({ x: text, y: fc.record({ z: fc.boolean() }) }),
  loose: fc.dictionary(
    name,
    fc.oneof(text, fc.integer({ min: 0, max: 2 }), list(text), fc.dictionary(name, text, { minKeys: 1, maxKeys: 2 })),
    { minKeys: 1, maxKeys: 2 },
  ),
})
const manager = fc.constantFrom('alice', 'bob', 'carol')
const labels = fc.dictionary(name, fc.constantFrom('1', '2'), { minKeys: 1, maxKeys: 2 })
const path = fc.constantFrom(
  '/spec/tags',
  '/spec/options/a',
  '/spec/deep/x',
  '/spec/ports/0',
  '/spec/ports/-',
  '/metadata/labels/a',
  '/spec/loose/b',
  '/spec/none/x',
)
const operation = fc.record({
  op: fc.constantFrom('add', 'replace', 'remove', 'test'),
  path,
  value: fc.oneof(text, fc.integer({ min: 0, max: 2 }), fc.constant({ name: 'd', port: 9 })),
})

const move = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('apply' as const), manager, spec, labels, force: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('merge' as const),
      manager,
      spec: fc.oneof(spec, fc.constantFrom({ tags: null }, { deep: null }, { options: { a: null } }, { ports: null })),
      labels,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put' as const), manager, spec, labels }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('json' as const),
      manager,
      operations: fc.array(operation, { minLength: 1, maxLength: 3 }),
    }),
  },
)

const rich: Loose = {
  size: { type: 'integer', minimum: 0, default: 1 },
  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  ports: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, port: { type: 'integer' }, note: { type: 'string' } },
    },
  },
  options: { type: 'object', additionalProperties: { type: 'string' } },
  plain: { type: 'array', items: { type: 'integer' } },
  whole: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
  deep: {
    type: 'object',
    properties: { x: { type: 'string', maxLength: 5 }, y: { type: 'object', properties: { z: { type: 'boolean' } } } },
  },
  loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

async function play(t: Case, widgets: Definition, one: string, moves: readonly Loose[]): Promise<void> {
  for (const each of moves) {
    const query = { fieldManager: each.manager }
    const body = { ...widgets.object(one.split('/').at(-1)!), spec: each.spec }
    if (each.labels) body.metadata = { ...body.metadata, labels: each.labels }
    if (each.kind === 'apply') await t.apply(one, each.manager, body, { query: { force: each.force } })
    else if (each.kind === 'merge')
      await t.mergePatch(one, { metadata: { labels: each.labels }, spec: each.spec }, { query })
    else if (each.kind === 'json') await t.jsonPatch(one, each.operations, { query })
    else {
      const now = await t.quiet('GET', one)
      const metadata = { ...body.metadata, resourceVersion: now.body.metadata?.resourceVersion }
      await t.put(one, { ...body, metadata }, { query })
    }
  }
}

// --- random schemas and values

const leaf = fc.oneof(
  fc.record({
    type: fc.constant('string'),
    minLength: fc.option(fc.nat(2), { nil: undefined }),
    maxLength: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    pattern: fc.option(fc.constantFrom('^a', 'b$', '[0-9]+'), { nil: undefined }),
    nullable: fc.option(fc.boolean(), { nil: undefined }),
  }),
  fc.record({
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
    maximum: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    multipleOf: fc.option(fc.constantFrom(2, 3), { nil: undefined }),
    exclusiveMinimum: fc.option(fc.boolean(), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('boolean'), nullable: fc.option(fc.boolean(), { nil: undefined }) }),
  fc.record({ type: fc.constant('string'), enum: fc.constantFrom(['a', 'b'], ['x']) }),
  fc.constant({ 'x-kubernetes-int-or-string': true }),
)
const { schema } = fc.letrec<{ schema: Loose }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: fc.option(fc.nat(1), { nil: undefined }),
      maxItems: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
    fc.record({
      type: fc.constant('object'),
      additionalProperties: tie('schema'),
      maxProperties: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
    }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(name, tie('schema'), { minKeys: 1, maxKeys: 3 }),
      required: fc.option(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    }),
    fc.constant({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  ),
}))
const { value } = fc.letrec<{ value: Loose }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Loose>('', 'a', 'ab', 'b', '12', 'abcde', 0, 1, 2, 3, -1, 1.5, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}))

// --- selectors, bodies

const selectorText = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'app',
      '=',
      '==',
      '!=',
      '!',
      ',',
      ' in ',
      ' notin ',
      '(',
      ')',
      '1',
      '>',
      '<',
      ' ',
      'x/y',
      '-',
      '_',
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))
const bodyText = fc
  .tuple(fc.nat(200), fc.constantFrom('', '{', '}', '[', ']', '"', ',', ':', 'null', '5', '\\', 'é', '\u0000', 'true'))
  .map(([at, piece]) => {
    const whole = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"l":"x"}},"data":{"k":"v"}}'
    const cut = at % whole.length
    return whole.slice(0, cut) + piece + whole.slice(cut + (at > 100 ? 1 : 0))
  })

// --- JSON and YAML text

const digits = (min: number, max: number) =>
  fc.array(fc.constantFrom(...'0123456789'), { minLength: min, maxLength: max }).map((each) => each.join(''))
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(1, 22),
    fc.option(digits(1, 18), { nil: '' }),
    fc.constantFrom('', '', 'e', 'E-', 'e+'),
    digits(1, 2),
  )
  .map(
    ([sign, whole, fraction, exponent, power]) =>
      sign + (whole.replace(/^0+(?=.)/, '') || '0') + (fraction && `.${fraction}`) + (exponent && exponent + power),
  )
const yamlScalar = fc
  .array(
    fc.constantFrom(
      ...'0123456789.:_+-eExo ~ynYN',
      'true',
      'False',
      'on',
      'OFF',
      'null',
      'yes',
      '.inf',
      '.nan',
      '0x',
      '0b',
      '0o',
      'T',
      'Z',
      ' #',
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(''))
const stringText = fc
  .array(
    fc.constantFrom(
      'a',
      'ä',
      '€',
      '😀',
      '\\u0041',
      '\\ud83d\\ude00',
      '\\ud800',
      '\\udc00',
      '\\n',
      '\\/',
      '\\b',
      '\\u2028',
      '<',
      '&',
      '\\"',
      '\u007f',
      '\\u0000',
      '\u2028',
      '\ufeff',
    ),
    { maxLength: 6 },
  )
  .map((parts) => `"${parts.join('')}"`)

// --- strategic merge patches

// Contradictory directives are left out: Go applies them in random order.
const item = fc.record(
  { name, namespace: text, $patch: fc.option(fc.constant('delete'), { nil: undefined }) },
  { requiredKeys: ['name'] },
)
const finalizers = fc.oneof(
  fc.record({
    finalizers: fc.uniqueArray(fc.constantFrom('x.io/1', 'x.io/2', 'x.io/3'), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    '$deleteFromPrimitiveList/finalizers': fc.uniqueArray(fc.constantFrom('x.io/1', 'x.io/9'), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
  fc.constantFrom<Loose>({}, { '$setElementOrder/finalizers': ['x.io/2', 'x.io/1'] }),
)
const labelsPatch = fc.oneof(
  fc.dictionary(name, fc.constantFrom<Loose>('1', null), { maxKeys: 2 }),
  fc.constantFrom<Loose>(null, { $patch: 'replace', z: '9' }, { $patch: 'delete' }),
)
const uniqueItems = fc.uniqueArray(item, { maxLength: 3, selector: (each) => each.name })
const strategic = some<Record<string, Loose>>({
  secrets: uniqueItems,
  imagePullSecrets: fc.oneof(uniqueItems, fc.constantFrom<Loose>(null, [{ $patch: 'replace' }, { name: 'z' }])),
  automountServiceAccountToken: fc.constantFrom<Loose>(true, false, null),
  metadata: fc
    .tuple(some<Record<string, Loose>>({ labels: labelsPatch }), finalizers)
    .map(([meta, more]) => ({ ...meta, ...more })),
})

// --- rules and requests

const verb = fc.constantFrom('get', 'list', 'create', '*')
const ruleOf = fc.record({
  verbs: fc.uniqueArray(verb, { minLength: 1, maxLength: 2 }),
  apiGroups: fc.uniqueArray(fc.constantFrom('', 'apps.example.com', '*'), { minLength: 1, maxLength: 2 }),
  resources: fc.uniqueArray(fc.constantFrom('configmaps', 'pods', 'pods/status', '*/status', 'pods/*', '*'), {
    minLength: 1,
    maxLength: 2,
  }),
  resourceNames: fc.option(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), { nil: undefined }),
})
const requestOf = fc.record({
  verb: fc.constantFrom('get', 'list', 'create', 'delete'),
  group: fc.constantFrom('', 'apps.example.com', 'other.example.com'),
  resource: fc.constantFrom('configmaps', 'pods'),
  subresource: fc.constantFrom('', '', 'status', 'log'),
  name: fc.constantFrom('', 'a', 'b'),
})

describe('the embedded server and the real one, asked the same at random', {
  skip: process.env['CONFORMANCE_TARGET'] !== undefined,
}, () => {
  let pair: Pair | string

  before(async () => {
    pair = await Pair.open()
  })
  after(async () => {
    if (typeof pair !== 'string') await pair?.close()
  })

  const property = (
    what: string,
    arbitrary: fc.Arbitrary<Loose>,
    run: (t: Case, given: Loose) => Promise<void>,
    options: object = {},
  ) =>
    test(what, async (context) => {
      if (typeof pair === 'string') return context.skip(pair)
      const both = pair
      await fc.assert(
        fc.asyncProperty(arbitrary, (given) => both.same((t) => run(t, given), options)),
        { numRuns, seed, includeErrorInReport: true, endOnFailure: process.env['DIFFERENTIAL_SHRINK'] !== '1' },
      )
    })

  property(
    'who owns what after any sequence of applies, patches and updates',
    fc.array(move, { minLength: 2, maxLength: 6 }),
    async (t, moves) => {
      const widgets = await define(t, { properties: { spec: { type: 'object', properties: rich } } })
      await play(t, widgets, `${widgets.path(await t.namespace())}/a`, moves)
    },
    { managedFields: true },
  )

  property(
    'what any schema makes of any value',
    fc.tuple(schema, fc.array(value, { minLength: 4, maxLength: 8 })),
    async (t, [x, values]) => {
      const widgets = definition(t, { scope: 'Cluster', properties: { spec: { type: 'object', properties: { x } } } })
      const dry = await t.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets.crd, {
        query: { dryRun: 'All' },
        pick: (body) => (body.kind === 'Status' ? body : 'fine'),
      })
      if (dry.status !== 201) return
      await register(t, widgets)
      for (const each of values) {
        const { status, body } = await t.quiet('POST', widgets.path(), {
          query: { dryRun: 'All' },
          body: widgets.object('a', { spec: { x: each } }),
        })
        t.see(JSON.stringify(each), {
          status,
          body:
            body.kind === 'Status' ? { message: body.message, causes: body.details?.causes } : (body.spec?.x ?? null),
        })
      }
    },
  )

  property(
    'what any label selector selects',
    fc.array(selectorText, { minLength: 20, maxLength: 20 }),
    async (t, selectors) => {
      const all = configMapsIn(await t.namespace())
      await t.must('POST', all, { body: configMap('one', {}, { labels: { a: '1', app: 'b', mine: 'x' } }) })
      await t.must('POST', all, { body: configMap('two', {}, { labels: { b: '2', 'x/y': 'a', mine: 'x' } }) })
      for (const each of selectors) {
        const { status, body } = await t.quiet('GET', all, {
          query: { labelSelector: each, fieldSelector: 'metadata.name!=kube-root-ca.crt' },
        })
        t.see(each, { status, found: body.items?.map((item: Loose) => item.metadata.name) ?? body.message })
      }
    },
  )

  property('what any broken body is told', fc.array(bodyText, { minLength: 20, maxLength: 20 }), async (t, bodies) => {
    const all = configMapsIn(await t.namespace())
    for (const each of bodies) {
      const { status, body } = await t.quiet('POST', all, { query: { dryRun: 'All' }, body: each })
      t.see(each, { status, reason: body.reason, message: body.message })
    }
  })

  property(
    'what any number, string or scalar becomes',
    fc.tuple(
      fc.array(numberText, { minLength: 20, maxLength: 20 }),
      fc.array(stringText, { minLength: 15, maxLength: 15 }),
      fc.array(yamlScalar, { minLength: 25, maxLength: 25 }),
    ),
    async (t, [numbers, strings, scalars]) => {
      const widgets = await define(t)
      const all = widgets.path(await t.namespace())
      const head = `"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"a"}`
      const told = (text: string) => /"v":(.*?)\}\}\n?$/s.exec(text)?.[1] ?? text
      for (const each of numbers) {
        const { status, text: answer } = await t.quiet('POST', all, {
          query: { dryRun: 'All' },
          body: `{${head},"spec":{"v":${each}}}`,
        })
        t.see(each, { status, v: status === 201 ? told(answer) : answer.slice(0, 300) })
      }
      for (const each of strings) {
        const { status, body } = await t.quiet('POST', all, {
          query: { dryRun: 'All' },
          body: `{${head},"spec":{"v":${each}}}`,
        })
        t.see(each, { status, v: body.spec?.v ?? body })
      }
      for (const each of scalars) {
        const yaml = `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  v: ${each}\n`
        const { status, body } = await t.quiet('POST', all, {
          query: { dryRun: 'All' },
          type: 'application/yaml',
          body: yaml,
        })
        t.see(each, { status, spec: body.spec ?? null })
      }
    },
  )

  property(
    'what any merge patch makes of any object',
    fc.array(fc.dictionary(name, value, { maxKeys: 3 }), { minLength: 5, maxLength: 5 }),
    async (t, patches) => {
      const widgets = await define(t)
      const all = widgets.path(await t.namespace())
      await t.must('POST', all, { body: widgets.object('a', { spec: { a: { b: 1 }, c: [1] } }) })
      for (const each of patches)
        await t.mergePatch(
          `${all}/a`,
          { spec: each },
          { pick: (body) => (body.kind === 'Status' ? body : [body.spec, body.metadata.generation]) },
        )
    },
  )

  property(
    'who may do what under any rules',
    fc.tuple(fc.array(ruleOf, { minLength: 1, maxLength: 3 }), fc.array(requestOf, { minLength: 25, maxLength: 25 })),
    async (t, [rules, requests]) => {
      const ns = await t.namespace()
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}`
      const marker = { verbs: ['marker'], apiGroups: [''], resources: ['markers'] }
      await t.must('POST', `${rbac}/roles`, { body: { metadata: { name: 'r' }, rules: [...rules, marker] } })
      await t.must('POST', `${rbac}/rolebindings`, {
        body: {
          metadata: { name: 'b' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'u' }],
        },
      })
      const ask = async (resourceAttributes: Loose) =>
        (
          await t.must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
            body: { spec: { user: 'u', resourceAttributes: { namespace: ns, ...resourceAttributes } } },
          })
        ).body.status
      while (!(await ask({ verb: 'marker', resource: 'markers' })).allowed)
        await new Promise((resolve) => setTimeout(resolve, 20))
      for (const each of requests) t.see(JSON.stringify(each), await ask(each))
    },
  )

  property(
    'what any strategic merge patch makes of a service account',
    fc.array(strategic, { minLength: 10, maxLength: 10 }),
    async (t, patches) => {
      const all = `/api/v1/namespaces/${await t.namespace()}/serviceaccounts`
      const metadata = { name: 'a', labels: { a: '1', b: '2' }, finalizers: ['x.io/1', 'x.io/2'] }
      await t.must('POST', all, {
        body: {
          metadata,
          secrets: [{ name: 'a' }, { name: 'b', namespace: 'n' }],
          imagePullSecrets: [{ name: 'a' }, { name: 'b' }],
        },
      })
      for (const each of patches) {
        const { status, body } = await t.quiet('PATCH', `${all}/a`, {
          type: 'application/strategic-merge-patch+json',
          query: { dryRun: 'All' },
          body: each,
        })
        const { metadata: meta, secrets, imagePullSecrets } = body
        t.see(
          JSON.stringify(each),
          status === 200
            ? { secrets, imagePullSecrets, labels: meta.labels, finalizers: meta.finalizers }
            : { status, reason: body.reason },
        )
      }
    },
  )
})
