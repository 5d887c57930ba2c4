import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionsAllowed } from './descriptors.js'
import { AbuseBudget, Account, FairShare, type PendingResponse, ResponseBacklog } from './limits.js'

const attacker = new Account('attacker', false)
const other = new Account('other', false)
const administrator = new Account('admin', true)

test('a client alone takes half of a capacity, and others get their share of the rest', () => {
  const share = new FairShare(100, 4)
  let taken = 0
  while (share.take(attacker)) taken++
  assert.equal(taken, 50)
  assert.equal(share.take(other, 25), true)
  assert.equal(share.take(attacker), false)
  share.give(attacker, 50)
  assert.equal(share.used, 25)
})

test('a small amount is guaranteed to each client, and administrators are not counted', () => {
  const share = new FairShare(10, 4)
  for (let i = 0; i < 5; i++) assert.equal(share.take(attacker), true)
  assert.equal(share.take(other, 4), true)
  assert.equal(share.take(administrator, 1_000), true)
  assert.equal(share.used, 9)
})

test('the responses of the heaviest client are cut off first, the oldest before the others', () => {
  const backlog = new ResponseBacklog(100, 1)
  const cut: string[] = []
  const add = (account: Account, name: string, bytes: number) => {
    const pending: PendingResponse = { account, bytes, deadline: 1_000, cut: () => cut.push(name) }
    backlog.add(pending)
    return pending
  }
  add(other, 'small', 20)
  add(attacker, 'first', 40)
  add(attacker, 'second', 30)
  assert.equal(backlog.isOverShare(attacker), true)
  assert.equal(backlog.isOverShare(other), true)
  add(administrator, 'unlimited', 5_000)
  assert.deepEqual(cut, [])
  add(other, 'more', 15)
  assert.deepEqual(cut, ['first'])
  assert.equal(backlog.bytes, 65)
  backlog.sweep(2_000)
  assert.deepEqual(cut, ['first', 'small', 'second', 'unlimited', 'more'])
  assert.equal(backlog.bytes, 0)
})

test('a single response may be larger than the capacity', () => {
  const backlog = new ResponseBacklog(100, 1)
  backlog.add({ account: other, bytes: 500, deadline: 1, cut: () => assert.fail('cut off') })
  assert.equal(backlog.bytes, 500)
})

test('a budget allows a burst and then a steady rate', () => {
  const budget = new AbuseBudget(3, 0)
  assert.deepEqual([budget.spend(), budget.spend(), budget.spend(), budget.spend()], [true, true, true, false])
  assert.equal(budget.exhausted, true)
})

test('descriptors are reserved for the store', () => {
  assert.equal(connectionsAllowed(256, 40), 152)
  assert.equal(connectionsAllowed(1_048_576, 40), 10_000)
  assert.equal(connectionsAllowed(64, 40), 8)
})
