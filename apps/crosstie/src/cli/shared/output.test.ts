import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encoded, outputOf, valuesAt } from './output.js'

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
