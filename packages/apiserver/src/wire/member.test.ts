import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberOf } from './member.js'

const member = (value: unknown, name: string) => {
  const json = Buffer.from(JSON.stringify(value))
  const found = memberOf(json, Buffer.from(`"${name}"`))
  return found && json.toString('utf8', ...found)
}

const cases: Record<string, { readonly because: string; readonly given: object; readonly want: string | undefined }> = {
  First: { because: 'nothing stands before it', given: { metadata: { a: 1 } }, want: '{"a":1}' },
  Last: { because: 'the end of the object ends it', given: { kind: 'A', metadata: 1 }, want: '1' },
  Nested: { because: 'only members of the object itself count', given: { spec: { metadata: 1 } }, want: undefined },
  Quotes: {
    because: 'braces and quotes in strings are text',
    given: { a: '"}{\\', metadata: ['"]'] },
    want: '["\\"]"]',
  },
  Longer: { because: 'a longer name is another name', given: { metadata2: 1, metadata: 'x' }, want: '"x"' },
  Empty: { because: 'an object may be empty', given: {}, want: undefined },
}

for (const [name, { because, given, want }] of Object.entries(cases)) {
  test(`the JSON of a member is extracted: ${name}`, () => assert.equal(member(given, 'metadata'), want, because))
}

test('for any object, the JSON of each member is what it would be on its own', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      for (const [name, value] of Object.entries(JSON.parse(JSON.stringify(object)))) {
        if (JSON.stringify(name) === `"${name}"`) assert.equal(member(object, name), JSON.stringify(value))
      }
    }),
  )
})
