import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { backoffMs } from './backoff.js'
import { type Timed, TimeHeap } from './heap.js'
import { type Next, type Task, WorkQueue } from './queue.js'

const HALF = () => 0.5

function queueAt(t: TestContext, ...lanes: readonly [string, number][]) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
  const clock = { now: () => Date.now() }
  const queue = new WorkQueue({ clock, backoff: { baseMs: 200, maxMs: 60_000, random: HALF }, wake: () => {} })
  for (const [name, limit] of lanes) queue.open(name, limit)
  return queue
}

const keysOf = (tasks: readonly (Task | undefined)[]) => tasks.map((task) => task?.key)
const takeAll = (queue: WorkQueue) => {
  const tasks: Task[] = []
  for (let task = queue.take(); task; task = queue.take()) tasks.push(task)
  return tasks
}

test('a key added many times is handed out once', (t) => {
  const queue = queueAt(t, ['a', 10])
  queue.add('a', 'x')
  queue.add('a', 'x')
  assert.deepEqual(keysOf(takeAll(queue)), ['x'])
})

test('a change during a run triggers another run at once', (t) => {
  const queue = queueAt(t, ['a', 10])
  queue.add('a', 'x')
  const task = queue.take()!
  queue.add('a', 'x')
  assert.equal(queue.take(), undefined, 'never two runs at once')
  queue.done(task, { after: 'never' })
  assert.deepEqual(keysOf(takeAll(queue)), ['x'])
})

test('failures back off exponentially, and success resets the back-off', (t) => {
  const queue = queueAt(t, ['a', 10])
  queue.add('a', 'x')
  const waits: number[] = []
  for (let i = 0; i < 4; i++) {
    queue.done(queue.take()!, { after: 'backoff' })
    const from = Date.now()
    while (queue.depth('a').ready === 0) t.mock.timers.tick(1)
    waits.push(Date.now() - from)
  }
  assert.deepEqual(waits, [180, 360, 720, 1440])
  queue.done(queue.take()!, { after: 'poll', seconds: 1 })
  t.mock.timers.tick(1_250)
  queue.done(queue.take()!, { after: 'backoff' })
  t.mock.timers.tick(180)
  assert.deepEqual(keysOf(takeAll(queue)), ['x'])
})

test('progress does not wait for earlier failures, and repeated progress backs off', (t) => {
  const queue = queueAt(t, ['a', 10])
  queue.add('a', 'x')
  const waitAfter = (next: Next) => {
    queue.done(queue.take()!, next)
    const from = Date.now()
    while (queue.depth('a').ready === 0) t.mock.timers.tick(1)
    return Date.now() - from
  }
  const failed: Next = { after: 'backoff' }
  const went: Next = { after: 'backoff', progress: true }
  assert.deepEqual(
    [failed, failed, failed, went, went, failed, went].map(waitAfter),
    [180, 360, 720, 180, 360, 1440, 720],
  )
  waitAfter({ after: 'poll', seconds: 1 })
  assert.deepEqual([went, failed].map(waitAfter), [180, 180], 'success resets both counts')
})

test('a task that waits for its turn keeps its priority and its failure count', (t) => {
  const queue = queueAt(t, ['a', 10])
  queue.add('a', 'urgent')
  queue.add('a', 'routine', 'routine')
  const [first, second] = takeAll(queue) as [Task, Task]
  queue.done(first, { after: 'backoff' })
  t.mock.timers.tick(1_000)
  queue.done(queue.take()!, { after: 'turn', seconds: 3 })
  queue.done(second, { after: 'turn', seconds: 3 })
  t.mock.timers.tick(2_900)
  assert.deepEqual(takeAll(queue), [])
  t.mock.timers.tick(200)
  const [again, last] = takeAll(queue) as [Task, Task]
  assert.deepEqual(keysOf([again, last]), ['urgent', 'routine'])
  queue.done(again, { after: 'backoff' })
  assert.equal(queue.depth('a').waiting, 1)
  t.mock.timers.tick(450)
  assert.deepEqual(keysOf(takeAll(queue)), ['urgent'], 'as after the second failure')
})

test('new and failing objects precede polls, and polls are not starved', (t) => {
  const queue = queueAt(t, ['a', 1000])
  for (let i = 0; i < 20; i++) queue.add('a', `poll-${i}`, 'routine')
  for (let i = 0; i < 14; i++) queue.add('a', `fresh-${i}`)
  const order = keysOf(takeAll(queue)).map((key) => key!.split('-')[0])
  assert.deepEqual(order.slice(0, 16), [...Array(7).fill('fresh'), 'poll', ...Array(7).fill('fresh'), 'poll'])
})

test('a poll that becomes urgent moves to the front', (t) => {
  const queue = queueAt(t, ['a', 10])
  for (const key of ['p', 'q']) queue.add('a', key, 'routine')
  queue.add('a', 'q')
  assert.deepEqual(keysOf(takeAll(queue)), ['q', 'p'])
})

