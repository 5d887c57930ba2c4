import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics, type ObjectKey } from '@crosstie/kube'
import { Informers } from '../informer/informers.js'
import { MemoryApi, THINGS, thing, until } from '../testing/memory.js'
import type { Next } from '../workqueue/queue.js'
import { type Controller, Controllers, type ShardFilter } from './controllers.js'

async function running(
  reconcile: (key: ObjectKey, signal: AbortSignal) => Promise<Next>,
  more: Partial<Controller> = {},
  options: object = {},
) {
  const api = new MemoryApi()
  const informers = new Informers(api)
  const metrics = new Metrics()
  const backoff = { baseMs: 5, maxMs: 50 }
  const controllers = new Controllers({ informers, metrics, backoff, ...options })
  controllers.start({ name: 'things', type: THINGS, reconcile, ...more })
  await informers.of(THINGS).synced
  const stop = async (graceMs = 1_000) => {
    await controllers.stop(graceMs)
    await informers.stop()
  }
  return { api, informers, controllers, metrics, stop }
}

test('metrics of stopped controllers hold no objects', async () => {
  const { api, stop, metrics } = await running(async () => ({ after: 'never' }))
  await api.create(THINGS, thing('a'))
  const held = /crosstie_watched_objects\{resource="things[^"]*"\} 1/
  await until(() => held.test(metrics.expose()))
  assert.match(metrics.expose(), /crosstie_queue_depth/)
  await stop()
  assert.doesNotMatch(metrics.expose(), /crosstie_watched_objects|crosstie_queue_depth/)
})

test('a change triggers a reconciliation', async () => {
  const seen: string[] = []
  const { api, stop, metrics } = await running(async ({ name }) => {
    seen.push(name)
    return { after: 'never' }
  })
  await api.create(THINGS, thing('a'))
  await until(() => seen.length === 1)
  assert.deepEqual(seen, ['a'])
  assert.match(metrics.expose(), /crosstie_reconcile_duration_seconds_count\{controller="things"\} 1/)
  await stop()
})

test('a clock set back delays neither polls nor retries', async (t) => {
  const runs = { polled: 0, failing: 0 }
  const { api, stop } = await running(async ({ name }) => {
    runs[name as keyof typeof runs]++
    return name === 'polled' ? { after: 'poll', seconds: 0.01 } : { after: 'backoff' }
  })
  for (const name of Object.keys(runs)) await api.create(THINGS, thing(name))
  await until(() => runs.polled > 1 && runs.failing > 1)
  const earlier = Date.now() - 3_600_000
  t.mock.method(Date, 'now', () => earlier)
  const { polled, failing } = runs
  await until(() => runs.polled > polled + 2 && runs.failing > failing + 2)
  t.mock.restoreAll()
  await stop()
})

test('a controller is notified of a removed object after its last reconciliation', async () => {
  const log: string[] = []
  let finish = () => {}
  const { api, stop } = await running(
    async ({ name }) => {
      if (name === 'busy') await new Promise<void>((resolve) => (finish = resolve))
      log.push(`reconciled ${name}`)
      return { after: 'never' }
    },
    { gone: ({ metadata }) => log.push(`gone ${metadata.name}`) },
  )
  for (const name of ['busy', 'idle']) await api.create(THINGS, thing(name))
  await until(() => log.length === 1)
  for (const name of ['busy', 'idle']) await api.delete(THINGS, { name })
  await until(() => log.length === 2)
  finish()
  await until(() => log.length === 4)
  assert.deepEqual(log, ['reconciled idle', 'gone idle', 'reconciled busy', 'gone busy'])
  await stop()
})

test('writes of a reconciliation do not trigger another one', async () => {
  const own = new Set<string>()
  let runs = 0
  const { api, stop } = await running(
    async ({ name }) => {
      runs++
      const object = await api.get(THINGS, { name })
      const written = await api.update(THINGS, { ...object, noted: true })
      // The watch may deliver the write before its response arrives.
      await new Promise((resolve) => setTimeout(resolve, 10))
      own.add(written.metadata.resourceVersion!)
      return { after: 'never' }
    },
    { wakes: (before, after) => !before || !own.has(after.metadata.resourceVersion!) },
  )
  await api.create(THINGS, thing('a'))
  await until(() => runs === 1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(runs, 1)
  const object = await api.get(THINGS, { name: 'a' })
  await api.update(THINGS, { ...object, changed: 'by another client' })
  await until(() => runs === 2)
  await stop()
})

test('an external source triggers reconciliations until the controller stops', async () => {
  const seen: string[] = []
  let wake: (key: ObjectKey) => void = () => {}
  let ended = 0
  const begin = (notify: (key: ObjectKey) => void) => {
    wake = notify
    return () => ended++
  }
  const reconcile = async ({ name }: ObjectKey): Promise<Next> => {
    seen.push(name)
    return { after: 'never' }
  }
  const { stop } = await running(reconcile, { begin })
  wake({ name: 'a' })
  await until(() => seen.length === 1)
  await stop()
  assert.equal(ended, 1)
})

test('a reconciliation that throws is retried', async () => {
  let tries = 0
  const { api, stop, metrics } = await running(async () => {
    if (++tries < 3) throw new Error('not yet')
    return { after: 'never' }
  })
  await api.create(THINGS, thing('a'))
  await until(() => tries === 3)
  assert.match(metrics.expose(), /crosstie_reconcile_failures_total\{controller="things"\} 2/)
  await stop()
})

test('concurrency is limited, and an object is never reconciled twice at once', async () => {
  const now = new Set<string>()
  let most = 0
  let done = 0
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const work = async ({ name }: ObjectKey): Promise<Next> => {
    assert.ok(!now.has(name))
    now.add(name)
    most = Math.max(most, now.size)
    await begun
    await new Promise((resolve) => setTimeout(resolve, 1))
    now.delete(name)
    done++
    return { after: 'never' }
  }
  const { api, stop } = await running(work, { concurrency: 4 })
  for (let i = 0; i < 40; i++) await api.create(THINGS, thing(`t${i}`))
  await until(() => now.size === 4)
  begin()
  await until(() => done >= 40)
  assert.equal(most, 4)
  await stop()
})

test('stop waits for running reconciliations, then aborts them', async () => {
  const ends: string[] = []
  let begun = 0
  const { api, stop } = await running(async ({ name }, signal) => {
    begun++
    const ms = name === 'short' ? 30 : 600_000
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    })
    ends.push(`${name} ${signal.aborted ? 'aborted' : 'finished'}`)
    return { after: 'never' }
  })
  await api.create(THINGS, thing('short'))
  await api.create(THINGS, thing('long'))
  await until(() => begun === 2)
  await stop(2_000)
  assert.deepEqual(ends.sort(), ['long aborted', 'short finished'])
})

