import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atMost, inParallel } from './parallel.js'

test('at most N run at a time, and results are in order', async () => {
  let running = 0
  let most = 0
  const results = await inParallel([5, 1, 4, 2, 3], 2, async (item) => {
    most = Math.max(most, ++running)
    for (let i = 0; i < item; i++) await new Promise((resolve) => setImmediate(resolve))
    running--
    return item * 10
  })
  assert.deepEqual(results, [50, 10, 40, 20, 30])
  assert.equal(most, 2)
})

test('a failed task frees its place for the next', async () => {
  const inTurn = atMost(1)
  const failing = inTurn(async () => {
    throw new Error('no')
  })
  const next = inTurn(async () => 'next')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'next')
  assert.equal(await inTurn(async () => 'later'), 'later', 'and a place without waiters is free')
})
