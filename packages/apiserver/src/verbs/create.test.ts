import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from './create.js'
import { bodyOf, configMap, fieldsOf, testEngine, widget } from './testing.js'

test('a create fills in defaults, the uid, the creation time and the first generation', async () => {
  const now = Date.parse('2026-01-02T03:04:05Z')
  const engine = await testEngine({ clock: { now: () => now } })
  const { object, created } = await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  assert.equal(created, true)
  assert.deepEqual(fieldsOf(object, 'spec'), { size: 1 })
  assert.equal(object.metadata.creationTimestamp, '2026-01-02T03:04:05Z')
  assert.equal(object.metadata.generation, 1)
  assert.match(object.metadata.uid ?? '', /^[0-9a-f-]{36}$/)
})

test('a name that is taken is refused with 409', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  const again = create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  await assert.rejects(again, { code: 409, reason: 'AlreadyExists' })
})

test('an object that breaks its schema or a CEL rule is refused with 422', async () => {
  const engine = await testEngine()
  for (const size of [-1, 11, 'large']) {
    const write = create(engine, engine.request('widgets'), bodyOf(widget('one', { size })))
    await assert.rejects(write, { code: 422, reason: 'Invalid' }, String(size))
  }
})

test('a dry run stores nothing', async () => {
  const engine = await testEngine()
  const request = engine.request('configmaps', '', { dryRun: true })
  const { object } = await create(engine, request, bodyOf(configMap('one')))
  assert.equal(object.metadata.name, 'one')
  assert.equal(engine.store.get(request.served.key('default', 'one')), undefined)
})

test('an object with generateName gets a random suffix', async () => {
  const engine = await testEngine()
  const body = bodyOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'one-' } })
  const { object } = await create(engine, engine.request('configmaps'), body)
  assert.match(object.metadata.name ?? '', /^one-[a-z0-9]{5}$/)
})

test('a namespace that does not exist is refused with 404', async () => {
  const engine = await testEngine()
  const request = engine.request('configmaps', '', { namespace: 'absent' })
  await assert.rejects(create(engine, request, bodyOf(configMap('one'))), { code: 404 })
})
