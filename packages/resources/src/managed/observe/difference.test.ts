import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { s } from '../../definition/schema.js'
import { emptyFields } from '../late-initialization.js'
import { changedValues, differencesOf, leaveAlone, mergeInit } from './difference.js'

const { node } = s.object({
  size: s.optional(s.integer()),
  scaling: s.optional(s.object({ min: s.optional(s.integer()), desired: s.optional(s.integer()) })),
  members: s.optional(s.list(s.string(), { set: true })),
  steps: s.optional(s.list(s.string())),
  taints: s.optional(s.list(s.object({ key: s.string(), effect: s.optional(s.string()) }), { keys: ['key'] })),
  labels: s.optional(s.map(s.string())),
  tags: s.optional(s.map(s.string(), { shared: true })),
  keepSnapshot: s.optional(s.boolean({ unreported: true })),
  policy: s.optional(s.string({ same: (a, b) => a.toLowerCase() === b.toLowerCase() })),
})

interface Case {
  readonly because: string
  readonly desired: object
  readonly observed: object
  readonly paths: readonly string[]
}

const cases: Record<string, Case> = {
  LeftOpen: { because: 'what the spec does not say is not wanted', desired: {}, observed: { size: 3 }, paths: [] },
  Scalar: { because: 'it differs', desired: { size: 1 }, observed: { size: 3 }, paths: ['size'] },
  Unreported: { because: 'nobody can tell how it is', desired: { keepSnapshot: true }, observed: {}, paths: [] },
  Missing: { because: 'it is not there', desired: { size: 1 }, observed: {}, paths: ['size'] },
  BigInt: { because: '1 and 1n are one number', desired: { size: 1 }, observed: { size: 1n }, paths: [] },
  Nested: {
    because: 'only the field that differs is named',
    desired: { scaling: { min: 1, desired: 2 } },
    observed: { scaling: { min: 1, desired: 5, status: 'ok' } },
    paths: ['scaling.desired'],
  },
  Set: {
    because: 'order means nothing',
    desired: { members: ['a', 'b'] },
    observed: { members: ['b', 'a'] },
    paths: [],
  },
  List: {
    because: 'order means something',
    desired: { steps: ['a', 'b'] },
    observed: { steps: ['b', 'a'] },
    paths: ['steps'],
  },
  EmptyList: { because: 'none and no list are the same', desired: { steps: [] }, observed: {}, paths: [] },
  Keyed: {
    because: 'items are found by key, and what they leave open is not wanted',
    desired: { taints: [{ key: 'a' }, { key: 'b', effect: 'x' }] },
    observed: {
      taints: [
        { key: 'b', effect: 'x' },
        { key: 'a', effect: 'y' },
      ],
    },
    paths: [],
  },
  KeyedExtra: {
    because: 'one too many',
    desired: { taints: [{ key: 'a' }] },
    observed: { taints: [{ key: 'a' }, { key: 'b' }] },
    paths: ['taints'],
  },
  Map: {
    because: 'a map is ours alone',
    desired: { labels: { a: '1' } },
    observed: { labels: { a: '1', b: '2' } },
    paths: ['labels'],
  },
  SharedMap: {
    because: "others' tags are theirs",
    desired: { tags: { a: '1', 'x/y.z': '2' } },
    observed: { tags: { a: '9', b: '2' } },
    paths: ['tags.a', 'tags[x/y.z]'],
  },
  Same: {
    because: 'the kind says that case does not matter',
    desired: { policy: 'A' },
    observed: { policy: 'a' },
    paths: [],
  },
}

for (const [name, { because, desired, observed, paths }] of Object.entries(cases)) {
  test(`MR14 ${name}: ${because}`, () => {
    const found = differencesOf(node, desired as Record<string, unknown>, observed as Record<string, unknown>)
    assert.deepEqual(
      found.map(({ path }) => path),
      paths,
    )
  })
}

test('an update is told what differs, nested fields alone, maps and lists whole', () => {
  const desired = { size: 1, scaling: { min: 1, desired: 2 }, tags: { a: '1', b: '2' } }
  const observed = { size: 1, scaling: { min: 0, desired: 2 }, tags: { a: '1', b: '9' } }
  assert.deepEqual(changedValues(node, desired, observed), { scaling: { min: 1 }, tags: { a: '1', b: '2' } })
})

