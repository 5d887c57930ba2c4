import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { StatusError } from './errors.js'
import { everything, nothing, parseFieldSelector, parseLabelSelector, selectorOf } from './selector.js'

/** The results of apimachinery 0.34.4 for generated texts. */
interface Vector {
  readonly Kind: 'label' | 'field'
  readonly In?: string
  readonly Out?: string
  readonly Err?: string
  readonly Matches?: readonly boolean[]
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../src/testdata/selectors.json', import.meta.url), 'utf8'),
)
const labelSets: readonly Record<string, string>[] = [
  {},
  { a: '1' },
  { a: 'b', b: '1' },
  { 'x.y/z': '', a: '-7' },
  { in: 'in', notin: 'a' },
]
const fieldSets: readonly Record<string, string>[] = [
  {},
  { 'metadata.name': 'a' },
  { 'spec.x': 'b', 'metadata.name': 'b' },
]

test('selectors are parsed, printed and rejected as in apimachinery', () => {
  for (const { Kind, In = '', Out = '', Err, Matches } of vectors) {
    const parse = Kind === 'label' ? parseLabelSelector : parseFieldSelector
    if (Err !== undefined) {
      assert.throws(
        () => parse(In),
        (error: unknown) => {
          assert.ok(error instanceof StatusError, In)
          assert.equal(error.code, 400)
          assert.equal(error.message, Err, In)
          return true
        },
      )
      continue
    }
    const selector = parse(In)
    assert.equal(selector.toString(), Out, In)
    const sets = Kind === 'label' ? labelSets : fieldSets
    assert.deepEqual(
      sets.map((set) => selector.matches(set)),
      Matches,
      In,
    )
  }
})

test('LabelSelector objects', () => {
  assert.equal(selectorOf(undefined), nothing)
  assert.equal(nothing.matches({ a: 'b' }), false)
  assert.equal(selectorOf({}), everything)
  assert.equal(selectorOf({}).matches(undefined), true)
  const selector = selectorOf({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'NotIn', values: ['b', 'a'] },
      { key: 'aged', operator: 'DoesNotExist' },
      { key: 'env', operator: 'Exists' },
    ],
  })
  assert.equal(selector.toString(), '!aged,app=web,env,tier notin (a,b)')
  assert.equal(selector.matches({ app: 'web', env: '' }), true)
  assert.equal(selector.matches({ app: 'web', env: '', tier: 'a' }), false)
  assert.throws(
    () => selectorOf({ matchExpressions: [{ key: 'a', operator: 'Like' }] }),
    /^StatusError: "Like" is not a valid label selector operator$/,
  )
  assert.throws(
    () => selectorOf({ matchExpressions: [{ key: 'a', operator: 'In' }] }),
    /values: Invalid value: \[\]: for 'in', 'notin' operators, values set can't be empty/,
  )
})

test('names such as constructor are ordinary labels', () => {
  assert.equal(parseLabelSelector('constructor').matches({}), false)
  assert.equal(parseLabelSelector('!toString').matches({}), true)
  assert.equal(parseFieldSelector('constructor=').matches({}), true)
})

test('exact() returns the value that a field selector requires', () => {
  assert.equal(parseFieldSelector('metadata.name=a,spec.x!=b').exact('metadata.name'), 'a')
  assert.equal(parseFieldSelector('metadata.name=a,spec.x!=b').exact('spec.x'), undefined)
})
