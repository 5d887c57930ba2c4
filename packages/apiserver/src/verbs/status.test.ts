import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from './create.js'
import { patch } from './patch.js'
import { bodyOf, fieldsOf, testEngine, widget } from './testing.js'
import { update } from './update.js'

test('a create ignores the status of a custom resource that has a status subresource', async () => {
  const engine = await testEngine()
  const body = bodyOf(widget('one', {}, { status: { phase: 'Ready' } }))
  const { object } = await create(engine, engine.request('widgets'), body)
  assert.equal('status' in object, false)
})

test('/status changes nothing but status, and the generation stays', async () => {
  const engine = await testEngine()
  const { object } = await create(engine, engine.request('widgets'), bodyOf(widget('one', { size: 2 })))
  const changed = { ...object, spec: { size: 5 }, status: { phase: 'Ready' } }
  const request = engine.request('widgets', 'one', { subresource: 'status' })
  const outcome = await update(engine, request, bodyOf(changed))
  assert.deepEqual(fieldsOf(outcome.object, 'spec'), { size: 2 })
  assert.deepEqual(fieldsOf(outcome.object, 'status'), { phase: 'Ready' })
  assert.equal(outcome.object.metadata.generation, 1)
})

test('the main endpoint keeps status, and the generation grows with spec', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  const status = { ...bodyOf({ status: { phase: 'Ready' } }), type: 'merge', force: false } as const
  await patch(engine, engine.request('widgets', 'one', { subresource: 'status' }), status)
  const both = { ...bodyOf({ spec: { size: 3 }, status: { phase: 'Lost' } }), type: 'merge', force: false } as const
  const { object } = await patch(engine, engine.request('widgets', 'one'), both)
  assert.deepEqual(fieldsOf(object, 'status'), { phase: 'Ready' })
  assert.deepEqual(fieldsOf(object, 'spec'), { size: 3 })
  assert.equal(object.metadata.generation, 2)
})
