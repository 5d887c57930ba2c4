import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../../../', import.meta.url).pathname

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Package {
  readonly folder: string
  readonly manifest: Manifest
}

const packages: ReadonlyMap<string, Package> = new Map(
  ['packages', 'providers', 'apps']
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name)))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
      return [manifest.name, { folder, manifest }]
    }),
)

/** Adds a package and the packages of this repository that it depends on, directly or not. */
function addClosure(name: string, closure = new Set<string>()): ReadonlySet<string> {
  const found = packages.get(name)
  if (!found || closure.has(name)) return closure
  closure.add(name)
  for (const dependency of Object.keys(found.manifest.dependencies ?? {})) addClosure(dependency, closure)
  return closure
}

describe('every package installs alone', { timeout: 1_800_000 }, () => {
  let folder = ''
  const archives = new Map<string, string>()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crosstie-install-'))
    for (const [name, each] of packages) {
      const packed = join(folder, 'packed', name)
      await mkdir(packed, { recursive: true })
      await run('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: each.folder, maxBuffer: 1e8 })
      const [archive] = await readdir(packed)
      archives.set(name, join(packed, archive ?? ''))
    }
  })

  after(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }))

  for (const [name, { manifest }] of packages) {
    test(`${name} installs with its declared dependencies and can be imported`, async () => {
      const empty = join(folder, 'empty', name)
      await mkdir(empty, { recursive: true })
      await writeFile(join(empty, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
      const closure = [...addClosure(name)].map((each) => archives.get(each) ?? '')
      const install = [
        'install',
        '--prefer-offline',
        '--no-audit',
        '--no-fund',
        '--no-package-lock',
        '--ignore-scripts',
      ]
      await run('npm', [...install, ...closure], { cwd: empty, maxBuffer: 1e8 })

      const entries = Object.keys(manifest.exports)
        .filter((entry) => !entry.includes('*') && !entry.endsWith('.json'))
        .map((entry) => name + entry.slice(1))
      assert.ok(entries.length > 0, `${name} has no entry points`)
      const script = entries.map((entry) => `await import(${JSON.stringify(entry)})`).join('\n')
      await run(process.execPath, ['--input-type=module', '-e', script], { cwd: empty })
    })
  }
})
