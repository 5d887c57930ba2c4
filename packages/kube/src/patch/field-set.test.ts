import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  decodeFields,
  difference,
  type FieldSet,
  FieldSetError,
  floatText,
  intersection,
  paths,
  pathText,
  recursiveDifference,
  union,
} from './field-set.js'

/** The results of structured-merge-diff v6 for generated sets, as bytes. */
interface Vector {
  readonly a: FieldSet
  readonly b: FieldSet
  readonly canonical: string
  readonly union: string
  readonly intersection: string
  readonly difference: string
  readonly recursive: string
  readonly paths: readonly string[]
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../src/patch/testdata/field-sets.json', import.meta.url), 'utf8'),
)

test('sets are decoded, combined and encoded as in Kubernetes, byte for byte', () => {
  for (const vector of vectors) {
    const a = decodeFields(vector.a)
    const b = decodeFields(vector.b)
    const context = JSON.stringify([vector.a, vector.b])
    assert.equal(JSON.stringify(a), vector.canonical, context)
    assert.equal(JSON.stringify(union(a, b)), vector.union, context)
    assert.equal(JSON.stringify(intersection(a, b)), vector.intersection, context)
    assert.equal(JSON.stringify(difference(a, b)), vector.difference, context)
    assert.equal(JSON.stringify(recursiveDifference(a, b)), vector.recursive, context)
    assert.deepEqual(paths(a).map(pathText), vector.paths, context)
  }
})

test('a canonical set decodes to itself', () => {
  const set = JSON.parse('{"f:a":{".":{},"k:{\\"name\\":\\"x\\"}":{}},"f:b":{}}')
  assert.equal(decodeFields(set), set)
})

test('invalid sets of fields', () => {
  for (const text of ['{"a":{}}', '{"f:a":1}', '{"k:x":{}}', '{"v:":{}}', '{"i:x":{}}', '[]', '{"k:[]":{}}']) {
    assert.throws(() => decodeFields(JSON.parse(text)), FieldSetError, text)
  }
  assert.deepEqual(decodeFields(JSON.parse('{"z:future":{}}')), {}, 'elements of unknown kinds are dropped')
})

test('numbers in paths are printed as Go prints floats', () => {
  const cases: [number, string][] = [
    [80, '80'],
    [999999, '999999'],
    [1000000, '1e+06'],
    [12345678, '1.2345678e+07'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.5, '-1.5'],
    [0, '0'],
  ]
  for (const [value, want] of cases) assert.equal(floatText(value), want)
})
