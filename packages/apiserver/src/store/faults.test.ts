import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from './durable.js'
import { StoreWriteError } from './failures.js'
import { create, put, remove, specOf, stateOf } from './scenario.js'
import { SimulatedDisk, seeded } from './simulated-disk.js'
import type { Change } from './store.js'

const options = (files: SimulatedDisk) => ({ dataDir: '/data', files, logSizes: { file: 1 << 20, prepared: 0 } })

interface Fault {
  readonly because: string
  readonly begin: (disk: SimulatedDisk) => void
  readonly want: { readonly code: string; readonly message: RegExp }
}

const well = { shortWrite: 0, failedWrite: 0, failedSync: 0 }
const faults: Record<string, Fault> = {
  FullDisk: {
    because: 'there is no space',
    begin: (disk) => {
      disk.free = 0
    },
    want: {
      code: 'ENOSPC',
      message: /cannot write to the store: the disk is full\. Free space .*Reads continue/,
    },
  },
  BrokenWrite: {
    because: 'the write fails half way',
    begin: (disk) => {
      disk.faults = { ...well, failedWrite: 1 }
    },
    want: { code: 'EIO', message: /cannot write to the store: EIO/ },
  },
  BrokenSync: {
    because: 'the write may or may not have reached the disk',
    begin: (disk) => {
      disk.faults = { ...well, failedSync: 1 }
    },
    want: { code: 'EIO', message: /cannot write to the store: EIO/ },
  },
}

for (const [name, { because, begin, want }] of Object.entries(faults)) {
  test(`${name}: writes are refused since ${because}, reads continue, and writes continue afterwards`, async () => {
    const disk = new SimulatedDisk(seeded(1))
    const store = await openStore(options(disk))
    await store.write([create('/t/things/a', { n: 1 })])
    const heard: Change[] = []
    store.subscribe((changes) => heard.push(...changes))

    begin(disk)
    const tipBefore = store.tip('/t/things/a')
    const first = store.write([put('/t/things/a', { n: 2 })])
    const onTop = store.write([put('/t/things/a', { n: 3 }, store.tip('/t/things/a')!.revision)])
    for (const failed of await Promise.allSettled([first, onTop])) {
      assert.equal(failed.status, 'rejected')
      const { reason } = failed as PromiseRejectedResult
      assert.ok(reason instanceof StoreWriteError)
      assert.equal(reason.code, want.code)
      assert.match(reason.message, want.message)
    }
    assert.deepEqual(specOf(store.get('/t/things/a')), { n: 1 }, 'refused writes are not visible')
    assert.equal(store.tip('/t/things/a'), tipBefore, 'and later writes do not build on them')
    assert.deepEqual(heard, [])
    assert.ok(store.failure instanceof StoreWriteError)

    disk.free = Infinity
    disk.faults = well
    const [change] = await store.write([put('/t/things/a', { n: 4 })])
    assert.ok(change!.revision > tipBefore!.revision + 2, 'the revision of a refused write is never used again')
    assert.deepEqual(heard, [change])
    assert.equal(store.failure, undefined)
    const state = stateOf(store)
    await store.close()

    for (const after of [disk, disk.afterPowerLoss()]) {
      const again = await openStore(options(after))
      assert.deepEqual(stateOf(again), state)
      assert.equal(again.changesSince(1).length, 2)
      await again.close()
    }
  })
}

test('health does not report a full disk as working because a small write succeeds', async (t) => {
  const disk = new SimulatedDisk(seeded(4))
  const reported: (Error | undefined)[] = []
  const store = await openStore({
    ...options(disk),
    logSizes: { file: 1 << 20, prepared: 64 << 10 },
    health: (failure) => reported.push(failure),
  })
  t.after(() => store.close())
  await store.write([put('/t/things/a', { n: 1 })])
  disk.free = 0
  const large = put('/t/things/large', { text: 'x'.repeat(200_000) })
  await assert.rejects(store.write([large]), StoreWriteError)
  disk.free = 32 << 10
  await store.write([put('/t/things/a', { n: 2 }, store.tip('/t/things/a')!.revision)])
  assert.ok(store.failure instanceof StoreWriteError, 'small writes succeed, but the disk is full')
  assert.equal(reported.length, 1)

  disk.free = Infinity
  while (store.failure) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(reported.slice(1), [undefined], 'free space is detected without a writer')
  await store.write([large])
})

test('a disk that accepts only a few bytes at a time is slow, not wrong', async () => {
  const disk = new SimulatedDisk(seeded(2))
  disk.faults = { ...well, shortWrite: 0.9 }
  const store = await openStore(options(disk))
  for (let i = 0; i < 10; i++) await store.write([put(`/t/things/${i}`, { text: 'x'.repeat(5000) })])
  const state = stateOf(store)
  await store.close()
  const again = await openStore(options(disk.afterPowerLoss()))
  assert.deepEqual(stateOf(again), state)
  await again.close()
})

test('a failed snapshot has no other effect', async () => {
  const disk = new SimulatedDisk(seeded(3))
  const store = await openStore({ ...options(disk), snapshotBytes: 2000 })
  await store.write([put('/t/things/a', { text: 'x'.repeat(3000) })])
  disk.free = 0
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
  disk.free = Infinity
  await store.write([put('/t/things/b', { text: 'x'.repeat(3000) })])
  assert.equal(store.count(''), 2)
  await store.close()
})

test('a nearly full disk is not filled by attempts, and accepts writes that fit', async () => {
  const disk = new SimulatedDisk(seeded(4))
  const store = await openStore(options(disk))
  await store.write([put('/t/things/a', { n: 1 })])
  disk.free = 40_000
  for (let i = 0; i < 20; i++) {
    await assert.rejects(store.write([put('/t/things/b', { text: 'x'.repeat(60_000) })]), { code: 'ENOSPC' })
  }
  const logs = [...disk.contents().keys()].filter((path) => path.includes('/log-'))
  assert.ok(logs.length <= 2, logs.join())
  for (let i = 0; i < 3; i++) await store.write([put('/t/things/c', { i })])
  const state = stateOf(store)
  await store.close()
  for (const after of [disk, disk.afterPowerLoss()]) {
    const again = await openStore(options(after))
    assert.deepEqual(stateOf(again), state)
    await again.close()
  }
})

test('a large object can be deleted on a full disk, and stays deleted with its last state', async () => {
  const disk = new SimulatedDisk(seeded(1))
  const store = await openStore(options(disk))
  await store.write([create('/t/things/large', { text: 'x'.repeat(500_000) })])
  disk.free = 30_000
  await assert.rejects(store.write([put('/t/things/large', { text: 'y'.repeat(500_000) })]), StoreWriteError)
  const before = store.revision
  await store.write([remove('/t/things/large')])
  assert.equal(store.get('/t/things/large'), undefined)
  await store.close()
  disk.free = Number.POSITIVE_INFINITY
  const again = await openStore(options(disk))
  assert.equal(again.get('/t/things/large'), undefined)
  const [change] = again.changesSince(before)
  assert.equal(change!.type, 'DELETED')
  assert.ok(JSON.stringify(specOf(change!.now)).length > 500_000)
  assert.equal(change!.now.object.metadata.resourceVersion, String(change!.revision))
  await again.close()
})
