import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeJson } from './json.js'
import { JsonSyntaxError, parseExactly } from './json-exact.js'

const values: readonly { text: string; value: unknown; duplicates?: readonly string[]; because: string }[] = [
  { text: '9007199254740993', value: 9007199254740993n, because: 'int64 keeps its value' },
  { text: '-9223372036854775808', value: -9223372036854775808n, because: 'down to its least one' },
  { text: '9223372036854775808', value: 2 ** 63, because: 'beyond int64 Go reads a float' },
  { text: '1.0', value: 1, because: 'a float that is whole' },
  { text: '1e3', value: 1000, because: 'an exponent makes a float' },
  { text: '-0', value: 0, because: 'Go reads it as an integer, and that has one zero' },
  { text: '"\\ud83d\\ude00"', value: '😀', because: 'a pair of surrogates is one character' },
  { text: '"\\ud800x"', value: '\ufffdx', because: 'an unpaired surrogate is replaced' },
  { text: ' [1 , 2 ] ', value: [1, 2], because: 'space is free' },
  {
    text: '{"a":1,"a":2}',
    value: { a: 2 },
    duplicates: ['a'],
    because: 'the last one wins, and the duplicate is reported',
  },
  {
    text: '{"a":{"b":[{"c":1,"c":2}],"b":3},"a":4}',
    value: { a: 4 },
    duplicates: ['a.b[0].c', 'a.b', 'a'],
    because: 'paths are as kube-apiserver writes them',
  },
]

for (const { text, value, duplicates = [], because } of values) {
  test(`${text}: ${because}`, () => {
    assert.deepEqual(decodeJson(text, { strict: true }), { value, duplicates })
    assert.deepEqual(decodeJson(Buffer.from(text), { strict: true }), { value, duplicates })
  })
}

test('__proto__ is a key like any other', () => {
  const { value, duplicates } = decodeJson('{"__proto__":{"x":1},"__proto__":2}', { strict: true })
  assert.deepEqual(Object.entries(value as object), [['__proto__', 2]])
  assert.deepEqual(duplicates, ['__proto__'])
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
})

const faults: readonly [string, string][] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['{a}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['1 2', "invalid character '2' after top-level value"],
  ['tru3', "invalid character '3' in literal true (expecting 'e')"],
  ['nul', 'unexpected end of JSON input'],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['01', "invalid character '1' after top-level value"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['1e999', 'json: cannot unmarshal number 1e999 into Go value of type float64'],
  ['['.repeat(20_000), 'exceeded max depth'],
]

for (const [text, message] of faults) {
  test(`refuses ${text.slice(0, 20)}: ${message}`, () => {
    assert.throws(() => decodeJson(text), new JsonSyntaxError(message))
  })
}

test('the fast and the exact parser agree', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const exact = parseExactly(text)
      assert.deepEqual(decodeJson(text, { strict: true }).value, exact.value)
    }),
  )
})
