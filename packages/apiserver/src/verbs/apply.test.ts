import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { apply } from './apply.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { bodyOf, configMap, fieldsOf, type TestEngine, testEngine } from './testing.js'

async function applied(engine: TestEngine, manager: string, object: KubeObject, force = false) {
  const request = engine.request('configmaps', 'shared', { fieldManager: manager })
  return await apply(engine, request, { ...bodyOf(object), type: 'apply', force })
}

test('apply creates a missing object and records the manager as the owner of its fields', async () => {
  const engine = await testEngine()
  const { object, created } = await applied(engine, 'first', configMap('shared', { a: '1' }))
  assert.equal(created, true)
  const [entry] = object.metadata.managedFields ?? []
  assert.equal(entry?.manager, 'first')
  assert.equal(entry?.operation, 'Apply')
})

test('apply removes fields that the manager applied before and leaves those of others', async () => {
  const engine = await testEngine()
  await applied(engine, 'first', configMap('shared', { a: '1', b: '1' }))
  await applied(engine, 'second', configMap('shared', { c: '2' }))
  const { object, created } = await applied(engine, 'first', configMap('shared', { a: '1' }))
  assert.equal(created, false)
  assert.deepEqual(fieldsOf(object, 'data'), { a: '1', c: '2' })
})

test('a field of another manager is a conflict, and force takes it', async () => {
  const engine = await testEngine()
  await applied(engine, 'first', configMap('shared', { a: '1' }))
  await assert.rejects(applied(engine, 'second', configMap('shared', { a: '2' })), { code: 409, reason: 'Conflict' })
  const { object } = await applied(engine, 'second', configMap('shared', { a: '2' }), true)
  assert.deepEqual(fieldsOf(object, 'data'), { a: '2' })
})

test('an applied object with a uid is not created', async () => {
  const engine = await testEngine()
  const object = configMap('shared', {}, { uid: 'b8c2c4f6-0000-4000-8000-000000000000' })
  await assert.rejects(applied(engine, 'first', object), { code: 409 })
})

test('apply changes the object that another writer creates meanwhile', async () => {
  let interfere: (() => Promise<unknown>) | undefined
  const engine = await testEngine({
    admission: {
      mutate: async ({ object }) => {
        const once = interfere
        interfere = undefined
        await once?.()
        return object
      },
    },
  })
  interfere = () => create(engine, engine.request('configmaps'), bodyOf(configMap('shared', { other: '' })))
  const { object, created } = await applied(engine, 'first', configMap('shared', { a: '1' }))
  assert.equal(created, false)
  assert.deepEqual(fieldsOf(object, 'data'), { a: '1', other: '' })
})

test('apply creates the object that another writer deletes meanwhile', async () => {
  let interfere: (() => Promise<unknown>) | undefined
  const engine = await testEngine({
    admission: {
      mutate: async ({ object }) => {
        const once = interfere
        interfere = undefined
        await once?.()
        return object
      },
    },
  })
  await applied(engine, 'first', configMap('shared', { old: '' }))
  interfere = () => remove(engine, engine.request('configmaps', 'shared'), {})
  const { object, created } = await applied(engine, 'first', configMap('shared', { a: '1' }))
  assert.equal(created, true)
  assert.deepEqual(fieldsOf(object, 'data'), { a: '1' })
})
