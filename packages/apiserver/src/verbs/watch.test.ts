import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from './create.js'
import { remove } from './delete.js'
import { bodyOf, configMap, testEngine } from './testing.js'
import { update } from './update.js'
import { watch } from './watch.js'

test('a watch with initial events sends the objects, a bookmark, then changes', async () => {
  const engine = await testEngine()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('one')))
  const seen: string[] = []
  const parameters = { sendInitialEvents: true, allowWatchBookmarks: true }
  const stop = watch(engine, engine.request('configmaps'), parameters, (event) => {
    if (event.type === 'BOOKMARK') seen.push(`BOOKMARK ${event.initialEventsEnd ? 'end of initial events' : ''}`)
    else if (event.type !== 'ERROR') seen.push(`${event.type} ${event.view.object.metadata.name}`)
  })
  await create(engine, engine.request('configmaps'), bodyOf(configMap('two')))
  await remove(engine, engine.request('configmaps', 'one'), {})
  stop()
  await create(engine, engine.request('configmaps'), bodyOf(configMap('three')))
  assert.deepEqual(seen, ['ADDED one', 'BOOKMARK end of initial events', 'ADDED two', 'DELETED one'])
})

test('an object that leaves the selection is reported as deleted', async () => {
  const engine = await testEngine()
  const seen: string[] = []
  const stop = watch(engine, engine.request('configmaps'), { labelSelector: 'color=red' }, (event) =>
    seen.push(event.type),
  )
  const red = configMap('one', {}, { labels: { color: 'red' } })
  await create(engine, engine.request('configmaps'), bodyOf(red))
  await update(engine, engine.request('configmaps', 'one'), bodyOf(configMap('one')))
  stop()
  assert.deepEqual(seen, ['ADDED', 'DELETED'])
})
