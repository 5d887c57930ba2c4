import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from './create.js'
import { remove } from './delete.js'
import { patch } from './patch.js'
import { bodyOf, configMap, fieldsOf, testEngine, widget } from './testing.js'
import { update } from './update.js'

test('an update replaces the object and keeps the fields of the server', async () => {
  const engine = await testEngine()
  const { object: old } = await create(engine, engine.request('configmaps'), bodyOf(configMap('one', { a: '1' })))
  const { object } = await update(engine, engine.request('configmaps', 'one'), bodyOf(configMap('one', { b: '2' })))
  assert.deepEqual(fieldsOf(object, 'data'), { b: '2' })
  assert.equal(object.metadata.uid, old.metadata.uid)
  assert.equal(object.metadata.creationTimestamp, old.metadata.creationTimestamp)
})

test('an update that names an old resourceVersion is refused with 409', async () => {
  const engine = await testEngine()
  const { object: old } = await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  const spec = { ...bodyOf({ spec: { size: 2 } }), type: 'merge', force: false } as const
  await patch(engine, engine.request('widgets', 'one'), spec)
  await assert.rejects(update(engine, engine.request('widgets', 'one'), bodyOf(old)), { code: 409, reason: 'Conflict' })
})

test('an update of a custom resource must name a resourceVersion', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  const write = update(engine, engine.request('widgets', 'one'), bodyOf(widget('one')))
  await assert.rejects(write, /metadata\.resourceVersion: .*must be specified for an update/)
})

test('an update without effect keeps the resourceVersion', async () => {
  const engine = await testEngine()
  const { object: old } = await create(engine, engine.request('configmaps'), bodyOf(configMap('one', { a: '1' })))
  const { object } = await update(engine, engine.request('configmaps', 'one'), bodyOf(configMap('one', { a: '1' })))
  assert.equal(object.metadata.resourceVersion, old.metadata.resourceVersion)
})

test('an object under deletion is deleted by the update that removes its last finalizer', async () => {
  const engine = await testEngine()
  const body = bodyOf(configMap('one', {}, { finalizers: ['example.com/hold'] }))
  await create(engine, engine.request('configmaps'), body)
  const request = engine.request('configmaps', 'one')
  const deletion = await remove(engine, request, {})
  assert.ok('waits' in deletion)
  await update(engine, request, bodyOf(configMap('one')))
  assert.equal(engine.store.get(request.served.key('default', 'one')), undefined)
})
