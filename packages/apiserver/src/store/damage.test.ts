import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from './durable.js'
import { StoreCorruptError } from './failures.js'
import { create, put, remove, stateOf } from './scenario.js'
import { SimulatedDisk, seeded } from './simulated-disk.js'
import type { Store } from './store.js'

const DIRECTORY = '/data'
const LOG = '/data/log-000000000001'
const logSizes = { file: 1 << 20, prepared: 0 }
const open = (files: SimulatedDisk) => openStore({ dataDir: DIRECTORY, files, logSizes })

type States = readonly string[]

/** Creates a log of three batches. The last is sealed when the store was closed. Returns the state after each batch. */
async function smallLog(closed: boolean): Promise<{ disk: SimulatedDisk; states: States; ends: readonly number[] }> {
  const disk = new SimulatedDisk(seeded(1))
  const store = await open(disk)
  const states = [JSON.stringify(stateOf(store))]
  const ends = [4096]
  const steps = [
    [create('/t/things/a', { n: 1 }), create('/t/things/b')],
    [put('/t/things/a', { n: 2, text: 'x'.repeat(5000) })],
    [remove('/t/things/b'), create('/t/things/c')],
  ]
  for (const writes of steps) {
    await store.write(writes)
    states.push(JSON.stringify(stateOf(store)))
    ends.push(disk.contents().get(LOG)!.length)
  }
  if (closed) await store.close()
  return { disk, states, ends }
}

const contentOf = (disk: SimulatedDisk) => disk.contents().get(LOG)!

async function opened(content: Buffer): Promise<Store | Error> {
  const disk = new SimulatedDisk(seeded(1))
  await (await disk.open(LOG, 'create')).close()
  disk.alter(LOG, () => content)
  try {
    return await open(disk)
  } catch (error) {
    return error as Error
  }
}

/** Every offset, or a sample of long runs of one value. */
function* offsetsOf(content: Buffer): Generator<number> {
  for (let at = 0; at < content.length; at++) {
    if (content[at] !== content[at - 1] || content[at] !== content[at + 1] || at % 97 === 0) yield at
  }
}

test('a log that is truncated at any byte opens with whole batches, or not at all', async () => {
  const { disk, states, ends } = await smallLog(false)
  const content = contentOf(disk)
  for (const length of offsetsOf(content)) {
    const store = await opened(content.subarray(0, length))
    assert.ok(!(store instanceof Error), `cut at ${length}: ${(store as Error).message}`)
    const batches = ends.filter((end, i) => i > 0 && end <= length).length
    const reached = states.indexOf(JSON.stringify(stateOf(store)))
    // A frame is complete before the zeros behind it are.
    assert.ok(reached === batches || reached === batches + 1, `cut at ${length}: ${reached} of ${batches} batches`)
    await store.close()
  }
})

test('a flipped bit in a closed log is detected or has no effect', async () => {
  const { disk, states } = await smallLog(true)
  const content = contentOf(disk)
  const found = { found: 0, harmless: 0 }
  for (const at of offsetsOf(content)) {
    const flipped = Buffer.from(content)
    flipped[at]! ^= 1 << (at % 8)
    const store = await opened(flipped)
    if (store instanceof Error) {
      assert.ok(store instanceof StoreCorruptError, `${at}: ${store.message}`)
      assert.equal(store.file, LOG)
      found.found++
      continue
    }
    found.harmless++
    assert.equal(JSON.stringify(stateOf(store)), states.at(-1), `byte ${at} flipped: an acknowledged write is lost`)
    await store.close()
  }
  assert.ok(found.found > 200 && found.harmless > 0, JSON.stringify(found))
})

test('a flipped bit in a log after a crash costs at most the last batch', async () => {
  const { disk, states, ends } = await smallLog(false)
  const content = contentOf(disk)
  for (const at of offsetsOf(content)) {
    const flipped = Buffer.from(content)
    flipped[at]! ^= 1 << (at % 8)
    const store = await opened(flipped)
    if (store instanceof Error) {
      assert.ok(store instanceof StoreCorruptError, `${at}: ${store.message}`)
      continue
    }
    const reached = states.indexOf(JSON.stringify(stateOf(store)))
    assert.ok(reached === 3 || (reached === 2 && at >= ends[2]!), `byte ${at} flipped: ${reached} of 3 batches`)
    await store.close()
  }
})

