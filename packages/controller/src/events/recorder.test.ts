import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ResourceType } from '@crosstie/kube'
import { MemoryApi, thing, until } from '../testing/memory.js'
import { Correlator, involvedObject } from './correlate.js'
import { EventRecorder } from './recorder.js'

const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }
const object = thing('a', {}, { uid: 'u1' })

test('a repeated event increases the count', async () => {
  const api = new MemoryApi()
  const recorder = new EventRecorder({ client: api, component: 'test' })
  const events = async () => (await api.list(EVENTS)).items
  recorder.event(object, 'Normal', 'Done', 'it is done')
  let seen: readonly KubeObject[] = []
  await until(() => {
    void events().then((items) => {
      seen = items
    })
    return seen.length === 1
  })
  for (let i = 0; i < 3; i++) recorder.event(object, 'Normal', 'Done', 'it is done')
  recorder.event(object, 'Warning', 'Broken', 'it is broken')
  await recorder.stop()
  const reported = (await events()).map(({ reason, message, count, type }) => ({ reason, message, count, type }))
  assert.deepEqual(reported, [
    { reason: 'Done', message: 'it is done', count: 4, type: 'Normal' },
    { reason: 'Broken', message: 'it is broken', count: 1, type: 'Warning' },
  ])
  const [first] = await events()
  assert.equal(first!.metadata.namespace, 'default', 'of objects without a namespace')
  assert.deepEqual(first!['involvedObject'], {
    apiVersion: 'example.org/v1',
    kind: 'Thing',
    name: 'a',
    uid: 'u1',
    resourceVersion: undefined,
  })
})

test('events that differ only in their message are combined', () => {
  const correlator = new Correlator()
  const names = new Set<string>()
  const messages: string[] = []
  for (let i = 0; i < 20; i++) {
    const reported = correlator.correlate(
      { object: involvedObject(object), type: 'Warning', reason: 'Failed', message: `attempt ${i}` },
      1000 + i,
    )
    if (reported) names.add(reported.name)
    if (reported) messages.push(reported.message)
  }
  assert.equal(names.size, 10)
  assert.equal(messages.at(-1), '(combined from similar events): attempt 19')
})

test('the rate limit drops events of one object', () => {
  const correlator = new Correlator()
  const reported = (now: number, message: string) =>
    correlator.correlate({ object: involvedObject(object), type: 'Warning', reason: 'Failed', message }, now) !==
    undefined
  const accepted = Array.from({ length: 40 }, (_, i) => reported(1_000, `m${i % 3}`)).filter(Boolean).length
  assert.equal(accepted, 25)
  assert.equal(reported(1_000 + 299_000, 'm'), false)
  assert.equal(reported(1_000 + 301_000, 'm'), true)
  const other = correlator.correlate(
    { object: involvedObject(thing('b')), type: 'Normal', reason: 'R', message: 'm' },
    1_000,
  )
  assert.ok(other, 'other objects are not limited')
})