test('INI5 what is left alone looks as it is, wildcards and keys included', () => {
  const desired = { size: 1, labels: { a: '1', b: '2' }, tags: { a: '1' } }
  const observed = { size: 5, labels: { a: '9' }, tags: { a: '7', c: '8' } }
  assert.deepEqual(leaveAlone(desired, ['size', 'labels.b', 'tags[*]', 'nonsense[', 'steps[0]'], observed), {
    size: 5,
    labels: { a: '1' },
    tags: { a: '7', c: '8' },
  })
})

test('INI1 keyed lists are merged by key, other lists are taken whole', () => {
  const merged = mergeInit(
    node,
    { taints: [{ key: 'a', effect: 'x' }], steps: ['for'], tags: { a: 'for' } },
    {
      taints: [{ key: 'a', effect: 'y' }, { key: 'b' }],
      steps: ['init', 'more'],
      tags: { a: 'init', b: 'init' },
      size: 4,
    },
  )
  assert.deepEqual(merged, {
    taints: [{ key: 'a', effect: 'x' }, { key: 'b' }],
    steps: ['for'],
    tags: { a: 'for', b: 'init' },
    size: 4,
  })
})

const values = fc.record(
  {
    size: fc.integer(),
    scaling: fc.record({ min: fc.integer(), desired: fc.integer() }, { requiredKeys: [] }),
    members: fc.array(fc.string()),
    labels: fc.dictionary(fc.string(), fc.string()),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, unknown>>

test('INI1 documents are merged key by key, their lists are taken whole', () => {
  const { node: document } = s.object({ manifest: s.json() })
  const merged = mergeInit(
    document,
    { manifest: { data: { a: 'ours' }, list: [1] } },
    { manifest: { data: { a: 'theirs', b: 'theirs' }, list: [2, 3], spec: { replicas: 2 } } },
  )
  assert.deepEqual(merged, { manifest: { data: { a: 'ours', b: 'theirs' }, list: [1], spec: { replicas: 2 } } })
})

test('INI1 whatever is merged, nothing of forProvider is lost', () => {
  fc.assert(
    fc.property(values, values, (forProvider, init) =>
      assert.deepEqual(leavesLost(forProvider, mergeInit(node, forProvider, init)), []),
    ),
  )
})

test('MR6 what was filled in is no longer empty, and nothing that was set is filled', () => {
  fc.assert(
    fc.property(values, values, (forProvider, observed) => {
      const filled = mergeInit(node, forProvider, emptyFields(node, forProvider, undefined, observed))
      assert.deepEqual(leavesLost(forProvider, filled), [])
      assert.deepEqual(emptyFields(node, filled, undefined, observed), {})
    }),
  )
})

test('what equals itself does not differ', () => {
  fc.assert(fc.property(values, (value) => assert.deepEqual(differencesOf(node, value, value), [])))
})

/** Returns the fields of `before` that differ in `after`. */
function leavesLost(before: Record<string, unknown>, after: Record<string, unknown>, path = ''): string[] {
  return Object.entries(before).flatMap(([key, value]) => {
    const now = after[key]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return leavesLost(value as Record<string, unknown>, (now ?? {}) as Record<string, unknown>, `${path}${key}.`)
    }
    return JSON.stringify(value) === JSON.stringify(now) ? [] : [path + key]
  })
}

test('MR6 a field that is to stay open is not filled in', () => {
  const { node } = s.object({ gateway: s.optional(s.string({ lateInitialize: false })), size: s.optional(s.integer()) })
  assert.deepEqual(emptyFields(node, {}, undefined, { gateway: 'g-1', size: 2 }), { size: 2 })
})

test('a value that the provider omits because it is zero does not differ', () => {
  const zero = { omittedWhenZero: true }
  const { node } = s.object({
    enabled: s.optional(s.boolean(zero)),
    size: s.optional(s.integer(zero)),
    inner: s.optional(s.object({ on: s.optional(s.boolean(zero)) }, zero)),
    strict: s.optional(s.boolean()),
  })
  assert.deepEqual(differencesOf(node, { enabled: false, size: 0, inner: { on: false } }, {}), [])
  assert.deepEqual(differencesOf(node, { enabled: true, inner: { on: true } }, { inner: {} }), [
    { path: 'enabled', desired: true, observed: undefined },
    { path: 'inner.on', desired: true, observed: undefined },
  ])
  assert.equal(differencesOf(node, { strict: false }, {}).length, 1)
  assert.equal(differencesOf(node, { size: 0 }, { size: 3 }).length, 1)
})
