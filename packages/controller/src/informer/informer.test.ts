import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, StatusError } from '@crosstie/kube'
import { createLog } from '../log.js'
import { MemoryApi, THINGS, thing, until } from '../testing/memory.js'
import { CachedClient } from './cached-client.js'
import { type Change, Informer } from './informer.js'
import { Informers } from './informers.js'

function follow(informer: Informer) {
  const delivered: string[] = []
  informer.subscribe((change: Change) => {
    const value = (object: KubeObject) => object['value'] ?? ''
    const from = change.type === 'changed' ? `${value(change.before)}->` : ''
    delivered.push(`${change.type} ${change.object.metadata.name} ${from}${value(change.object)}`.trim())
  })
  return delivered
}

test('a stale cache reports the problem until the next event', async () => {
  const api = new MemoryApi()
  const informer = new Informer(api, THINGS, { random: () => 0 })
  const stop = new AbortController()
  api.faults.push(new StatusError(403, 'Forbidden', 'not yours'))
  const running = informer.run(stop.signal)
  await until(() => informer.problem !== undefined)
  assert.match(String(informer.problem), /not yours/)
  await informer.synced
  assert.equal(informer.problem, undefined)
  stop.abort()
  await running
})

test('an informer of a kind that is not served yet waits without a warning', async () => {
  const api = new MemoryApi()
  await api.create(THINGS, thing('a'))
  const lines: string[] = []
  const clock = { now: Date.now }
  const log = createLog({ format: 'text', level: 'warn', clock, write: (line) => lines.push(line) })
  let serve: () => void = () => {}
  const served = new Promise<void>((resolve) => {
    serve = resolve
  })
  const informers = new Informers(api, { served: () => served, log, random: () => 0 })
  const informer = informers.of(THINGS)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(api.lists, 0)
  // The CRD exists, and the server needs another moment to serve it.
  api.faults.push(notServed(), notServed())
  serve()
  await informer.synced
  assert.deepEqual([informer.cache.get({ name: 'a' })?.metadata.name, lines], ['a', []])
  await informers.stop()
})

test('an informer of a kind that is never served logs a warning and can be stopped', async () => {
  const api = new MemoryApi()
  const lines: string[] = []
  const log = createLog({ format: 'text', level: 'warn', clock: { now: Date.now }, write: (line) => lines.push(line) })
  const waiting = new Informers(api, { served: () => new Promise(() => {}) })
  waiting.of(THINGS)
  await waiting.stop()
  api.faults.push(notServed(), notServed(), notServed(), notServed())
  const informers = new Informers(api, { log, random: () => 0 })
  await informers.of(THINGS).synced
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /cannot list and watch.*could not find the requested resource/)
  await informers.stop()
})

const notServed = () => new StatusError(404, 'NotFound', 'the server could not find the requested resource')

for (const watchList of [false, true]) {
  const how = watchList ? 'by initial events' : 'by list'
  test(`${how}: existing objects first, then changes`, async () => {
    const api = new MemoryApi()
    await api.create(THINGS, thing('a', { value: 1 }))
    const informer = new Informer(api, THINGS, { watchList })
    const delivered = follow(informer)
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    await informer.synced
    assert.deepEqual(delivered, ['added a 1'])
    const b = await api.create(THINGS, thing('b', { value: 1 }))
    await api.update(THINGS, { ...b, value: 2 })
    await api.delete(THINGS, { name: 'a' })
    await until(() => delivered.length === 4)
    assert.deepEqual(delivered.slice(1), ['added b 1', 'changed b 1->2', 'removed a 1'])
    assert.deepEqual([api.lists, api.watches], [watchList ? 0 : 1, 1])
    stop.abort()
    await running
  })

  test(`${how}: after a compacted revision only differences are delivered`, async () => {
    const api = new MemoryApi()
    for (const name of ['stays', 'changes', 'goes', 'reborn']) await api.create(THINGS, thing(name, { value: 1 }))
    const informer = new Informer(api, THINGS, { watchList })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    await informer.synced
    const delivered = follow(informer)
    delivered.length = 0
    api.faults.push(new StatusError(503, 'ServiceUnavailable', 'restarting'))
    api.interrupt()
    await api.get(THINGS, { name: 'stays' }).catch(() => {})
    const changes = await api.get(THINGS, { name: 'changes' })
    await api.update(THINGS, { ...changes, value: 2 })
    await api.delete(THINGS, { name: 'goes' })
    await api.delete(THINGS, { name: 'reborn' })
    await api.create(THINGS, thing('reborn', { value: 3 }))
    await api.create(THINGS, thing('comes', { value: 1 }))
    api.compact()
    await until(() => delivered.length === 5)
    assert.deepEqual(delivered.sort(), [
      'added comes 1',
      'added reborn 3',
      'changed changes 1->2',
      'removed goes 1',
      'removed reborn 1',
    ])
    stop.abort()
    await running
  })
}

