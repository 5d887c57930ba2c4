import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PatchType } from '../definitions/conventions.js'
import { create } from './create.js'
import { patch } from './patch.js'
import { bodyOf, configMap, fieldsOf, testEngine, widget } from './testing.js'

const patches: [PatchType, unknown][] = [
  ['json', [{ op: 'add', path: '/data/b', value: '2' }]],
  ['merge', { data: { b: '2' } }],
  ['strategic', { data: { b: '2' } }],
]

for (const [type, value] of patches) {
  test(`a patch of type ${type} changes a field of a built-in kind`, async () => {
    const engine = await testEngine()
    await create(engine, engine.request('configmaps'), bodyOf(configMap('one', { a: '1' })))
    const request = engine.request('configmaps', 'one')
    const { object } = await patch(engine, request, { ...bodyOf(value), type, force: false })
    assert.deepEqual(fieldsOf(object, 'data'), { a: '1', b: '2' })
  })
}

test('a custom resource refuses a strategic merge patch with 415', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  const body = { ...bodyOf({ spec: { size: 2 } }), type: 'strategic', force: false } as const
  await assert.rejects(patch(engine, engine.request('widgets', 'one'), body), { code: 415 })
})

test('a patch that renames the object is refused with 400', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  const body = { ...bodyOf({ metadata: { name: 'two' } }), type: 'merge', force: false } as const
  await assert.rejects(patch(engine, engine.request('configmaps', 'one'), body), { code: 400 })
})

test('a patch whose result breaks the schema is refused with 422', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('widgets'), bodyOf(widget('one')))
  const body = { ...bodyOf({ spec: { size: 11 } }), type: 'merge', force: false } as const
  await assert.rejects(patch(engine, engine.request('widgets', 'one'), body), /at most 10/)
})
