import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson, stringify } from '@crosstie/kube'
import fc from 'fast-check'

interface Case {
  readonly because: string
  readonly given: string
  readonly want: unknown
}

const cases: Record<string, Case> = {
  Int64: { because: 'a double has 53 bits', given: '{"a":9223372036854775807}', want: { a: 9223372036854775807n } },
  Negative: { because: 'the sign belongs to it', given: '[-9223372036854775808]', want: [-9223372036854775808n] },
  Safe: {
    because: 'a number that a double represents stays a number',
    given: '[9007199254740991]',
    want: [9007199254740991],
  },
  Fraction: { because: 'only integers are kept', given: '[1234567890123456.5]', want: [1234567890123456.5] },
  LongFraction: {
    because: 'digits behind a point',
    given: '[0.0000010000184652123562]',
    want: [0.0000010000184652123562],
  },
  Exponent: { because: 'only integers are kept', given: '[12345678901234567e3]', want: [12345678901234567e3] },
  InString: {
    because: 'digits in a string are text',
    given: '{"12345678901234567890":"12345678901234567890 \\" 12345678901234567890","n":12345678901234567890}',
    want: {
      '12345678901234567890': '12345678901234567890 " 12345678901234567890',
      n: 12345678901234567890n,
    },
  },
  Marked: {
    because: 'text that looks like our marker is text',
    given: '["\\u00011","\\u0001\\u00012",12345678901234567890]',
    want: ['\u00011', '\u0001\u00012', 12345678901234567890n],
  },
}

for (const [name, { because, given, want }] of Object.entries(cases)) {
  test(name, () => assert.deepEqual(parseJson(given), want, because))
}

test('written values are read back unchanged', () => {
  const leaf = fc.oneof(fc.string(), fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.double(), fc.boolean())
  const value = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
  })).value
  fc.assert(
    fc.property(value, (written) => {
      const text = stringify(written)
      assert.equal(stringify(parseJson(text)), text)
    }),
  )
})
