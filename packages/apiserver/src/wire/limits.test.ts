import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJson } from './json.js'
import { decodeYaml } from './yaml.js'

const tooLarge = { code: 413, reason: 'RequestEntityTooLarge' }
const fields = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `"f${from + i}":1`).join()
const objects = (count: number) => Array.from({ length: count }, (_, i) => `{"a":${i},"b":1,"c":1,"d":1}`).join()
const limited = { limited: true }

const bodies: Readonly<Record<string, { text: string; refused: boolean }>> = {
  'many fields in one object': { text: `{${fields(60_000)}}`, refused: false },
  'too many fields in one object': { text: `{${fields(60_001)}}`, refused: true },
  'too many fields beside a number that needs the exact parser': {
    text: `{"n":1234567890123456789,${fields(60_001)}}`,
    refused: true,
  },
  'many fields in small objects': { text: `[${objects(25_000)}]`, refused: false },
  'too many fields in small objects': { text: `[${objects(25_001)}]`, refused: true },
  'many elements in one list': { text: `[${'1,'.repeat(99_999)}1]`, refused: false },
  'too many elements in one list': { text: `[${'1,'.repeat(100_000)}1]`, refused: true },
  'too many elements in all lists': { text: `[${`[${'1,'.repeat(80_000)}1],`.repeat(4)}[]]`, refused: true },
}

for (const [name, { text, refused }] of Object.entries(bodies)) {
  test(`${name}: ${refused ? 'refused' : 'accepted'}`, () => {
    if (refused) assert.throws(() => decodeJson(text, limited), tooLarge)
    else decodeJson(text, limited)
    // A server reads its own files without limits.
    decodeJson(text)
  })
}

test('aliases in YAML do not get around the limits', () => {
  const list = `[${'1,'.repeat(999)}1]`
  const text = `a: &a ${list}\nb: [${Array(300).fill('*a').join()}]\n`
  assert.throws(() => decodeYaml(text, limited), /too large|excessive aliasing/)
})
