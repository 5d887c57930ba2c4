import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortControllerPool } from './abort-pool.js'

test('a signal without listeners is reused', () => {
  const aborts = new AbortControllerPool()
  const first = aborts.take()
  aborts.giveBack(first)
  assert.equal(aborts.take(), first)
  assert.notEqual(aborts.take(), first, 'but not by two runs at once')
})

test('a signal that aborted or has listeners is not reused', () => {
  const aborts = new AbortControllerPool()
  const aborted = aborts.take()
  aborted.abort()
  aborts.giveBack(aborted)
  const observed = aborts.take()
  assert.equal(observed.signal.aborted, false)
  observed.signal.addEventListener('abort', () => {})
  aborts.giveBack(observed)
  assert.notEqual(aborts.take(), observed)
})

test('a signal whose listeners were removed is reused', () => {
  const aborts = new AbortControllerPool()
  const abort = aborts.take()
  const listener = () => {}
  abort.signal.addEventListener('abort', listener)
  abort.signal.removeEventListener('abort', listener)
  aborts.giveBack(abort)
  assert.equal(aborts.take(), abort)
})
