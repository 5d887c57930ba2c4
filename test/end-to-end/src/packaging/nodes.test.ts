import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Child } from '../support/children.js'
import { crosstie, fileOf } from '../support/program.js'

const run = promisify(execFile)
const manifest = fileOf('providers/nop/examples/nopresource.yaml')

const versions = [
  ['20.19.0', 'the oldest that we promise'],
  ['24.21.0', 'the one that most will have'],
  ['26.10.0', 'the newest: what it warns of today is gone tomorrow'],
] as const

for (const [version, because] of versions) {
  test(`Node ${version}, ${because}`, { timeout: 600_000 }, async (t) => {
    const node = await nodeOf(version).catch((error: Error) =>
      t.skip(`Node ${version} cannot be had: ${error.message}`),
    )
    if (!node) return
    const folder = await mkdtemp(join(tmpdir(), 'crosstie-node-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    const up = async () => {
      const where = ['--data-dir', join(folder, 'data'), '--listen', '127.0.0.1:0', '--kubeconfig', kubeconfig]
      const plane = new Child(node, [crosstie, 'up', '--providers', 'nop', ...where])
      assert.ok(await plane.says(/^ +kinds /m), plane.output + plane.errors)
      return plane
    }
    const says = async (...args: readonly string[]) => {
      const { stdout, stderr } = await run(node, [crosstie, ...args, '--kubeconfig', kubeconfig])
      assert.equal(stderr, '', 'nothing to complain of')
      return stdout
    }

    const first = await up()
    try {
      assert.equal((await run(node, ['--version'])).stdout.trim(), `v${version}`)
      await says('apply', '-f', manifest)
      assert.match(await says('wait', 'nopresource/example'), /Ready True/)
    } finally {
      await first.stop()
    }
    assert.doesNotMatch(first.errors, /warning/i)
    await using _second = await up()
    assert.match(await says('get', 'nopresources'), /example +True +True/)
  })
}

/** Returns the path of a Node.js version. It is installed from npm once per system, and cached. */
async function nodeOf(version: string): Promise<string> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const root = process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache', 'crosstie')
  const folder = join(root, `node-${version}`)
  const program = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(program)) return program
  await mkdir(root, { recursive: true })
  // Installed in a temporary folder and renamed, so that no process sees an incomplete installation.
  const building = await mkdtemp(`${folder}.`)
  try {
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
    await run('npm', ['install', ...quiet, '--prefix', building, `${name}@${version}`], { cwd: building })
    await rename(building, folder)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return program
}