test('a reconciliation that exceeds its timeout is aborted', async () => {
  let reason = ''
  const { api, stop } = await running(
    (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reason = String(signal.reason)
          resolve({ after: 'never' })
        })
      }),
    {},
    { timeoutMs: 20 },
  )
  await api.create(THINGS, thing('slow'))
  await until(() => reason !== '')
  assert.match(reason, /took longer than 0.02 s/)
  await stop()
})

test('after a start, objects that were not in sync come first', async () => {
  const api = new MemoryApi()
  for (const name of ['well-1', 'well-2', 'ill']) await api.create(THINGS, thing(name))
  const informers = new Informers(api)
  const seen: string[] = []
  const controllers = new Controllers({ informers, concurrency: 1 })
  controllers.start({
    name: 'things',
    type: THINGS,
    inSync: ({ metadata }) => metadata.name!.startsWith('well'),
    async reconcile({ name }) {
      seen.push(name)
      return { after: 'never' }
    },
  })
  await until(() => seen.length === 3)
  assert.deepEqual(seen, ['ill', 'well-1', 'well-2'])
  await controllers.stop()
  await informers.stop()
})

test('only objects of the shard filter are reconciled, and a handover waits for running reconciliations', async () => {
  const shardFilter = new Set<string>(['a'])
  let changed: () => Promise<void> = async () => {}
  const part: ShardFilter = {
    includes: (key) => shardFilter.has(key),
    onChange(callback) {
      changed = callback
      return () => {}
    },
  }
  const now = new Set<string>()
  const seen: string[] = []
  const { api, stop } = await running(
    async ({ name }) => {
      now.add(name)
      await new Promise((resolve) => setTimeout(resolve, 30))
      now.delete(name)
      seen.push(name)
      return { after: 'poll', seconds: 0.01 }
    },
    {},
    { shardFilter: part },
  )
  for (const name of ['a', 'b']) await api.create(THINGS, thing(name))
  await until(() => now.has('a'))
  shardFilter.clear()
  shardFilter.add('b')
  await changed()
  assert.ok(!now.has('a'))
  const before = seen.filter((name) => name === 'a').length
  await until(() => seen.includes('b'))
  assert.equal(seen.filter((name) => name === 'a').length, before)
  await stop()
})

test('a removed controller reconciles nothing more, and can be started again', async () => {
  const seen: string[] = []
  let finish = () => {}
  const reconcile = async ({ name }: ObjectKey): Promise<Next> => {
    if (name === 'busy') await new Promise<void>((resolve) => (finish = resolve))
    seen.push(name)
    return { after: 'poll', seconds: 0.01 }
  }
  const { api, controllers, informers, metrics, stop } = await running(reconcile)
  await api.create(THINGS, thing('busy'))
  await api.create(THINGS, thing('idle'))
  await until(() => seen.includes('idle'))
  const removed = controllers.remove('things')
  finish()
  await removed
  assert.equal(seen.at(-1), 'busy', 'the running reconciliation ended first')
  assert.equal(informers.known(THINGS), undefined, 'no other controller uses the informer')
  assert.doesNotMatch(metrics.expose(), /crosstie_queue_depth\{controller="things"/)
  const count = seen.length
  await api.create(THINGS, thing('late'))
  controllers.enqueue('things', { name: 'late' })
  controllers.start({ name: 'things', type: THINGS, reconcile: async () => ({ after: 'never' }) })
  await informers.of(THINGS).synced
  assert.equal(seen.length, count)
  await stop()
})

test('an informer that another controller watches survives the removal of a controller', async () => {
  const woken: string[] = []
  const { api, controllers, informers, stop } = await running(async () => ({ after: 'never' }))
  controllers.start({
    name: 'others',
    type: { ...THINGS, kind: 'Other', resource: 'others' },
    watches: [{ type: THINGS, concerns: ({ metadata }) => [{ name: metadata.name! }] }],
    async reconcile({ name }) {
      woken.push(name)
      return { after: 'never' }
    },
  })
  await controllers.remove('things')
  assert.ok(informers.known(THINGS))
  await api.create(THINGS, thing('a'))
  await until(() => woken.includes('a'))
  await stop()
})

test('a controller for every process ignores the shard filter', async () => {
  const seen: string[] = []
  const shardFilter: ShardFilter = { includes: () => false, onChange: () => () => {} }
  const { api, stop } = await running(
    async ({ name }) => {
      seen.push(name)
      return { after: 'never' }
    },
    { everyProcess: true },
    { shardFilter },
  )
  await api.create(THINGS, thing('a'))
  await until(() => seen.includes('a'))
  await stop()
})
