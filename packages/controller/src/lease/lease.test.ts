import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, StatusError, steadyClock } from '@crosstie/kube'
import { MemoryApi, until } from '../testing/memory.js'
import { type LeaseTimings, runElection } from './election.js'
import { hashText, ownerOf } from './hash.js'
import { LEASES, LeaseLock } from './lease.js'
import { Shards } from './shards.js'

const clockAt = (start: number) => {
  const clock = { time: start, now: () => clock.time }
  return clock
}
const lockOf = (client: Client, identity: string, clock: { now(): number }) =>
  new LeaseLock({ client, clock, namespace: 'default', name: 'lease', identity, durationMs: 15_000 })

test('a lease has one holder until it expires', async () => {
  const api = new MemoryApi()
  const clock = clockAt(1_000_000)
  const [a, b] = [lockOf(api, 'a', clock), lockOf(api, 'b', clock)]
  assert.equal(await a.hold(), true)
  assert.equal(await b.hold(), false)
  clock.time += 14_000
  assert.equal(await a.hold(), true, 'renewed')
  assert.equal(await b.hold(), false)
  clock.time += 14_000
  assert.equal(await b.hold(), false, 'renewed 14 s ago')
  clock.time += 2_000
  assert.equal(await b.hold(), true)
  assert.equal(await a.hold(), false, 'acquired')
  const spec = (await api.get(LEASES, { namespace: 'default', name: 'lease' }))['spec']
  assert.deepEqual((spec as { leaseTransitions: number }).leaseTransitions, 1)
})

test('a released lease can be acquired at once', async () => {
  const api = new MemoryApi()
  const clock = clockAt(1_000_000)
  const [a, b] = [lockOf(api, 'a', clock), lockOf(api, 'b', clock)]
  await a.hold()
  await a.release()
  assert.equal(await b.hold(), true)
})

test('expiry does not depend on the clock of the holder', async () => {
  const api = new MemoryApi()
  const a = lockOf(api, 'a', clockAt(0))
  const ahead = clockAt(1_000_000_000)
  const b = lockOf(api, 'b', ahead)
  await a.hold()
  assert.equal(await b.hold(), false, 'its renew time is long ago, but it was first observed now')
  ahead.time += 16_000
  assert.equal(await b.hold(), true)
})

test('a label written by another client does not lose the lease', async () => {
  const api = new MemoryApi()
  const a = lockOf(api, 'a', clockAt(0))
  await a.hold()
  const lease = await api.get(LEASES, { namespace: 'default', name: 'lease' })
  await api.update(LEASES, { ...lease, metadata: { ...lease.metadata, labels: { a: 'b' } } })
  assert.equal(await a.hold(), true)
})

/** Short retries, with a long duration so that a stalled machine does not lose the lease. */
const quick: LeaseTimings = { durationMs: 60_000, renewMs: 40_000, retryMs: 20 }

test('one process leads at a time, and the next takes over', async () => {
  const api = new MemoryApi()
  let leading: string[] = []
  const history: string[] = []
  const stops = new Map<string, AbortController>()
  const elections = ['a', 'b', 'c'].map((identity) => {
    const stop = new AbortController()
    stops.set(identity, stop)
    const clock = { now: () => Date.now() }
    const lock = new LeaseLock({ client: api, clock, namespace: 'default', name: 'lead', identity, ...quick })
    const lead = async (signal: AbortSignal) => {
      leading.push(identity)
      history.push(identity)
      assert.equal(leading.length, 1)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await new Promise((resolve) => setTimeout(resolve, 10))
      leading = leading.filter((name) => name !== identity)
    }
    return runElection({ lock, lead, timings: quick }, stop.signal)
  })
  for (let i = 1; i <= 3; i++) {
    await until(() => history.length === i && leading.length === 1)
    stops.get(leading[0]!)!.abort()
  }
  await Promise.all(elections)
  assert.deepEqual([...history].sort(), ['a', 'b', 'c'])
})

test('a leader that cannot renew stops before the lease expires', async () => {
  const api = new MemoryApi()
  const stop = new AbortController()
  let ended = 0
  const clock = { now: () => Date.now() }
  const timings = { durationMs: 30_000, renewMs: 500, retryMs: 20 }
  const lock = new LeaseLock({ client: api, clock, namespace: 'default', name: 'l', identity: 'a', ...timings })
  const lead = async (signal: AbortSignal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = Date.now()
  }
  const election = runElection({ lock, lead, timings }, stop.signal)
  await until(() => lock.renewedAt !== undefined)
  const cut = Date.now()
  for (let i = 0; i < 1000; i++) api.faults.push(new StatusError(503, 'ServiceUnavailable', 'gone'))
  await until(() => ended > 0)
  assert.ok(ended - cut < timings.durationMs, `it continued for ${ended - cut} ms`)
  stop.abort()
  await election
})

test('shards are balanced, and only those of a member that left move', () => {
  const shards = Array.from({ length: 64 }, (_, i) => i)
  const owners = (members: readonly string[]) => shards.map((shard) => ownerOf(members, shard)!)
  const before = owners(['a', 'b', 'c'])
  for (const member of ['a', 'b', 'c']) assert.ok(before.filter((owner) => owner === member).length >= 10)
  const after = owners(['a', 'c'])
  shards.forEach((i) => {
    if (before[i] !== 'b') assert.equal(after[i], before[i])
  })
})

test('keys are distributed over shards', () => {
  const counts = new Array<number>(8).fill(0)
  for (let i = 0; i < 8_000; i++) counts[hashText(`object-${i}`) % 8]!++
  for (const count of counts) assert.ok(count > 850 && count < 1_150, String(counts))
})

test('processes divide the shards, and the last one holds all', async () => {
  const api = new MemoryApi()
  const stops = new Map<string, AbortController>()
  const group = ['a', 'b'].map((identity) => {
    const shards = new Shards({ client: api, namespace: 'default', name: 'g', identity, count: 8, timings: quick })
    const stop = new AbortController()
    stops.set(identity, stop)
    return { shards, running: shards.run(stop.signal) }
  })
  const [a, b] = group.map(({ shards }) => shards) as [Shards, Shards]
  const disjoint = () => [...a.held].every((shard) => !b.held.has(shard))
  await until(() => {
    assert.ok(disjoint())
    return a.held.size > 0 && b.held.size > 0 && a.held.size + b.held.size === 8
  })
  stops.get('a')!.abort()
  await until(() => b.held.size === 8)
  stops.get('b')!.abort()
  await Promise.all(group.map(({ running }) => running))
  assert.equal(a.held.size + b.held.size, 0)
})

test('a change of the system clock neither loses nor transfers the lease', async (t) => {
  const api = new MemoryApi()
  const [a, b] = ['a', 'b'].map((identity) => lockOf(api, identity, steadyClock)) as [LeaseLock, LeaseLock]
  assert.equal(await a.hold(), true)
  assert.equal(await b.hold(), false)
  const now = Date.now()
  for (const hours of [1, -1, 10_000]) {
    t.mock.method(Date, 'now', () => now + hours * 3_600_000)
    const { renewedAt } = a
    assert.equal(await b.hold(), false, 'no holder expired')
    assert.equal(await a.hold(), true)
    assert.ok(a.renewedAt! >= renewedAt! && a.renewedAt! - renewedAt! < 3_600_000, 'the holder keeps it too')
    t.mock.restoreAll()
  }
})
