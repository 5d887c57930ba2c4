import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import fc from 'fast-check'
import { StatusError } from '../errors.js'
import { clone, equal } from '../json.js'
import type { KubeObject } from '../object.js'
import { type ApplyResult, FieldManager } from './index.js'

/**
 * The results of the field manager of apimachinery 1.34 for generated histories of an object: creates, updates and
 * applies by several managers, in two versions, of the main resource and of its status.
 */
interface Vectors {
  readonly schemas: Readonly<Record<'granular' | 'atomic', Readonly<Record<string, JSONSchemaProps>>>>
  readonly scenarios: readonly { readonly kind: string; readonly seed: number; readonly steps: readonly Step[] }[]
}

interface Step {
  readonly op: 'create' | 'update' | 'apply'
  readonly version: string
  readonly sub?: string
  readonly manager: string
  readonly force?: boolean
  /** Whether parts of the schema are atomic. */
  readonly atomic?: boolean
  readonly input: KubeObject
  readonly want?: KubeObject
  readonly err?: { code: number; reason: string; message: string; causes?: readonly Cause[] }
}

interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

const { schemas, scenarios }: Vectors = JSON.parse(
  readFileSync(new URL('../../src/patch/testdata/field-manager.json', import.meta.url), 'utf8'),
)

/** Converts between versions: v2 has another name for `spec.s`. */
function convert(object: KubeObject, version: string): KubeObject {
  if (object.apiVersion === version) return object
  const converted = clone(object) as { apiVersion: string; spec?: Record<string, unknown> }
  converted.apiVersion = version
  const [from, to] = version.endsWith('v1') ? ['renamed', 's'] : ['s', 'renamed']
  const spec = converted.spec
  if (spec && typeof spec === 'object' && from! in spec) {
    spec[to!] = spec[from!]
    delete spec[from!]
  }
  return converted as unknown as KubeObject
}

const sync = {
  granular: new FieldManager({ kind: 'Foo', versions: schemas.granular, convert }),
  atomic: new FieldManager({ kind: 'Foo', versions: schemas.atomic, convert }),
}
const later = async (object: KubeObject, version: string) => convert(object, version)
const async = {
  granular: new FieldManager({ kind: 'Foo', versions: schemas.granular, convert: later }),
  atomic: new FieldManager({ kind: 'Foo', versions: schemas.atomic, convert: later }),
}

async function run(manager: FieldManager, step: Step, live: KubeObject | undefined, now: number): Promise<unknown> {
  const common = {
    ...(live ? { live } : {}),
    manager: step.manager,
    version: step.version,
    subresource: step.sub ?? '',
    now,
    resetFields: step.sub === 'status' ? [['spec']] : [['status']],
  }
  try {
    if (step.op !== 'apply') return { want: await manager.trackUpdate({ ...common, updated: step.input }) }
    const result = await manager.applyPatch({ ...common, applied: step.input, force: step.force ?? false })
    return { want: result.object }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { code, reason, message, details } = error
    return {
      err: { code, reason, message, ...(details?.causes ? { causes: details.causes.map(causeText).sort() } : {}) },
    }
  }
}

function causeText({ reason, message, field }: Cause): string {
  return JSON.stringify([reason, message, field])
}

test('histories of an object end as in Kubernetes', async () => {
  for (const { kind, seed, steps } of scenarios) {
    let live: KubeObject | undefined
    for (const [index, step] of steps.entries()) {
      const now = Date.UTC(2020, 0, 1, 0, 0, index + 1)
      const current = live && convert(live, step.version)
      const context = `${kind} ${seed}, step ${index}: ${step.op} by ${step.manager}`
      const before = JSON.stringify([current, step.input])
      const err = step.err && {
        ...step.err,
        ...(step.err.causes ? { causes: step.err.causes.map(causeText).sort() } : {}),
      }
      const want = err ? { err } : { want: step.want }
      const schema = step.atomic ? 'atomic' : 'granular'
      assert.deepEqual(await run(sync[schema], step, current, now), want, context)
      if (kind === 'versions') {
        assert.deepEqual(await run(async[schema], step, current, now), want, `${context}, converted later`)
      }
      assert.equal(JSON.stringify([current, step.input]), before, `${context}: inputs are not changed`)
      if (step.want) live = { ...step.want, metadata: { ...step.want.metadata, uid: 'uid-1' } }
    }
  }
})

const version = 'e.org/v1'
const manager = new FieldManager({ kind: 'Foo', versions: { [version]: schemas.granular[version] } })

