import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const LONG = 180_000
const source = new URL('../../../../apps/crosstie/', import.meta.url).pathname

let folder = ''
/** The compile cache file of the first module of `crosstie completion`. */
let kept = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-start-'))
  for (const part of ['bin', 'package.json']) await cp(join(source, part), join(folder, part), { recursive: true })
  const bundle = join(source, 'bundle')
  const filter = (path: string) => path !== join(bundle, 'code') && !path.endsWith('.map')
  await cp(bundle, join(folder, 'bundle'), { recursive: true, filter })
  const { main } = JSON.parse(await readFile(join(bundle, 'package.json'), 'utf8')) as { main: string }
  kept = join(folder, 'bundle/code', `${process.versions.v8}-${process.arch}`, 'completion', main)
})

after(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function printed(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'bin/crosstie.js'), ...args])
  return stdout
}

test('what was compiled is kept for the next run, and good for it', { timeout: LONG }, async () => {
  const first = await printed('completion', 'bash')
  const code = await readFile(kept)
  assert.ok(code.length > 0)
  assert.equal(await printed('completion', 'bash'), first)
  assert.deepEqual(await readFile(kept), code, 'what V8 took is not written again')
})

test('what cannot be taken is compiled and kept anew', { timeout: LONG }, async () => {
  const want = await printed('completion', 'bash')
  const good = await readFile(kept)
  const otherVersion = Buffer.from(good)
  otherVersion.fill(0, 0, 64)
  const damaged = {
    empty: Buffer.alloc(0),
    zeros: Buffer.alloc(1000),
    'a part of it': good.subarray(0, good.length >> 1),
    'of another V8': otherVersion,
  }
  for (const [how, bytes] of Object.entries(damaged)) {
    await writeFile(kept, bytes)
    assert.equal(await printed('completion', 'bash'), want, how)
    assert.notDeepEqual(await readFile(kept), bytes, how)
  }
})

test('where nothing may be written the program runs all the same', { timeout: LONG }, async () => {
  const code = join(folder, 'bundle/code')
  const want = await printed('completion', 'bash')
  await rm(code, { recursive: true })
  await writeFile(code, 'not a folder, so that not even root can write below it')
  assert.equal(await printed('completion', 'bash'), want)
  assert.ok((await readdir(join(folder, 'bundle'))).includes('code'))
})
