import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { storeContract } from './contract.js'
import { openStore, type StoreOptions } from './durable.js'
import { create, keysOf, put, remove, specOf, stateOf } from './scenario.js'
import { CompactedError } from './store.js'

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-store-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
let stores = 0
const newDirectory = () => join(home, String(stores++))

storeContract('durable', () => openStore({ dataDir: newDirectory() }))
storeContract('durable, with a snapshot every few writes and everything encrypted', () =>
  openStore({
    dataDir: newDirectory(),
    snapshotBytes: 1,
    logSizes: { file: 8192, prepared: 0 },
    encryption: { encrypt: () => true },
  }),
)

const reported = (
  store: { changesSince(revision: number): readonly { now: { bytes: Uint8Array } }[] },
  since: number,
) => store.changesSince(since).map(({ now, ...change }) => ({ ...change, now: Buffer.from(now.bytes).toString() }))

test('objects, revision and history are the same after a restart', async () => {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir })
  const begin = store.revision
  await store.write([create('/t/things/a', { n: 1 }), create('/t/things/b'), create('/t/things/c', { big: 2n ** 60n })])
  const middle = store.revision
  await store.write([put('/t/things/a', { n: 2 }), remove('/t/things/b')])
  const expected = { state: stateOf(store), revision: store.revision, history: reported(store, begin).length }
  const before = keysOf(store.list('', { revision: middle }))
  await store.close()

  const again = await openStore({ dataDir })
  assert.deepEqual(
    { state: stateOf(again), revision: again.revision, history: reported(again, begin).length },
    expected,
  )
  assert.deepEqual(keysOf(again.list('', { revision: middle })), before, 'a paged list continues')
  assert.equal((specOf(again.get('/t/things/c')) as { big: bigint }).big, 2n ** 60n)
  const deleted = again.changesSince(middle).at(-1)!
  assert.deepEqual([deleted.type, deleted.before?.object.metadata.name], ['DELETED', 'b'])
  const [change] = await again.write([create('/t/things/b')])
  assert.equal(change!.revision, expected.revision + 1)
  await again.close()
})

test('compacted revisions stay compacted', async () => {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir })
  for (let n = 0; n < 5; n++) await store.write([put('/t/things/a', { n })])
  const { revision } = store
  await store.compact(revision - 1)
  await store.close()
  const again = await openStore({ dataDir })
  assert.equal(again.compacted, revision - 1)
  assert.throws(() => again.changesSince(revision - 2), CompactedError)
  assert.equal(again.changesSince(revision - 1).length, 1)
  await again.close()
})

test('history is limited by age, count and size', async () => {
  let now = 1_000_000
  const open = (history: StoreOptions['history'], dataDir = newDirectory()) =>
    openStore({ dataDir, history, clock: { now: () => now } })
  const fill = async (store: Awaited<ReturnType<typeof open>>) => {
    for (let n = 0; n < 20; n++) {
      now += 2000
      await store.write([put('/t/things/a', { n, text: 'x'.repeat(1000) })])
    }
    return store.changesSince(store.compacted).length
  }
  const counted = await open({ changes: 5 })
  assert.equal(await fill(counted), 5)
  await counted.close()
  const sized = await open({ bytes: 3500 })
  assert.equal(await fill(sized), 3)
  await sized.close()
  const dataDir = newDirectory()
  const aged = await open({ age: 9000 }, dataDir)
  assert.equal(await fill(aged), 5)
  await aged.close()
  now += 5000
  const again = await open({ age: 9000 }, dataDir)
  assert.equal(again.changesSince(again.compacted).length, 3, 'history ages while the store is closed')
  await again.close()
})

test('snapshots bound the log, and nothing is lost', async () => {
  const dataDir = newDirectory()
  const options = {
    dataDir,
    snapshotBytes: 20_000,
    history: { changes: 10 },
    logSizes: { file: 30_000, prepared: 4096 },
  }
  const store = await openStore(options)
  for (let i = 0; i < 200; i++) {
    await store.write([put(`/t/things/${i % 20}`, { i, text: 'x'.repeat(900) })])
    if (i % 7 === 0) await store.write([remove(`/t/things/${i % 20}`)])
  }
  const files = () => fs.readdirSync(dataDir).filter((name) => /^(log|snapshot)-/.test(name))
  const deadline = Date.now() + 60_000
  while (files().length > 8 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(files().length <= 8, files().join())
  const state = stateOf(store)
  const history = reported(store, store.compacted)
  await store.close()
  assert.deepEqual(
    fs.readdirSync(dataDir).filter((name) => name.includes('lock') || name.endsWith('.tmp')),
    [],
  )
  const again = await openStore(options)
  assert.deepEqual(stateOf(again), state)
  assert.ok(reported(again, again.compacted).length <= history.length + 1)
  await again.close()
})

test('a page continues at its revision across a restart and a snapshot', async () => {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir, snapshotBytes: 1000 })
  for (let i = 0; i < 10; i++) await store.write([create(`/t/things/${i}`)])
  const page = store.list('/t/', { limit: 4 })
  for (let i = 0; i < 10; i += 2) await store.write([remove(`/t/things/${i}`), create(`/t/things/${i}x`)])
  await store.close()
  const again = await openStore({ dataDir })
  const rest = again.list('/t/', { after: page.items.at(-1)!.key, revision: page.revision, limit: 4 })
  assert.deepEqual(
    keysOf(rest),
    [4, 5, 6, 7].map((i) => `/t/things/${i}`),
  )
  assert.equal(rest.remaining, 2)
  await again.close()
})
