import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningHeaders } from './warnings.js'

test('each warning is sent once, and one with a control character is not sent', () => {
  assert.deepEqual(warningHeaders(['a "b"', 'a "b"', '', 'line\nbreak', 'ü']), ['299 - "a \\"b\\""', '299 - "Ã¼"'])
})

test('warnings of more than 4,096 characters are truncated to 256 each', () => {
  const many = Array.from({ length: 150_000 }, (_, i) => `${i} ${'x'.repeat(500)}`)
  const headers = warningHeaders(many)
  assert.equal(headers.length, 16)
  assert.ok(headers.every((header) => header.length === '299 - ""'.length + 256))
  assert.deepEqual(warningHeaders(['x'.repeat(4096)]), [`299 - "${'x'.repeat(4096)}"`])
})
