import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attempt, ignoring, isConflict, isNotFound, notFound, StatusError } from './errors.js'

const gone = notFound({ group: '', resource: 'secrets' }, 'a')

test('ignoring() resolves to undefined for expected errors, also in the cause chain', async () => {
  assert.equal(await Promise.reject(gone).catch(ignoring(isNotFound)), undefined)
  assert.equal(await Promise.reject(gone).catch(ignoring(isConflict, isNotFound)), undefined)
  assert.equal(await attempt('read', () => Promise.reject(gone)).catch(ignoring(isNotFound)), undefined)
  assert.equal(await Promise.resolve('there').catch(ignoring(isNotFound)), 'there')
})

test('ignoring() rethrows every other error', async () => {
  for (const other of [new StatusError(409, 'Conflict', 'no'), new Error('not found'), 'not found']) {
    await assert.rejects(Promise.reject(other).catch(ignoring(isNotFound)), (error) => error === other)
  }
})
