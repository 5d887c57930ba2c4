import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { restoreBackup } from './backup.js'
import { openStore } from './durable.js'
import { addEncryptionKey } from './keyring.js'
import { create, put, specOf, stateOf } from './scenario.js'

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-keys-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
let stores = 0
const newDirectory = () => join(home, String(stores++))

const PASSWORD = 'correct horse battery staple'
const SECRET = '//secrets/default/a'
const encryption = { encrypt: (key: string) => key.startsWith('//secrets/') }

async function storeWithSecret(): Promise<string> {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir, encryption })
  await store.write([create(SECRET, { password: PASSWORD }), create('/t/things/a', { color: 'plain to see' })])
  await store.close()
  return dataDir
}

function filesWith(text: string, directory: string): string[] {
  const names = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = names.map((name) => join(directory, name)).filter((path) => fs.statSync(path).isFile())
  return files.filter((path) => fs.readFileSync(path).includes(text))
}

test('secrets are never on disk in plain text, neither in the log nor in snapshots and backups', async () => {
  const dataDir = newDirectory()
  const store = await openStore({ dataDir, encryption, snapshotBytes: 100 })
  for (let n = 0; n < 20; n++) await store.write([put(SECRET, { password: PASSWORD, n })])
  await store.write([{ do: 'delete', key: SECRET, expect: 'any' }])
  await store.write([create('/t/things/a', { color: 'plain to see' }), create(SECRET, { password: PASSWORD })])
  await store.backup(join(dataDir, 'backup'))
  await store.close()
  assert.deepEqual(filesWith(PASSWORD, dataDir), [])
  assert.ok(filesWith('plain to see', dataDir).length > 0)
  if (process.platform !== 'win32') {
    for (const name of fs.readdirSync(dataDir)) {
      assert.equal(fs.statSync(join(dataDir, name)).mode & 0o077, 0, `${name} has mode 0600`)
    }
  }
  const again = await openStore({ dataDir, encryption })
  assert.deepEqual(specOf(again.get(SECRET)), { password: PASSWORD })
  await again.close()
})

interface KeyTrouble {
  readonly because: string
  readonly trouble: (keyFile: string) => void
  readonly want: RegExp
}

const troubles: Record<string, KeyTrouble> = {
  Missing: {
    because: 'without the key the secret cannot be read',
    trouble: (file) => fs.rmSync(file),
    want: /\/\/secrets\/default\/a is encrypted with key [0-9a-f]{16}, but .*keys\.json does not exist\. Restore the file/,
  },
  Another: {
    because: 'another key opens nothing',
    trouble: (file) => fs.copyFileSync(otherKeys, file),
    want: /is encrypted with key [0-9a-f]{16}, but it is not in .*keys\.json/,
  },
  Altered: {
    because: 'a key that does not match its id must not encrypt anything',
    trouble: (file) => {
      const keys = JSON.parse(fs.readFileSync(file, 'utf8'))
      keys.keys[0].key = Buffer.alloc(32).toString('base64')
      fs.writeFileSync(file, JSON.stringify(keys))
    },
    want: /keys\.json does not hold encryption keys: key [0-9a-f]{16} was changed\. Restore the right file/,
  },
  Garbage: {
    because: 'it is not a key file',
    trouble: (file) => fs.writeFileSync(file, 'hello'),
    want: /keys\.json does not hold encryption keys/,
  },
  Unreadable: {
    because: 'it cannot be read',
    trouble: (file) => {
      fs.rmSync(file)
      fs.mkdirSync(file)
    },
    want: /cannot read the encryption keys in .*keys\.json/,
  },
}

const otherKeys = join(home, 'other-keys.json')
await addEncryptionKey(otherKeys)

for (const [name, { because, trouble, want }] of Object.entries(troubles)) {
  test(`${name}: refuses to open, since ${because}; with the right key everything is there`, async () => {
    const dataDir = await storeWithSecret()
    const keyFile = join(dataDir, 'keys.json')
    const right = fs.readFileSync(keyFile)
    trouble(keyFile)
    for (const withEncryption of [encryption, undefined]) {
      await assert.rejects(openStore({ dataDir, encryption: withEncryption }), { name: 'StoreKeyError', message: want })
    }
    fs.rmSync(keyFile, { recursive: true, force: true })
    fs.writeFileSync(keyFile, right)
    const store = await openStore({ dataDir, encryption })
    assert.deepEqual(specOf(store.get(SECRET)), { password: PASSWORD })
    await store.close()
  })
}

test('a new key encrypts new values, the old one still decrypts, and is not needed after a snapshot', async () => {
  const dataDir = await storeWithSecret()
  const keyFile = join(dataDir, 'keys.json')
  await addEncryptionKey(keyFile)
  const history = { age: 0 }
  const store = await openStore({ dataDir, encryption, history })
  assert.deepEqual(specOf(store.get(SECRET)), { password: PASSWORD })
  // A snapshot encrypts old values with the new key. Files before it are removed when history permits.
  const snapshots = () => fs.readdirSync(dataDir).filter((name) => name.startsWith('snapshot-')).length
  for (let n = 0; snapshots() === 0 && n < 500; n++) await store.write([put('/t/things/a', { n })])
  await store.write([put('/t/things/a', {})])
  await store.close()
  const { keys } = JSON.parse(fs.readFileSync(keyFile, 'utf8'))
  assert.equal(keys.length, 2)
  const again = await openStore({ dataDir, encryption, history })
  await again.compact(again.revision)
  await again.write([put('/t/things/a', { last: true })])
  const state = stateOf(again)
  await again.close()
  fs.writeFileSync(keyFile, JSON.stringify({ keys: keys.slice(1) }))
  const last = await openStore({ dataDir, encryption, history })
  assert.deepEqual(stateOf(last), state)
  await last.close()
})

test('a key file of the operator is used, and created where it is configured', async () => {
  const dataDir = newDirectory()
  const keyFile = join(home, 'own-keys.json')
  const own = { ...encryption, keyFile }
  const store = await openStore({ dataDir, encryption: own })
  await store.write([create(SECRET, { password: PASSWORD })])
  await store.close()
  assert.ok(fs.existsSync(keyFile))
  assert.ok(!fs.existsSync(join(dataDir, 'keys.json')))
  const again = await openStore({ dataDir, encryption: own })
  assert.deepEqual(specOf(again.get(SECRET)), { password: PASSWORD })
  await again.close()
})

test('a backup needs the keys of its store, unless it includes them', async () => {
  const dataDir = await storeWithSecret()
  const store = await openStore({ dataDir, encryption })
  await store.backup(join(home, 'without'))
  await store.backup(join(home, 'with'), { withKeys: true })
  const state = stateOf(store)
  await store.close()

  const bare = newDirectory()
  await assert.rejects(restoreBackup(join(home, 'without'), bare), {
    name: 'StoreKeyError',
    message: /the backup holds encrypted values, but .*keys\.json does not exist\. Copy the key file/,
  })
  await assert.rejects(restoreBackup(join(home, 'without'), bare, { keyFile: otherKeys }), {
    message: /the backup is encrypted with key [0-9a-f]{16}, which is not in .*other-keys\.json/,
  })
  fs.copyFileSync(join(dataDir, 'keys.json'), join(bare, 'keys.json'))
  await restoreBackup(join(home, 'without'), bare)
  const carried = newDirectory()
  await restoreBackup(join(home, 'with'), carried)
  for (const restored of [bare, carried]) {
    const again = await openStore({ dataDir: restored, encryption })
    assert.deepEqual(stateOf(again), state)
    await again.close()
  }
})