const word = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
const words = fc.uniqueArray(word, { maxLength: 3 })
const ports = fc.uniqueArray(
  fc.record({ port: fc.integer({ min: 80, max: 83 }), name: word, tags: words }, { requiredKeys: ['port', 'name'] }),
  { maxLength: 3, selector: ({ port }) => port },
)
const spec = fc.record(
  {
    n: fc.integer({ min: 0, max: 3 }),
    s: word,
    b: fc.boolean(),
    set: words,
    alist: words,
    map: fc.dictionary(word, word, { maxKeys: 3 }),
    free: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    obj: fc.record({ a: word, deep: fc.record({ c: word }, { requiredKeys: [] }) }, { requiredKeys: [] }),
    aobj: fc.record({ a: word }, { requiredKeys: [] }),
    ports,
  },
  { requiredKeys: [] },
)
const object = fc
  .record({ labels: fc.dictionary(word, word, { maxKeys: 2 }), spec }, { requiredKeys: ['spec'] })
  .map(({ labels, spec }): KubeObject => {
    return { apiVersion: version, kind: 'Foo', metadata: { name: 'x', ...(labels ? { labels } : {}) }, spec }
  })

function create(updated: KubeObject): KubeObject {
  const created = manager.trackUpdate({ updated, manager: 'creator', version, now: 1000 }) as KubeObject
  return { ...created, metadata: { ...created.metadata, uid: 'u' } }
}

function apply(live: KubeObject | undefined, applied: KubeObject, by: string, now = 2000): ApplyResult {
  const input = { ...(live ? { live } : {}), applied, manager: by, force: true, version, now }
  return manager.applyPatch(input) as ApplyResult
}

test('applying the same object again changes nothing, not even the time', () => {
  fc.assert(
    fc.property(object, object, (stored, applied) => {
      const first = apply(create(stored), applied, 'me').object
      const again = apply(first, applied, 'me', 9000)
      assert.equal(again.managedFieldsChanged, false)
      assert.equal(again.object, first)
    }),
  )
})

test('an update without changes keeps managedFields', () => {
  fc.assert(
    fc.property(object, object, (stored, applied) => {
      const live = apply(create(stored), applied, 'me').object
      const updated = clone(live)
      const tracked = manager.trackUpdate({ live, updated, manager: 'other', version, now: 9000 }) as KubeObject
      assert.ok(equal(tracked, live))
    }),
  )
})

test('a forced apply sets its fields', () => {
  fc.assert(
    fc.property(object, object, (stored, applied) => {
      const result = apply(create(stored), applied, 'me').object['spec'] as Record<string, unknown>
      const wanted = applied['spec'] as Record<string, unknown>
      for (const field of ['n', 's', 'b', 'alist', 'aobj']) {
        if (field in wanted) assert.deepEqual(result[field], wanted[field])
      }
      for (const item of (wanted['set'] as string[] | undefined) ?? []) {
        assert.ok((result['set'] as string[]).includes(item))
      }
    }),
  )
})

test('fields of a single applier are removed when it no longer applies them', () => {
  fc.assert(
    fc.property(object, (applied) => {
      const bare: KubeObject = { apiVersion: version, kind: 'Foo', metadata: { name: 'x' } }
      const live = apply(undefined, applied, 'me').object
      const after = apply({ ...live, metadata: { ...live.metadata, uid: 'u' } }, bare, 'me').object
      const { managedFields: _, uid: __, ...metadata } = after.metadata
      assert.deepEqual(metadata, { name: 'x' })
      const leftovers = Object.entries((after['spec'] as object | undefined) ?? {}).filter(([, value]) => {
        return !equal(value, []) // An empty list has no owner.
      })
      assert.deepEqual(leftovers, [])
    }),
  )
})

interface Typed {
  readonly schema: JSONSchemaProps
  readonly value: fc.Arbitrary<unknown>
}

/** Any schema, with values that fit it. */
const { typed } = fc.letrec<{ typed: Typed; leaf: Typed; object: Typed; list: Typed; keyed: Typed; map: Typed }>(
  (tie) => ({
    leaf: fc.constantFrom<Typed>(
      { schema: { type: 'string' }, value: word },
      { schema: { type: 'integer' }, value: fc.integer({ min: 0, max: 3 }) },
      { schema: { type: 'boolean' }, value: fc.boolean() },
      { schema: { 'x-kubernetes-int-or-string': true }, value: fc.oneof(word, fc.nat(3)) },
      { schema: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, value: words },
      { schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, value: fc.dictionary(word, word) },
    ),
    object: fc.dictionary(word, tie('typed'), { maxKeys: 4 }).chain((fields) =>
      fc.boolean().map((atomic): Typed => {
        const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
        const values = Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
        const mapType = atomic ? ({ 'x-kubernetes-map-type': 'atomic' } as const) : {}
        return {
          schema: { type: 'object', properties, ...mapType },
          value: Object.keys(fields).length === 0 ? fc.constant({}) : fc.record(values, { requiredKeys: [] }),
        }
      }),
    ),
    list: tie('typed').map(
      ({ schema, value }): Typed => ({
        schema: { type: 'array', items: schema },
        value: fc.array(value, { maxLength: 2 }),
      }),
    ),
    keyed: tie('typed').map(
      ({ schema, value }): Typed => ({
        schema: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: { type: 'object', properties: { id: { type: 'string' }, content: schema } },
        },
        value: fc.uniqueArray(fc.record({ id: word, content: value }, { requiredKeys: ['id'] }), {
          maxLength: 3,
          selector: ({ id }) => id,
        }),
      }),
    ),
    map: tie('typed').map(
      ({ schema, value }): Typed => ({
        schema: { type: 'object', additionalProperties: schema },
        value: fc.dictionary(word, value, { maxKeys: 3 }),
      }),
    ),
    typed: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('object'), tie('list'), tie('keyed'), tie('map')),
  }),
)

