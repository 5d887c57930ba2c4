import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Json } from '@crosstie/kube'
import fc from 'fast-check'
import { decodeJson } from './json.js'
import { decodeProtobuf, ProtobufError } from './protobuf.js'
import { encodeProtobuf } from './protobuf-encode.js'

interface Vector {
  readonly kind: string
  readonly apiVersion: string
  readonly protobuf: string
  readonly json: Json
}

/** Made by Go: for each kind an empty object and three filled at random, in both forms. */
const vectors = decodeJson(readFileSync(new URL('../../src/wire/testdata/protobuf.json', import.meta.url)))
  .value as unknown as readonly Vector[]

for (const [i, { kind, apiVersion, protobuf, json }] of vectors.entries()) {
  test(`${i}: ${apiVersion} ${kind} reads like its JSON`, () => {
    assert.deepEqual(decodeProtobuf(Buffer.from(protobuf, 'base64')).value, json)
  })
}

for (const [i, { kind, apiVersion, protobuf }] of vectors.entries()) {
  test(`${i}: ${apiVersion} ${kind} is written as it was read`, () => {
    const { value } = decodeProtobuf(Buffer.from(protobuf, 'base64'))
    assert.deepEqual(decodeProtobuf(encodeProtobuf(value)).value, value)
  })
}

test('a named list of messages is no message of its own, as Go writes it', () => {
  const bytes = encodeProtobuf(vectors.at(-1)!.json)
  for (const rule of ['self.a > 0', '!oldSelf.hasValue() || self == oldSelf.value()']) {
    // Number 44 as a message: its length, then the rule as number 1.
    const at = Buffer.from(bytes).indexOf(rule)
    assert.deepEqual([...bytes.subarray(at - 5, at - 3)], [0xe2, 0x02], rule)
  }
})

test('what is no message is refused, not misread', () => {
  const text = (bytes: readonly number[]) => () => decodeProtobuf(Uint8Array.from(bytes))
  assert.throws(text([1, 2, 3]), /does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/)
  assert.throws(text([107, 56, 115, 0, 0x12, 0xff]), ProtobufError)
  assert.throws(text([107, 56, 115, 0, 0x0f]), /illegal wireType 7/)
})

test('damaged messages never escape as anything but a refusal', () => {
  const seeds = vectors.filter(({ protobuf }) => protobuf.length < 4_000)
  const damage = fc.record({ seed: fc.nat(seeds.length - 1), at: fc.nat(), byte: fc.nat(255) })
  fc.assert(
    fc.property(damage, ({ seed, at, byte }) => {
      const bytes = Buffer.from(seeds[seed]!.protobuf, 'base64')
      bytes[4 + (at % (bytes.length - 4))] = byte
      try {
        decodeProtobuf(bytes)
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error))
      }
    }),
  )
})
