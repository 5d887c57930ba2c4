import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNotFound, type ResourceType, timestamp } from '@crosstie/kube'
import { startServer } from '../server.js'
import type { Engine } from '../serving/engine.js'
import { MemoryStore } from '../store/memory.js'
import type { Write } from '../store/store.js'
import { EventExpiry } from './event-expiry.js'

const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }

test('events are deleted after their time to live', { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-events-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await using server = await startServer({ dataDir, host: '127.0.0.1', port: 0, eventTtlMs: 2_000 })
  const client = server.client()
  const write = (name: string, lastTimestamp: string) =>
    client.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'a' },
      type: 'Normal',
      lastTimestamp,
    })
  await write('old', timestamp(Date.now()))
  const gone = () => client.get(EVENTS, { namespace: 'default', name: 'old' }).then(() => false, isNotFound)
  while (!(await gone())) await sleep(100)
})

interface ExpiryCase {
  readonly because: string
  readonly created: number
  readonly last?: number
  readonly stays: boolean
}

const HOUR = 3_600_000
const now = 10 * HOUR
const events: Record<string, ExpiryCase> = {
  Young: { because: 'it occurred a minute ago', created: now - 60_000, stays: true },
  Old: { because: 'an hour is over', created: now - 2 * HOUR, stays: false },
  CameAgain: { because: 'it occurred again since', created: now - 2 * HOUR, last: now - 60_000, stays: true },
  FastClock: { because: 'clocks may differ by minutes', created: now - 2 * HOUR, last: now + 60_000, stays: true },
  FarAhead: {
    because: 'a clock is never off by a year',
    created: now - 2 * HOUR,
    last: now + 8760 * HOUR,
    stays: false,
  },
}

for (const [name, { because, created, last, stays }] of Object.entries(events)) {
  test(`${name}: an event ${stays ? 'stays' : 'is deleted'} since ${because}`, async (t) => {
    const store = new MemoryStore()
    t.after(() => store.close())
    await store.write([putEvent('e', created, last)])
    await new EventExpiry(engineAt(store, now), HOUR, assert.fail).sweep()
    assert.equal(store.count('//events/'), stays ? 1 : 0)
  })
}

test('events with a timestamp far in the future do not block others', async (t) => {
  const store = new MemoryStore()
  t.after(() => store.close())
  const ahead = Array.from({ length: 600 }, (_, i) => putEvent(`ahead-${i}`, now - 60_000, now + 8760 * HOUR))
  await store.write([...ahead, putEvent('old', now - 60_000)])
  await new EventExpiry(engineAt(store, now + HOUR), HOUR, assert.fail).sweep()
  assert.equal(store.count('//events/'), 0)
})

function putEvent(name: string, created: number, last?: number): Write {
  const object = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default', creationTimestamp: timestamp(created) },
    ...(last === undefined ? {} : { lastTimestamp: timestamp(last) }),
  }
  return { do: 'put', key: `//events/default/${name}`, object, expect: 'absent' }
}

const engineAt = (store: MemoryStore, time: number): Engine =>
  ({ store, clock: { now: () => time } }) as unknown as Engine

test('of very many events the expired ones are deleted', async (t) => {
  const store = new MemoryStore()
  t.after(() => store.close())
  const written = 1_700
  for (let i = 0; i < written; i++) {
    const object = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `e${i}`, namespace: 'default', creationTimestamp: timestamp(i * 1000) },
    }
    // The order of names differs from that of the writes.
    await store.write([{ do: 'put', key: `//events/default/${(i * 7) % written}`, object, expect: 'absent' }])
  }
  const left = async (now: number) => {
    await new EventExpiry(engineAt(store, now), 100_000, assert.fail).sweep()
    return store.list('//events/').items.map(({ object }) => object.metadata.creationTimestamp!)
  }
  const expected = (from: number) => Array.from({ length: written - from }, (_, i) => timestamp((from + i) * 1000))
  assert.deepEqual((await left(50_000)).sort(), expected(0), 'none is old yet')
  assert.deepEqual((await left(1_300_000)).sort(), expected(1_200), 'the oldest ones are deleted')
  assert.deepEqual(await left(3_600_000), [], 'and finally all of them')
})
