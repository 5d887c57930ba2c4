import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from './create.js'
import { remove } from './delete.js'
import { bodyOf, configMap, testEngine } from './testing.js'

test('an object without finalizers is deleted at once', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  const request = engine.request('configmaps', 'one')
  const deletion = await remove(engine, request, {})
  assert.ok('gone' in deletion)
  assert.equal(deletion.status.status, 'Success')
  assert.equal(engine.store.get(request.served.key('default', 'one')), undefined)
})

test('an object with finalizers is marked and stays', async () => {
  const engine = await testEngine()
  const body = bodyOf(configMap('one', {}, { finalizers: ['example.com/hold'] }))
  await create(engine, engine.request('configmaps'), body)
  const deletion = await remove(engine, engine.request('configmaps', 'one'), {})
  assert.ok('waits' in deletion)
  assert.ok(deletion.waits.object.metadata.deletionTimestamp)
})

test('a deletion with a precondition on another uid is refused with 409', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  const options = { preconditions: { uid: 'another' } }
  await assert.rejects(remove(engine, engine.request('configmaps', 'one'), options), { code: 409 })
})
