import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationOf } from './duration.js'

test('durations', () => {
  assert.equal(durationOf('--timeout', '1m30s'), 90_000)
  assert.equal(durationOf('--timeout', '0', { zero: true }), 0)
  for (const bad of ['0', '-1s', 'soon', '5']) assert.throws(() => durationOf('--timeout', bad), /such as 90s/, bad)
})
