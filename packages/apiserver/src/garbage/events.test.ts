import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNotFound, type ResourceType, timestamp } from '@crosstie/kube'
import type { Engine } from '../engine.js'
import { startServer } from '../server.js'
import { MemoryStore } from '../store/memory.js'
import { EventExpiry } from './events.js'

const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }

test('events go after their time, and only then', { timeout: 180_000 }, async (t) => {
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
  await write('lasting', timestamp(Date.now() + 3_600_000))
  const gone = () => client.get(EVENTS, { namespace: 'default', name: 'old' }).then(() => false, isNotFound)
  while (!(await gone())) await sleep(100)
  const { items } = await client.list(EVENTS, { namespace: 'default' })
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['lasting'],
    'news that came again later stays longer',
  )
})

test('of very many events those go whose time is over', async (t) => {
  const store = new MemoryStore()
  t.after(() => store.close())
  const written = 1_700
  for (let i = 0; i < written; i++) {
    const object = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `e${i}`, namespace: 'default', creationTimestamp: timestamp(i * 1000) },
    }
    // Names in another order than that in which they were written.
    await store.write([{ do: 'put', key: `//events/default/${(i * 7) % written}`, object, expect: 'absent' }])
  }
  const left = async (now: number) => {
    const engine = { store, clock: { now: () => now } } as unknown as Engine
    await new EventExpiry(engine, 100_000, assert.fail).sweep()
    return store.list('//events/').items.map(({ object }) => object.metadata.creationTimestamp!)
  }
  const expected = (from: number) => Array.from({ length: written - from }, (_, i) => timestamp((from + i) * 1000))
  assert.deepEqual((await left(50_000)).sort(), expected(0), 'none is old yet')
  assert.deepEqual((await left(1_300_000)).sort(), expected(1_200), 'those that were written first are')
  assert.deepEqual(await left(3_600_000), [], 'and in the end all of them')
})