test('an interrupted watch resumes without a list', async () => {
  const api = new MemoryApi()
  const informer = new Informer(api, THINGS)
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await informer.synced
  const delivered = follow(informer)
  await api.create(THINGS, thing('a'))
  await until(() => delivered.length === 1)
  api.interrupt()
  await api.create(THINGS, thing('b'))
  await until(() => delivered.length === 2)
  assert.equal(api.lists, 1)
  assert.equal(api.watches, 2)
  stop.abort()
  await running
})

test('an informer lists if the server does not support initial events', async () => {
  const api = new MemoryApi()
  await api.create(THINGS, thing('a'))
  api.faults.push(new StatusError(422, 'Invalid', 'sendInitialEvents: Forbidden'))
  const informer = new Informer(api, THINGS, { watchList: true })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await informer.synced
  assert.equal(api.lists, 1)
  stop.abort()
  await running
})

test('indexes follow the current state of objects', async () => {
  const api = new MemoryApi()
  await api.create(THINGS, thing('a', { color: 'red' }))
  const b = await api.create(THINGS, thing('b', { color: 'red' }))
  const informers = new Informers(api)
  const informer = informers.of(THINGS)
  await informer.synced
  informer.index('color', (object) => [String(object['color'])])
  const names = (color: string) => [...informer.cache.find('color', color)].map(({ metadata }) => metadata.name)
  assert.deepEqual(names('red'), ['a', 'b'])
  await api.update(THINGS, { ...b, color: 'blue' })
  await until(() => names('blue').length === 1)
  assert.deepEqual([names('red'), names('blue')], [['a'], ['b']])
  await api.delete(THINGS, { name: 'a' })
  await until(() => names('red').length === 0)
  assert.equal(informers.of(THINGS), informer, 'one for all')
  assert.equal(api.watches, 1)
  await informers.stop()
})

test('a written object is readable at once, until the watch delivers a newer state', async () => {
  const api = new MemoryApi()
  const a = await api.create(THINGS, thing('a', { value: 1 }))
  const informers = new Informers(api)
  await informers.of(THINGS).synced
  const client = new CachedClient(api, informers)
  await client.update(THINGS, { ...a, value: 2 })
  assert.equal((await client.get(THINGS, { name: 'a' }))['value'], 2)
  const newest = await api.get(THINGS, { name: 'a' })
  await api.update(THINGS, { ...newest, value: 3 })
  await until(() => informers.of(THINGS).cache.get({ name: 'a' })?.['value'] === 3)
  assert.equal((await client.get(THINGS, { name: 'a' }))['value'], 3)
  await api.delete(THINGS, { name: 'a' })
  await until(() => informers.of(THINGS).cache.size === 0)
  await assert.rejects(client.get(THINGS, { name: 'a' }), (error: StatusError) => error.reason === 'NotFound')
  await informers.stop()
})

