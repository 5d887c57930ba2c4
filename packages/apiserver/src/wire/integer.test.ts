import assert from 'node:assert/strict'
import { test } from 'node:test'
import { integerFault } from './integer.js'

const OUT = 'value out of range'
const cases: Record<string, { because: string; text: string; signed?: string; unsigned?: string }> = {
  Zero: { because: 'a number', text: '0' },
  Zeros: { because: 'zeros in front say nothing', text: '0'.repeat(100_000) },
  Plus: { because: 'only a signed number has a sign', text: '+7', unsigned: 'invalid syntax' },
  Minus: { because: 'only a signed number has a sign', text: '-0', unsigned: 'invalid syntax' },
  Largest: { because: 'the last of 63 bits', text: '9223372036854775807' },
  OneMore: { because: 'it needs the bit of the sign', text: '9223372036854775808', signed: OUT },
  Smallest: { because: 'the other end', text: '-9223372036854775808', unsigned: 'invalid syntax' },
  OneLess: { because: 'below the other end', text: '-9223372036854775809', signed: OUT, unsigned: 'invalid syntax' },
  LargestUnsigned: { because: 'the last of 64 bits', text: '18446744073709551615', signed: OUT },
  OneMoreUnsigned: { because: 'the first of 65 bits', text: '18446744073709551616', signed: OUT, unsigned: OUT },
  Endless: { because: 'the number is too long', text: '9'.repeat(100_000), signed: OUT, unsigned: OUT },
  Fraction: { because: 'not whole', text: '1.5', signed: 'invalid syntax', unsigned: 'invalid syntax' },
  Empty: { because: 'nothing', text: '', signed: 'invalid syntax', unsigned: 'invalid syntax' },
}

for (const [name, { because, text, signed, unsigned }] of Object.entries(cases)) {
  test(`a whole number of 64 bits: ${name}`, () => {
    for (const [how, want] of [['ParseInt', signed] as const, ['ParseUint', unsigned] as const]) {
      assert.equal(integerFault(text, how), want && `strconv.${how}: parsing "${text}": ${want}`, because)
    }
  })
}