test('for any schema, applying again changes nothing, and the stored object is the written one', () => {
  const histories = typed.chain(({ schema, value }) => fc.tuple(fc.constant(schema), value, value, value))
  fc.assert(
    fc.property(histories, ([schema, stored, updated, applied]) => {
      const kind = new FieldManager({
        kind: 'Foo',
        versions: { [version]: { type: 'object', properties: { spec: schema } } },
      })
      const object = (spec: unknown): KubeObject => ({
        apiVersion: version,
        kind: 'Foo',
        metadata: { name: 'x' },
        spec,
      })
      const created = kind.trackUpdate({ updated: object(stored), manager: 'a', version, now: 1000 }) as KubeObject
      const live = { ...created, metadata: { ...created.metadata, uid: 'u' } }
      const change = { ...live, spec: updated }
      const changed = kind.trackUpdate({ live, updated: change, manager: 'b', version, now: 2000 }) as KubeObject
      assert.deepEqual(changed['spec'], updated)
      const input = { applied: object(applied), manager: 'c', force: true, version, now: 3000 }
      const first = (kind.applyPatch({ ...input, live: changed }) as ApplyResult).object
      const second = kind.applyPatch({ ...input, live: first, now: 4000 }) as ApplyResult
      assert.equal(second.managedFieldsChanged, false)
      assert.equal(second.object, first)
      assert.equal(JSON.stringify(JSON.parse(JSON.stringify(first))), JSON.stringify(first))
    }),
    { numRuns: 300 },
  )
})

test('two appliers of different fields do not conflict', () => {
  fc.assert(
    fc.property(fc.integer(), word, (n, s) => {
      const mine: KubeObject = { apiVersion: version, kind: 'Foo', metadata: { name: 'x' }, spec: { n } }
      const yours: KubeObject = { ...mine, spec: { s } }
      const live = apply(undefined, mine, 'me').object
      const input = { live, applied: yours, manager: 'you', version, now: 3000 }
      const both = (manager.applyPatch(input) as ApplyResult).object
      assert.deepEqual(both['spec'], { n, s })
      assert.equal(both.metadata.managedFields?.length, 2)
    }),
  )
})

test('rejected requests and special cases', () => {
  const live = create({ apiVersion: version, kind: 'Foo', metadata: { name: 'x' }, spec: { n: 1 } })
  const applied: KubeObject = { apiVersion: version, kind: 'Foo', metadata: { name: 'x' }, spec: { n: 2 } }
  const refused = (change: object, message: RegExp, from: KubeObject = live) =>
    assert.throws(() => {
      manager.applyPatch({ live: from, applied: { ...applied, ...change }, manager: 'me', version, now: 1 })
    }, message)
  refused({ kind: 'Bar' }, /^StatusError: invalid object type: e\.org\/v1, Kind=Bar$/)
  refused({ metadata: { name: 'x', managedFields: [] } }, /metadata\.managedFields must be nil/)
  refused(
    { spec: { zzz: 1 } },
    /failed to create typed patch object \(\/x; e\.org\/v1, Kind=Foo\): \.spec\.zzz: field not/,
  )
  refused({}, /^StatusError: Apply failed with 1 conflict: conflict with "creator" using e\.org\/v1: \.spec\.n$/)
  const broken = { ...live, metadata: { ...live.metadata, managedFields: [{ operation: 'Guess' as 'Apply' }] } }
  refused({}, /failed to decode managed fields: operation must be `Apply` or `Update`/, broken)
})

test('a value that does not fit its schema loses its managedFields, but is written', () => {
  const updated: KubeObject = { apiVersion: version, kind: 'Foo', metadata: { name: 'x' }, spec: { ports: [null] } }
  const tracked = manager.trackUpdate({ updated, manager: 'me', version, now: 1 }) as KubeObject
  assert.equal(tracked.metadata.managedFields, undefined)
})

test('integers beyond 2^53 have owners', () => {
  const updated: KubeObject = { apiVersion: version, kind: 'Foo', metadata: { name: 'x' }, spec: { n: 2n ** 60n } }
  const live = create(updated)
  assert.deepEqual(live.metadata.managedFields?.[0]?.fieldsV1, { 'f:spec': { '.': {}, 'f:n': {} } })
  const same = { live, updated: clone(live), manager: 'me', version, now: 9 }
  assert.ok(equal(manager.trackUpdate(same), live))
})
