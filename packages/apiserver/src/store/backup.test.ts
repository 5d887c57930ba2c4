import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { restoreBackup } from './backup.js'
import { openStore } from './durable.js'
import { create, put, specOf, stateOf } from './scenario.js'
import { CompactedError } from './store.js'

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-backup-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
let stores = 0
const newDirectory = () => join(home, String(stores++))

async function backedUp(): Promise<{ dataDir: string; file: string; state: [string, string][]; revision: number }> {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir })
  for (let i = 0; i < 50; i++) await store.write([put(`/t/things/${i % 30}`, { i, text: 'x'.repeat(500) })])
  const state = stateOf(store)
  const file = `${dataDir}.backup`
  const { revision } = await store.backup(file)
  await store.close()
  return { dataDir, file, state, revision }
}

test('a restored backup equals the store', async () => {
  const { file, state, revision } = await backedUp()
  const dataDir = newDirectory()
  const restored = await restoreBackup(file, dataDir)
  assert.equal(restored.objects, state.length)
  const store = await openStore({ dataDir })
  assert.deepEqual(stateOf(store), state)
  assert.ok(store.revision > revision)
  assert.throws(() => store.changesSince(revision), CompactedError, 'clients that saw later revisions must list again')
  const [change] = await store.write([create('/t/things/new')])
  assert.equal(change!.revision, store.revision)
  await store.close()
  const again = await openStore({ dataDir })
  assert.equal(again.count(''), state.length + 1)
  await again.close()
})

test('a backup is consistent while writes continue', async () => {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir, history: { changes: 3 } })
  const keys = Array.from({ length: 600 }, (_, i) => `/t/things/${i}`)
  // Every round writes the same number to all keys in one write. Mixed numbers are mixed revisions.
  const round = (n: number) => store.write(keys.map((key) => put(key, { n })))
  await round(0)
  let writing = true
  const writer = (async () => {
    for (let n = 1; writing; n++) await round(n)
  })()
  for (let i = 0; i < 5; i++) {
    const file = join(home, `moving-${i}`)
    const { revision } = await store.backup(file)
    const target = newDirectory()
    await restoreBackup(file, target)
    const copy = await openStore({ dataDir: target })
    const numbers = new Set(copy.list('').items.map((item) => (specOf(item) as { n: number }).n))
    assert.equal(copy.count(''), keys.length)
    assert.equal(numbers.size, 1, `revision ${revision} mixes ${[...numbers]}`)
    await copy.close()
  }
  writing = false
  await writer
  await store.close()
})

test('a directory with data is refused unless forced, and then its data is moved', async () => {
  const { dataDir, file, state } = await backedUp()
  await assert.rejects(restoreBackup(file, dataDir), { message: /already holds data \(log-\d+\)\. Choose an empty/ })
  const store = await openStore({ dataDir })
  await store.write([create('/t/things/after-the-backup')])
  await assert.rejects(restoreBackup(file, dataDir, { force: true }), { name: 'StoreLockedError' })
  await store.close()
  await restoreBackup(file, dataDir, { force: true })
  const restored = await openStore({ dataDir })
  assert.deepEqual(stateOf(restored), state)
  await restored.close()
  const aside = fs.readdirSync(dataDir).find((name) => name.startsWith('replaced-'))!
  const old = await openStore({ dataDir: join(dataDir, aside) })
  assert.ok(old.get('/t/things/after-the-backup'), 'the replaced data is still a store')
  await old.close()
})

test('a damaged backup is refused before anything is changed', async () => {
  const { file, dataDir } = await backedUp()
  const content = fs.readFileSync(file)
  const before = fs.readdirSync(dataDir)
  for (const [at, damaged] of [
    [0, Buffer.alloc(0)],
    [content.length - 1, content.subarray(0, content.length - 1)],
    ...[0, 60, 400, content.length >> 1, content.length - 2].map((at) => {
      const flipped = Buffer.from(content)
      flipped[at]! ^= 4
      return [at, flipped] as const
    }),
  ] as const) {
    fs.writeFileSync(file, damaged)
    await assert.rejects(restoreBackup(file, dataDir, { force: true }), { name: 'StoreCorruptError' }, `byte ${at}`)
  }
  assert.deepEqual(fs.readdirSync(dataDir), before)
})

test('an interrupted restore is detected and can be repeated', async () => {
  const { file, state } = await backedUp()
  const dataDir = newDirectory()
  fs.mkdirSync(dataDir)
  fs.writeFileSync(join(dataDir, 'restoring'), '')
  await assert.rejects(openStore({ dataDir }), { message: /a restore into .* did not finish/ })
  await restoreBackup(file, dataDir, { force: true })
  const store = await openStore({ dataDir })
  assert.deepEqual(stateOf(store), state)
  await store.close()
})

test('a backup that cannot be written leaves no file behind', async () => {
  const { dataDir } = await backedUp()
  const store = await openStore({ dataDir })
  await assert.rejects(store.backup(join(home, 'no such folder', 'file')), { code: 'ENOENT' })
  const folder = join(home, 'a folder')
  fs.mkdirSync(join(folder, 'target'), { recursive: true })
  await assert.rejects(store.backup(join(folder, 'target')))
  assert.deepEqual(fs.readdirSync(folder), ['target'])
  await store.close()
})