test('the error about damage names the file, the position and the remedy', async () => {
  const { disk, ends } = await smallLog(false)
  const flipped = Buffer.from(contentOf(disk))
  flipped[ends[0]! + 100]! ^= 1
  const error = await opened(flipped)
  assert.ok(error instanceof StoreCorruptError)
  assert.equal(error.offset, ends[0])
  assert.match(error.message, /log-000000000001 is damaged at byte 4096: the checksum does not match, and valid data/)
  assert.match(error.message, /Nothing was changed\. .*restore a backup/)
})

interface Damage {
  readonly because: string
  readonly damage: (disk: SimulatedDisk, names: readonly string[]) => Promise<void> | void
  readonly want: RegExp
}

const flip = (at: number) => (content: Buffer) => {
  content[at]! ^= 1
  return content
}

/** Damage to a store with a snapshot and several log files. */
const damages: Record<string, Damage> = {
  SnapshotFlipped: {
    because: 'the snapshot holds changes that are no longer in the log',
    damage: (disk, names) => disk.alter(names.find((name) => name.includes('snapshot-'))!, flip(3000)),
    want: /snapshot-\d+ is damaged at byte \d+: the checksum does not match/,
  },
  SnapshotCut: {
    because: 'a snapshot without its end is incomplete',
    damage: (disk, names) =>
      disk.alter(names.find((name) => name.includes('snapshot-'))!, (c) => c.subarray(0, c.length - 1)),
    want: /snapshot-\d+ is damaged at byte \d+: a frame .*ends early/,
  },
  OlderLogFlipped: {
    because: 'only the newest file can be torn',
    damage: (disk, names) => disk.alter(names.filter((name) => name.includes('log-')).at(-2)!, flip(4096 + 70)),
    want: /log-\d+ is damaged at byte 4096: the checksum does not match/,
  },
  OlderLogHeaderFlipped: {
    because: 'its header names the previous file',
    damage: (disk, names) => disk.alter(names.filter((name) => name.includes('log-')).at(-2)!, flip(60)),
    want: /log-\d+ is damaged at byte 0/,
  },
  OlderLogCut: {
    because: 'the next file records where it ended',
    damage: (disk, names) =>
      disk.alter(names.filter((name) => name.includes('log-')).at(-2)!, (c) => c.subarray(0, 8192)),
    want: /log-\d+ is damaged at byte 8192/,
  },
  OtherStoresLog: {
    because: 'files of two stores are mixed',
    damage: async (disk, names) => {
      const other = await smallLog(true)
      disk.alter(names.filter((name) => name.includes('log-')).at(-1)!, () => contentOf(other.disk))
    },
    want: /is damaged/,
  },
}

/** A store with a snapshot and several log files, closed cleanly. */
async function largerStore() {
  const disk = new SimulatedDisk(seeded(1))
  const options = { dataDir: DIRECTORY, files: disk, snapshotBytes: 5000, logSizes: { file: 20_000, prepared: 0 } }
  const store = await openStore(options)
  for (let i = 0; i < 12; i++) await store.write([put(`/t/things/${i % 5}`, { text: 'x'.repeat(2000), i })])
  await store.compact(store.revision)
  // The snapshot and the removal of old files run in the background.
  for (let i = 0; i < 4; i++) await store.write([put('/t/things/a', { text: 'x'.repeat(2000), i })])
  while (![...disk.contents().keys()].some((path) => path.includes('/snapshot-'))) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let i = 0; i < 6; i++) await store.write([put('/t/things/b', { text: 'x'.repeat(2000), i })])
  const state = JSON.stringify(stateOf(store))
  await store.close()
  return { disk, options, state }
}

