import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runVectors } from './run.js'

test('we do what the recorded crossplane-runtime did, except where we mean not to', async () => {
  const report = await runVectors(fileURLToPath(new URL('../../testdata/vectors', import.meta.url)))
  assert.deepEqual(report.failures.slice(0, 5), [])
  assert.equal(report.failed, 0)
  assert.ok(report.passed > 7_000, `${report.passed} vectors ran`)
})