test('lanes take turns, and each respects its limit', (t) => {
  const queue = queueAt(t, ['many', 3], ['few', 3])
  for (let i = 0; i < 100; i++) queue.add('many', `m${i}`)
  for (let i = 0; i < 2; i++) queue.add('few', `f${i}`)
  const tasks = takeAll(queue)
  assert.deepEqual(keysOf(tasks), ['m0', 'f0', 'm1', 'f1', 'm2'])
  queue.done(tasks[0]!, { after: 'never' })
  assert.deepEqual(keysOf(takeAll(queue)), ['m3'])
})

for (const { seconds, step } of [
  { seconds: 10, step: 250 },
  { seconds: 60, step: 1_000 },
]) {
  test(`polls after ${seconds} s that are due at about the same time are batched`, (t) => {
    const queue = queueAt(t, ['a', 10])
    for (const key of ['x', 'y']) {
      t.mock.timers.tick(20)
      queue.add('a', key)
      queue.done(queue.take()!, { after: 'poll', seconds })
    }
    t.mock.timers.tick(seconds * 1000)
    assert.deepEqual(keysOf(takeAll(queue)), [])
    t.mock.timers.tick(step)
    assert.deepEqual(keysOf(takeAll(queue)), ['x', 'y'])
  })
}

test('a forgotten key is not handed out', (t) => {
  const queue = queueAt(t, ['a', 10])
  for (const key of ['ready', 'waiting']) queue.add('a', key)
  const waiting = takeAll(queue)[1]!
  queue.done(waiting, { after: 'backoff' })
  queue.forget('a', 'waiting')
  t.mock.timers.tick(100_000)
  assert.deepEqual(keysOf(takeAll(queue)), [])
  assert.deepEqual(queue.depth('a'), { ready: 0, waiting: 0, running: 1 })
})

test('under random operations no key runs twice and none is lost', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const step = fc.tuple(fc.constantFrom('add', 'routine', 'take', 'never', 'backoff', 'poll', 'tick'), fc.nat(4))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const clock = { now: () => Date.now() }
      const queue = new WorkQueue({ clock, backoff: { baseMs: 10, maxMs: 50, random: HALF }, wake: () => {} })
      queue.open('a', 3)
      const running = new Map<string, Task>()
      const owed = new Set<string>()
      for (const [what, n] of steps) {
        const key = `k${n}`
        if (what === 'add' || what === 'routine') {
          queue.add('a', key, what === 'add' ? 'urgent' : 'routine')
          owed.add(key)
        } else if (what === 'take') {
          const task = queue.take()
          if (!task) continue
          assert.ok(!running.has(task.key), 'twice at once')
          running.set(task.key, task)
          owed.delete(task.key)
        } else if (what === 'tick') t.mock.timers.tick(n * 20)
        else {
          const task = running.get(key)
          if (!task) continue
          running.delete(key)
          queue.done(task, what === 'poll' ? { after: 'poll', seconds: 0.01 } : { after: what })
          if (what !== 'never') owed.add(key)
        }
      }
      for (const task of running.values()) queue.done(task, { after: 'never' })
      t.mock.timers.tick(10_000)
      for (let task = queue.take(); task; task = queue.take()) {
        owed.delete(task.key)
        queue.done(task, { after: 'never' })
      }
      assert.deepEqual([...owed], [])
      queue.close()
    }),
  )
})

test('a heap returns the earliest first after removals from the middle', () => {
  const due = fc.array(fc.tuple(fc.nat(1000), fc.boolean()), { maxLength: 100 })
  fc.assert(
    fc.property(due, (items) => {
      const heap = new TimeHeap<Timed>()
      const all = items.map(([at, removed]) => ({ due: at, heapIndex: -1, removed }))
      for (const item of all) heap.push(item)
      for (const item of all) if (item.removed) heap.remove(item)
      const out: number[] = []
      for (let first = heap.first(); first; first = heap.first()) {
        out.push(first.due)
        heap.remove(first)
      }
      const want = all.filter(({ removed }) => !removed).map((item) => item.due)
      assert.deepEqual(
        out,
        want.sort((a, b) => a - b),
      )
    }),
  )
})

test('back-off doubles up to its maximum', () => {
  const options = { baseMs: 100, maxMs: 1_000, random: () => 0 }
  assert.deepEqual(
    [1, 2, 3, 4, 5, 500].map((failures) => backoffMs(failures, options)),
    [100, 200, 400, 800, 1_000, 1_000],
  )
})

test('a retired lane hands out nothing more and ends with its last task', (t) => {
  const queue = queueAt(t, ['a', 1], ['b', 1])
  for (const key of ['x', 'y']) queue.add('a', key)
  queue.add('b', 'z')
  const [running] = takeAll(queue)
  queue.retire('a')
  queue.add('a', 'x')
  assert.throws(() => queue.open('a', 1), /already has a lane a/, 'a task of it is running')
  queue.done(running!, { after: 'poll', seconds: 1 })
  queue.open('a', 1)
  assert.deepEqual(queue.depth('a'), { ready: 0, waiting: 0, running: 0 })
})
