import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { equal, type Json } from '@crosstie/kube'
import fc from 'fast-check'
import { decodeJson } from './json.js'
import { decodeYaml, encodeYaml, YamlError } from './yaml.js'

/** The recorded results of sigs.k8s.io/yaml for each text. */
const vectors = decodeJson(readFileSync(new URL('../../src/wire/testdata/yaml.json', import.meta.url)))
  .value as unknown as {
  readonly decode: readonly { in: string; json?: Json; error?: string; strict?: string }[]
  readonly encode: readonly { json: Json; yaml: string }[]
}

for (const { in: text, json, error, strict } of vectors.decode) {
  test(`decode ${JSON.stringify(text)}`, () => {
    if (error !== undefined) {
      assert.throws(() => decodeYaml(text, { strict: true }), YamlError)
      return
    }
    const { value, strictErrors } = decodeYaml(text, { strict: true })
    assert.deepEqual(value, json ?? null)
    assert.deepEqual(strictErrors, strict === undefined ? [] : [strict])
  })
}

test('YAML is encoded as go-yaml does', () => {
  for (const { json, yaml } of vectors.encode) assert.equal(encodeYaml(json), yaml, JSON.stringify(json))
})

const hostile: readonly { name: string; text: string; because: string }[] = [
  { name: 'a million brackets', text: '['.repeat(1_000_000), because: 'nesting must not exhaust the stack' },
  { name: 'deep dashes', text: '- '.repeat(100_000), because: 'nor in block style' },
  {
    name: 'a billion laughs',
    text: `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij']
      .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[i]}`).join(',')}]`)
      .join('\n')}`,
    because: 'aliases of aliases grow without a limit',
  },
  { name: 'an alias of itself', text: 'a: &x [*x]', because: 'it has no end' },
  { name: 'an unknown alias', text: 'a: *x', because: 'it means nothing' },
]

for (const { name, text, because } of hostile) {
  test(`refuses ${name}: ${because}`, () => {
    assert.throws(() => decodeYaml(text), YamlError)
  })
}

test('decoding an encoded value gives the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as Json
      // Integers beyond 2^53 come back as bigints of the same value.
      assert.ok(equal(decodeYaml(encodeYaml(plain)).value, plain))
    }),
  )
})
