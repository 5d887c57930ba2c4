import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import type { AdmissionAttributes } from '../serving/engine.js'
import { apply } from './apply.js'
import { create } from './create.js'
import { patch } from './patch.js'
import { bodyOf, configMap, fieldsOf, type TestEngine, testEngine, widget } from './testing.js'
import { update } from './update.js'
import { modify, reviewStages, stages } from './write-path.js'

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

test('the stages are in the order of kube-apiserver', () => {
  assert.deepEqual(namesOf(stages), [
    'decode',
    'readLive',
    'propose',
    'prepare',
    'trackOwnership',
    'mutate',
    'setServerFields',
    'validate',
    'admit',
    'authorizeChange',
    'commit',
  ])
  assert.deepEqual(namesOf(reviewStages), ['decode', 'propose', 'trackOwnership', 'mutate', 'answer', 'admit'])
})

const verbs: Record<string, (engine: TestEngine) => Promise<unknown>> = {
  create: (engine) => create(engine, engine.request('widgets'), bodyOf(widget('new', { size: 2, unknown: true }))),
  update: async (engine) => {
    const { resourceVersion } = (await current(engine, 'old')).metadata
    const object = widget('old', { size: 2, unknown: true })
    const body = bodyOf({ ...object, metadata: { ...object.metadata, resourceVersion } })
    await update(engine, engine.request('widgets', 'old'), body)
  },
  patch: (engine) =>
    patch(engine, engine.request('widgets', 'old'), {
      ...bodyOf({ spec: { size: 2, unknown: true } }),
      type: 'merge',
      force: false,
    }),
  apply: (engine) =>
    apply(engine, engine.request('widgets', 'old', { fieldManager: 'someone' }), {
      ...bodyOf(widget('old', { size: 2 })),
      type: 'apply',
      force: true,
    }),
}

async function current(engine: TestEngine, name: string): Promise<KubeObject> {
  const stored = engine.store.tip(engine.request('widgets').served.key('default', name))
  if (!stored) throw new Error(`${name} does not exist`)
  return stored.object
}

for (const [verb, run] of Object.entries(verbs)) {
  test(`${verb} shows webhooks a pruned object with managedFields, then validates, then asks policies`, async () => {
    const seen: string[] = []
    let invalid = false
    const record = (phase: string, { object }: AdmissionAttributes) => {
      const { spec, metadata } = object ?? configMap('none')
      seen.push(`${phase} ${JSON.stringify(spec)} ${metadata.managedFields ? 'tracked' : 'untracked'}`)
    }
    const engine = await testEngine({
      admission: {
        mutate: async (attributes) => {
          record('mutate', attributes)
          const { object } = attributes
          return object && invalid ? { ...object, spec: { ...fieldsOf(object, 'spec'), size: 11 } } : object
        },
        validate: async (attributes) => record('validate', attributes),
      },
    })
    await create(engine, engine.request('widgets'), bodyOf(widget('old')))
    seen.length = 0
    await run(engine)
    assert.deepEqual(seen, ['mutate {"size":2} tracked', 'validate {"size":2} tracked'])

    seen.length = 0
    invalid = true
    const attempt =
      verb === 'create' ? create(engine, engine.request('widgets'), bodyOf(widget('other', { size: 2 }))) : run(engine)
    await assert.rejects(attempt, /at most 10/)
    assert.deepEqual(seen, ['mutate {"size":2} tracked'], 'policies do not see an invalid object')
  })
}

test('a write that lost a race runs its stages again on the newest object', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('shared', { start: '' })))
  const request = engine.request('configmaps', 'shared')
  let attempts = 0
  await modify(engine, request, async (live) => {
    attempts++
    if (attempts === 1) {
      const other = { ...bodyOf({ data: { other: '' } }), type: 'merge', force: false } as const
      await patch(engine, engine.request('configmaps', 'shared'), other)
    }
    return { object: { ...live, data: { ...fieldsOf(live, 'data'), mine: '' } } }
  })
  assert.equal(attempts, 2)
  const stored = engine.store.get(request.served.key('default', 'shared'))
  assert.deepEqual(Object.keys(fieldsOf(stored?.object ?? configMap('none'), 'data')).sort(), [
    'mine',
    'other',
    'start',
  ])
})

test('a write that loses every race fails with 504 after 34 s', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const engine = await testEngine({ clock: { now: () => now } })
  await create(engine, engine.request('configmaps'), bodyOf(configMap('contended')))
  let attempts = 0
  const write = modify(engine, engine.request('configmaps', 'contended'), async (live) => {
    attempts++
    now += 12_000
    const other = { ...bodyOf({ data: { other: String(attempts) } }), type: 'merge', force: false } as const
    await patch(engine, engine.request('configmaps', 'contended'), other)
    return { object: { ...live, data: { mine: '' } } }
  })
  await assert.rejects(write, { code: 504, reason: 'Timeout' })
  assert.equal(attempts, 3)
})

test('a change of a missing object is refused with 404', async () => {
  const engine = await testEngine()
  const write = modify(engine, engine.request('configmaps', 'absent'), (live) => ({ object: live }))
  await assert.rejects(write, { code: 404 })
})
