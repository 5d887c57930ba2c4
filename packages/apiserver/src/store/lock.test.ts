import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openStore } from './durable.js'
import { lockDirectory } from './lock.js'
import { create } from './scenario.js'

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-lock-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
let directories = 0
const newDirectory = () => {
  const directory = join(home, String(directories++))
  fs.mkdirSync(directory, { recursive: true })
  return directory
}
const moduleOf = (name: string) => JSON.stringify(new URL(`./${name}.js`, import.meta.url).href)

/** Runs code in a process of its own. */
function run(code: string, ...args: string[]): ChildProcess & { readonly said: () => string } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return Object.assign(child, { said: () => said })
}

const HOLD = `
  import { openStore } from ${moduleOf('durable')}
  await openStore({ dataDir: process.argv[1] })
  console.log('open')
  setInterval(() => {}, 1000)`

async function holder(directory: string): Promise<ChildProcess> {
  const child = run(HOLD, directory)
  await once(child.stdout!, 'data')
  return child
}

/** A container as far as locks are concerned: other process ids, another network. */
const container = ['unshare', '--net', '--pid', '--fork', '--kill-child']
const hasContainers = spawnSync(container[0]!, [...container.slice(1), 'true']).status === 0

const ended = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

test('a second process is refused with the id of the first', async () => {
  const directory = newDirectory()
  const first = await holder(directory)
  await assert.rejects(openStore({ dataDir: directory }), (error: Error & { pid?: number }) => {
    assert.equal(error.name, 'StoreLockedError')
    assert.equal(error.pid, first.pid)
    assert.match(error.message, new RegExp(`is in use by process ${first.pid}\\. Stop it first`))
    return true
  })
  first.kill('SIGKILL')
  await ended(first)
  const store = await openStore({ dataDir: directory })
  await store.write([create('/t/things/a')])
  await store.close()
  assert.deepEqual(
    fs.readdirSync(directory).filter((name) => /lock/.test(name)),
    [],
    'nothing is left of locks of dead processes',
  )
})

test('a stopped process keeps its lock', { skip: process.platform === 'win32' }, async () => {
  const directory = newDirectory()
  const first = await holder(directory)
  first.kill('SIGSTOP')
  await assert.rejects(openStore({ dataDir: directory }), { name: 'StoreLockedError' })
  first.kill('SIGKILL')
  await ended(first)
  await (await openStore({ dataDir: directory })).close()
})

test('containers that share the directory exclude each other', { skip: !hasContainers }, async () => {
  const directory = newDirectory()
  const args = [...container.slice(1), process.execPath, '--input-type=module', '-e', HOLD, directory]
  const inside = spawn(container[0]!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(inside.stdout, 'data')
  await assert.rejects(openStore({ dataDir: directory }), { name: 'StoreLockedError' })
  inside.kill('SIGKILL')
  await ended(inside)
  let store = await openStore({ dataDir: directory }).catch(() => undefined)
  // The process inside the container dies shortly after the one that was killed.
  for (let i = 0; i < 50 && !store; i++) store = await openStore({ dataDir: directory }).catch(() => undefined)
  assert.ok(store)
  await store.close()
})

test('the same process cannot lock twice', async () => {
  const directory = newDirectory()
  const store = await openStore({ dataDir: directory })
  await assert.rejects(openStore({ dataDir: directory }), { name: 'StoreLockedError' })
  await store.close()
  await (await openStore({ dataDir: directory })).close()
})

test('a failed opening lets go', async () => {
  const directory = newDirectory()
  fs.writeFileSync(join(directory, 'restoring'), '')
  await assert.rejects(openStore({ dataDir: directory }))
  fs.rmSync(join(directory, 'restoring'))
  await (await openStore({ dataDir: directory })).close()
})

test('files of a process that died while locking are removed in time', {
  skip: process.platform !== 'linux',
}, async () => {
  const directory = newDirectory()
  const [old, young] = ['a', 'b'].map((letter) => join(directory, `.lock-${letter.repeat(24)}`)) as [string, string]
  for (const path of [old, young]) fs.writeFileSync(path, '')
  fs.utimesSync(old, new Date(0), new Date(0))
  const lock = await lockDirectory(directory)
  assert.deepEqual([fs.existsSync(old), fs.existsSync(young)], [false, true])
  await lock.release()
})

test('another path to the directory is the same directory', { skip: process.platform === 'win32' }, async () => {
  const directory = newDirectory()
  const store = await openStore({ dataDir: directory })
  const link = `${directory}-link`
  fs.symlinkSync(directory, link)
  await assert.rejects(openStore({ dataDir: link }), { name: 'StoreLockedError' })
  await store.close()
})

test('a directory may have a long name', async () => {
  const directory = join(newDirectory(), 'x'.repeat(100), 'y'.repeat(100))
  fs.mkdirSync(directory, { recursive: true })
  const first = await holder(directory)
  await assert.rejects(openStore({ dataDir: directory }), { name: 'StoreLockedError' })
  first.kill('SIGKILL')
  await ended(first)
  await (await openStore({ dataDir: directory })).close()
})

for (const [how, skip] of [
  ['lockDirectory', false],
  ['lockBySocket', process.platform !== 'linux'],
] as const) {
  test(
    `${how}: of many processes that lock repeatedly, never two hold the lock, though some are killed`,
    { skip },
    () => contend(how),
  )
}

async function contend(how: string): Promise<void> {
  const directory = newDirectory()
  // The holder of the lock creates a file that must not exist before. Killed processes leave theirs, with their id
  // in it.
  const code = `
    import fs from 'node:fs'
    import { ${how} as lockIt } from ${moduleOf('lock')}
    const [directory, marker] = process.argv.slice(1)
    const alive = (pid) => { try { process.kill(pid, 0); return true } catch { return false } }
    for (let got = 0; got < 8; ) {
      let lock
      try { lock = await lockIt(directory) } catch (error) {
        if (error.name !== 'StoreLockedError') throw error
        continue
      }
      got++
      try { fs.writeFileSync(marker, String(process.pid), { flag: 'wx' }) } catch {
        const other = Number(fs.readFileSync(marker, 'utf8'))
        // The killed are gone only when their parent has taken notice.
        for (let i = 0; i < 6_000 && alive(other); i++) await new Promise((resolve) => setTimeout(resolve, 10))
        if (other !== process.pid && alive(other)) console.log('two at once')
        fs.writeFileSync(marker, String(process.pid))
      }
      if (got === 5 && process.pid % 3 === 0) process.kill(process.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, 3))
      fs.rmSync(marker)
      await lock.release()
    }`
  const children = Array.from({ length: 6 }, () => run(code, directory, join(home, `marker-${how}`)))
  await Promise.all(children.map(ended))
  for (const child of children) {
    assert.equal(child.said(), '')
    assert.ok(child.exitCode === 0 || child.signalCode === 'SIGKILL')
  }
  const lock = await lockDirectory(directory)
  await lock.release()
}
