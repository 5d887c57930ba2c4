import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { add, compareStrings, divide, modulo, multiply, subtract } from './arithmetic.js'
import { baseEnvironments } from './base.js'
import { escapeName, unescapeName } from './names.js'
import { CompileError, compile } from './program.js'
import { formatTimestamp, parseTimestamp } from './time.js'
import { types } from './types.js'
import { EvaluationError, equals, fromJson, maxInt, minInt, normalInt, type Value } from './values.js'

const int64 = fc.bigInt({ min: minInt, max: maxInt })
const anyInt = fc.oneof(
  int64,
  fc.bigInt({ min: -100n, max: 100n }),
  fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 53n + 9n }),
)

function outcome(run: () => Value): Value | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof EvaluationError) return undefined
    throw error
  }
}

test('ints are exact in both representations, and overflow is an error', () => {
  const operations: [(a: Value, b: Value) => Value, (a: bigint, b: bigint) => bigint | undefined][] = [
    [add, (a, b) => a + b],
    [subtract, (a, b) => a - b],
    [multiply, (a, b) => a * b],
    [divide, (a, b) => (b === 0n ? undefined : a / b)],
    [modulo, (a, b) => (b === 0n || (a === minInt && b === -1n) ? undefined : a % b)],
  ]
  fc.assert(
    fc.property(anyInt, anyInt, fc.constantFrom(...operations), (a, b, [ours, exact]) => {
      const wanted = exact(a, b)
      const fits = wanted !== undefined && wanted >= minInt && wanted <= maxInt
      assert.equal(
        outcome(() => ours(normalInt(a), normalInt(b))),
        fits ? normalInt(wanted) : undefined,
      )
    }),
  )
})

test('text is ordered by code points', () => {
  const words = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(words, words, (a, b) => compareStrings(a, b) === Buffer.compare(Buffer.from(a), Buffer.from(b))),
  )
})

test('an escaped name unescapes to itself', () => {
  const characters = fc.constantFrom(...'ab1_-./$', '__', 'namespace')
  fc.assert(
    fc.property(fc.array(characters, { minLength: 1 }), (parts) => {
      const name = parts.join('')
      const escaped = escapeName(name)
      if (escaped === undefined) return
      assert.match(escaped, /^[A-Za-z_][A-Za-z0-9_]*$/)
      assert.equal(unescapeName(escaped), name)
    }),
  )
})

test('plain data equals itself', () => {
  const data = fc.jsonValue({ maxDepth: 3 })
  fc.assert(fc.property(data, (value) => equals(fromJson(value), fromJson(structuredClone(value)))))
})

test('formatted times parse to the same time', () => {
  const range = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }
  fc.assert(
    fc.property(fc.date(range), (date) => {
      const text = date.toISOString().replace(/^\+/, '')
      const parsed = parseTimestamp(text)!
      assert.equal(new Date(formatTimestamp(parsed)).getTime(), date.getTime())
    }),
  )
})

test('any text compiles or is rejected with a position', () => {
  const tokens = fc.constantFrom(
    ...[
      'x',
      '1',
      '"a"',
      '.',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '?',
      '+',
      '-',
      '!',
      '&&',
      '==',
      'in',
      'all',
      'has',
      '`',
      '=',
      '"',
      '\\',
      'é',
      '\n',
    ],
  )
  const environment = { ...baseEnvironments.stored, variables: new Map([['x', types.dyn]]), structs: new Map() }
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 20 }), fc.constantFrom('', ' '), (parts, gap) => {
      try {
        compile(parts.join(gap), environment)
      } catch (error) {
        assert.ok(error instanceof CompileError)
        assert.match(error.message, /^ERROR: <input>:-?\d+:\d+: /)
      }
    }),
    { numRuns: 2000 },
  )
})
