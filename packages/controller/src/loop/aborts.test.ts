import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Aborts } from './aborts.js'

test('a signal without listeners is reused', () => {
  const aborts = new Aborts()
  const first = aborts.take()
  aborts.giveBack(first)
  assert.equal(aborts.take(), first)
  assert.notEqual(aborts.take(), first, 'but not by two runs at once')
})

test('a signal that aborted or has listeners is not reused', () => {
  const aborts = new Aborts()
  const aborted = aborts.take()
  aborted.abort()
  aborts.giveBack(aborted)
  const heard = aborts.take()
  assert.equal(heard.signal.aborted, false)
  heard.signal.addEventListener('abort', () => {})
  aborts.giveBack(heard)
  assert.notEqual(aborts.take(), heard)
})

test('a signal whose listeners were removed is reused', () => {
  const aborts = new Aborts()
  const abort = aborts.take()
  const listener = () => {}
  abort.signal.addEventListener('abort', listener)
  abort.signal.removeEventListener('abort', listener)
  aborts.giveBack(abort)
  assert.equal(aborts.take(), abort)
})
