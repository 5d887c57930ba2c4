import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  deleteFieldValue,
  expandWildcards,
  FieldPathError,
  findFieldValue,
  formatFieldPath,
  getFieldValue,
  mergeFieldValue,
  parseFieldPath,
  setFieldValue,
} from './fieldpath.js'

// The recorded behavior of the Go implementation is tested in packages/resources (vectors). These tests cover the
// rest.

test('setFieldValue copies the changed path and shares the rest of the document', () => {
  const document = { a: { b: 1 }, c: { d: 2 } }
  const after = setFieldValue(document, 'a.b', 3)
  assert.deepEqual(document, { a: { b: 1 }, c: { d: 2 } })
  assert.deepEqual(after, { a: { b: 3 }, c: { d: 2 } })
  assert.equal(after.c, document.c)
})

test('names such as __proto__ are ordinary fields', () => {
  const after = setFieldValue({}, 'a.__proto__.polluted', true)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal(getFieldValue(after, 'a.__proto__.polluted'), true)
  assert.throws(() => getFieldValue({}, 'constructor'), FieldPathError)
  assert.equal(findFieldValue({}, 'constructor'), undefined)
  assert.deepEqual(mergeFieldValue({ a: {} }, 'a', JSON.parse('{"__proto__": {"x": 1}}'), {}), {
    a: JSON.parse('{"__proto__": {"x": 1}}'),
  })
})

test('deleting a field twice changes nothing the second time', () => {
  const document = { tags: { a: '1', b: '2' }, list: [1, 2, 3] }
  const after = deleteFieldValue(document, 'tags.a')
  assert.deepEqual(after, { tags: { b: '2' }, list: [1, 2, 3] })
  assert.equal(deleteFieldValue(after, 'tags.a'), after)
  assert.deepEqual(deleteFieldValue(document, 'list[1]').list, [1, 3])
})

const word = fc.stringMatching(/^[a-z][a-z0-9./-]{0,6}$/)
const segment = fc.oneof(
  word.map((field) => ({ field })),
  fc.nat(9).map((index) => ({ index })),
)
const path = fc.tuple(word, fc.array(segment, { maxLength: 4 })).map(([field, rest]) => [{ field }, ...rest])

test('a formatted path parses to the same path', () => {
  fc.assert(fc.property(path, (segments) => assert.deepEqual(parseFieldPath(formatFieldPath(segments)), segments)))
})

test('a set value is found, and expanding its path returns only that path', () => {
  fc.assert(
    fc.property(path, fc.jsonValue(), (segments, value) => {
      const document = setFieldValue({}, segments, value)
      assert.deepEqual(getFieldValue(document, segments), value)
      assert.deepEqual(expandWildcards(document, segments), [formatFieldPath(segments)])
    }),
  )
})
