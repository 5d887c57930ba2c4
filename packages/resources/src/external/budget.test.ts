import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ThrottledError } from '../definition/external.js'
import { budgets, type OutOfBudgetError } from './budget.js'

function timed() {
  let now = 0
  const made = budgets({
    perSecond: 10,
    burst: 5,
    clock: { now: () => now },
    sleep: async (milliseconds) => {
      now += milliseconds
    },
  })
  return { budget: made.of('a'), other: made.of('b'), now: () => now }
}

test('a burst is free, then calls keep the pace', async () => {
  const { budget, now } = timed()
  for (let i = 0; i < 5; i++) await budget.take()
  assert.equal(now(), 0)
  for (let i = 0; i < 20; i++) await budget.take()
  assert.ok(now() >= 1_900 && now() <= 2_200, `${now()}`)
})

test('nobody waits who need not, and nobody overtakes those who do', async () => {
  const { budget } = timed()
  for (let i = 0; i < 5; i++) assert.equal(budget.take(), undefined)
  const order: number[] = []
  const waiting = [1, 2, 3].map((who) => budget.take()!.then(() => order.push(who)))
  await Promise.all(waiting)
  assert.deepEqual(order, [1, 2, 3])
})

test('being throttled halves the pace, success restores it slowly, other credentials go on', async () => {
  const { budget, other, now } = timed()
  budget.note(new ThrottledError('slow down', { retryAfterSeconds: 3 }))
  await other.take()
  assert.equal(now(), 0)
  await budget.take()
  assert.ok(now() >= 3_000)
  const before = now()
  for (let i = 0; i < 10; i++) await budget.take()
  assert.ok(now() - before >= 1_000, 'half of ten a second')
  for (let i = 0; i < 100; i++) budget.note()
  const later = now()
  for (let i = 0; i < 20; i++) await budget.take()
  assert.ok(now() - later <= 2_200)
})

test('what the SDKs of large clouds throw counts as throttling', async () => {
  const { budget, now } = timed()
  budget.note(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }))
  await budget.take()
  assert.ok(now() > 0)
})

test('one who gives up waiting does not hold up those behind', async () => {
  const { budget } = timed()
  const aborted = AbortSignal.abort()
  await assert.rejects(async () => await budget.take(aborted))
  await budget.take()
})

test('one with little patience is sent away, and those who are come again one after the other', async () => {
  const { budget, now } = timed()
  for (let i = 0; i < 5; i++) await budget.take(undefined, 0)
  const sentAway = (patienceMs: number) =>
    Promise.resolve(budget.take(undefined, patienceMs)).then(
      () => undefined,
      (error: OutOfBudgetError) => error.seconds,
    )
  assert.deepEqual([await sentAway(50), await sentAway(50)], [0.05, 0.15], 'ten a second')
  assert.equal(await sentAway(40), 0.04, 'those with other patience are not behind them')
  assert.equal(now(), 0, 'none of them waited')
  const line = Array.from({ length: 12 }, () => sentAway(1_000))
  assert.equal((await Promise.all(line)).filter((seconds) => seconds === undefined).length, 10)
  budget.note(new ThrottledError('slow down', { retryAfterSeconds: 600 }))
  assert.deepEqual([await sentAway(50), await sentAway(40)], [600, 600], 'not before the provider wants them')
})