test('a flipped bit in snapshots and logs is detected or has no effect', async () => {
  const { disk, options, state } = await largerStore()
  const original = new Map([...disk.contents()].map(([path, content]) => [path, Buffer.from(content)]))
  let found = 0
  for (const [path, content] of original) {
    for (let at = 0; at < content.length; at += at % 4096 < 80 ? 1 : 157) {
      const copy = new SimulatedDisk(seeded(1))
      for (const [name, bytes] of original) {
        await (await copy.open(name, 'create')).close()
        copy.alter(name, () => (name === path ? flip(at)(Buffer.from(bytes)) : bytes))
      }
      const outcome = await openStore({ ...options, files: copy }).catch((error: Error) => error)
      if (outcome instanceof Error) {
        assert.ok(outcome instanceof StoreCorruptError, `${path} at ${at}: ${outcome.stack}`)
        found++
        continue
      }
      assert.equal(JSON.stringify(stateOf(outcome)), state, `${path} at ${at}`)
      await outcome.close()
    }
  }
  assert.ok(found > 500, String(found))
})

for (const [name, { because, damage, want }] of Object.entries(damages)) {
  test(`${name}: refuses to open, since ${because}`, async () => {
    const { disk, options } = await largerStore()
    const before = [...disk.contents()]
    await damage(disk, before.map(([path]) => path).sort())
    const damaged = [...disk.contents().keys()]
    await assert.rejects(openStore(options), (error: Error) => {
      assert.ok(error instanceof StoreCorruptError, error.stack)
      assert.match(error.message, want)
      return true
    })
    assert.deepEqual([...disk.contents().keys()], damaged, 'refusing changes nothing')
  })
}

test('a missing log file is detected', async () => {
  const disk = new SimulatedDisk(seeded(1))
  const options = { dataDir: DIRECTORY, files: disk, logSizes: { file: 20_000, prepared: 0 } }
  const store = await openStore(options)
  for (let i = 0; i < 12; i++) await store.write([put(`/t/things/${i % 5}`, { text: 'x'.repeat(2000), i })])
  await store.close()
  await disk.remove(`${DIRECTORY}/log-000000000002`)
  const want = /log-000000000002 is damaged at byte 0: it is missing, and with it the changes up to revision \d+\./
  await assert.rejects(openStore(options), { name: 'StoreCorruptError', message: want })
})

test('a file that was created and never used is ignored', async () => {
  const { disk, states } = await smallLog(true)
  for (const content of [Buffer.alloc(0), Buffer.alloc(4096), Buffer.alloc(5000, 7)]) {
    const path = `${DIRECTORY}/log-000000000007`
    await (await disk.open(path, 'create')).close()
    disk.alter(path, () => content)
    const store = await open(disk)
    assert.equal(JSON.stringify(stateOf(store)), states.at(-1))
    await store.close()
    assert.ok(!disk.contents().has(path), 'it is cleaned up')
  }
})

test('a power loss at any step of the first two runs leaves a store that opens', async () => {
  for (let first = 0; first < 14; first++) {
    for (let second = 0; second < 20; second++) {
      let disk = new SimulatedDisk(seeded(first * 100 + second))
      let acknowledged = 0
      for (const operations of [first, second]) {
        disk.operationsLeft = operations
        const life = open(disk).then(async (store) => {
          await store.write([put(`/t/things/${operations}`)])
          acknowledged++
        })
        await Promise.race([life, disk.lost])
        disk.losePower()
        disk = disk.afterPowerLoss()
      }
      // Twice: the first opening cleans up.
      for (let opening = 0; opening < 2; opening++) {
        const store = await open(disk)
        assert.ok(store.count('') >= Math.min(acknowledged, first === second ? 1 : 2), `${first}, ${second}`)
        await store.close()
      }
    }
  }
})

test('a log that was truncated after a clean stop is refused; one that a crash tore is not', async () => {
  for (const closed of [true, false]) {
    const { disk, ends } = await smallLog(closed)
    const content = contentOf(disk)
    const cut = new SimulatedDisk(seeded(1))
    for (const [path, bytes] of disk.contents()) {
      const file = await cut.open(path, 'create')
      await file.write(path === LOG ? content.subarray(0, ends[2]) : bytes, 0)
      await file.close()
    }
    if (closed) await assert.rejects(open(cut), /the log reached revision \d+ at the last clean stop and now ends at/)
    else await (await open(cut)).close()
  }
})
