import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Child } from '../support/children.js'
import { eventually } from '../support/claims-world.js'

const root = new URL('../../../../', import.meta.url).pathname
const run = promisify(execFile)
const published = ['packages/cel', 'packages/kube', 'packages/apiserver', 'packages/controller', 'packages/resources']
const providers = readdirSync(join(root, 'providers')).map((name) => `providers/${name}`)

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-package-'))
})

after(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

test('packed packages run in an empty folder, where a provider is written, kept to the contract and run', {
  timeout: 600_000,
}, async () => {
  const packed = join(folder, 'packed')
  await mkdir(packed)
  for (const each of [...published, ...providers, 'apps/crosstie']) {
    await run('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: join(root, each) })
  }
  const archives = (await readdir(packed)).map((name) => join(packed, name))
  assert.equal(archives.length, published.length + providers.length + 1)

  const empty = join(folder, 'empty')
  await cp(join(root, 'examples/own-provider'), empty, { recursive: true })
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', ...archives]
  await run('npm', [...install, 'typescript@7.0.2', '@types/node@20.19.43'], { cwd: empty, maxBuffer: 1e8 })
  for (const name of ['crosstie', '@crosstie/resources']) {
    const files = await readdir(join(empty, 'node_modules', name))
    assert.ok(
      files.includes('LICENSE') && files.includes('README.md'),
      `${name} brings its licence and says what it is`,
    )
  }

  const { version } = JSON.parse(await readFile(join(empty, 'node_modules/crosstie/package.json'), 'utf8'))
  const { stdout } = await run('npx', ['crosstie', 'version'], { cwd: empty })
  assert.ok(stdout.includes(version), stdout)

  // A nested test run with this variable reports only to its parent.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const contract = await run('npm', ['test'], { cwd: empty, maxBuffer: 1e8, env })
  assert.match(contract.stdout, /(ℹ|#) fail 0/)

  const files = join(folder, 'files')
  const crosstie = join(empty, 'node_modules/crosstie/bin/crosstie.js')
  const args = ['up', '--listen', '127.0.0.1:0', '--data-dir', 'data', '--providers', './dist/provider.js']
  await using up = new Child('node', [crosstie, ...args], { ...process.env, TEXTFILES: files }, empty)
  assert.ok(await up.says(/^ready: /m), up.errors)
  const cli = (...words: string[]) =>
    run('node', [crosstie, ...words, '--kubeconfig', 'data/kubeconfig'], { cwd: empty })
  await cli('apply', '-f', 'textfile.yaml')
  await cli('wait', 'textfile/shopping', '--for', 'condition=Ready', '--timeout', '120s')
  assert.equal(await readFile(join(files, 'notes/shopping'), 'utf8'), 'milk\nbread\n')
  await cli('delete', 'textfile/shopping')
  await eventually('the file is gone', async () => (await readdir(join(files, 'notes'))).length === 0)
})