test('if the watch lags far behind, written objects are read from the server and memory is bounded', async () => {
  const api = new MemoryApi()
  const a = await api.create(THINGS, thing('a', { value: 1 }))
  const b = await api.create(THINGS, thing('b', { value: 1 }))
  const informers = new Informers(api)
  const informer = informers.of(THINGS)
  await informer.synced
  const clock = { time: 0, now: () => clock.time }
  const client = new CachedClient(api, informers, clock)
  api.hold()
  for (const object of [a, b]) await client.update(THINGS, { ...object, value: 2 })
  const values = async () => (await client.list(THINGS)).items.map((object) => object['value'])
  assert.deepEqual(await values(), [2, 2])
  clock.time += 60_000
  assert.equal(informer.cache.get({ name: 'a' })?.['value'], 1, 'not delivered yet')
  const asked = api.gets
  assert.equal((await client.get(THINGS, { name: 'a' }))['value'], 2)
  assert.equal((await client.get(THINGS, { name: 'a' }))['value'], 2)
  assert.equal(api.gets, asked + 1, 'the response counts like a write')
  await api.delete(THINGS, { name: 'b' })
  await assert.rejects(client.get(THINGS, { name: 'b' }), (error: StatusError) => error.reason === 'NotFound')
  api.release()
  await until(() => informer.cache.get({ name: 'a' })?.['value'] === 2 && informer.cache.size === 1)
  clock.time += 60_000
  const before = api.gets
  assert.equal((await client.get(THINGS, { name: 'a' }))['value'], 2)
  assert.deepEqual(await values(), [2])
  assert.equal(api.gets, before, 'it has caught up')
  await informers.stop()
})

test('lists of watched kinds come from the cache, in server order, with recent writes', async () => {
  const api = new MemoryApi()
  const labeled = (name: string, team: string) => {
    const object = thing(name)
    return { ...object, metadata: { ...object.metadata, labels: { team } } }
  }
  for (const name of ['c', 'a-b', 'a']) await api.create(THINGS, labeled(name, name === 'c' ? 'x' : 'y'))
  const informers = new Informers(api)
  await informers.of(THINGS).synced
  const client = new CachedClient(api, informers)
  const asked = api.lists
  const names = async (options = {}) => (await client.list(THINGS, options)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual(await names(), ['a', 'a-b', 'c'])
  assert.deepEqual(await names({ labelSelector: 'team=y' }), ['a', 'a-b'])
  await client.create(THINGS, labeled('b', 'x'))
  assert.deepEqual(await names({ labelSelector: 'team in (x)' }), ['b', 'c'])
  assert.equal(api.lists, asked, 'the server received no request')
  await client.list(THINGS, { limit: 1 })
  assert.equal(api.lists, asked + 1, 'pages come from the server')
  await informers.stop()
})

test('a read with a minimum revision uses the cache only if it is new enough', async () => {
  const api = new MemoryApi()
  await api.create(THINGS, thing('a', { value: 1 }))
  const informers = new Informers(api)
  const informer = informers.of(THINGS)
  await informer.synced
  const client = new CachedClient(api, informers)
  const { resourceVersion } = (await api.get(THINGS, { name: 'a' })).metadata
  assert.ok(informer.knows(resourceVersion!))
  assert.ok(!informer.knows(`${resourceVersion}0`), 'a future revision')
  const other = { ...THINGS, kind: 'Other', resource: 'others' }
  const later = (await api.create(other, thing('b'))).metadata.resourceVersion!
  assert.ok(!informer.knows(later), 'not delivered: the write was of another kind')
  api.faults.push(new StatusError(503, 'ServiceUnavailable', 'the server received a request'))
  await assert.rejects(client.get(THINGS, { name: 'a' }, { resourceVersion: later }), /the server received a request/)
  await api.update(THINGS, { ...(await api.get(THINGS, { name: 'a' })), value: 2 })
  await until(() => informer.knows(later))
  api.faults.push(new StatusError(503, 'ServiceUnavailable', 'the server received a request'))
  assert.equal((await client.get(THINGS, { name: 'a' }, { resourceVersion: later }))['value'], 2)
  await informers.stop()
})
