import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../../../', import.meta.url).pathname

/** Entry points for authors who test a provider or a client. Each is described in the README of its package. */
const testingEntryPoints = ['@crosstie/kube/testing', '@crosstie/provider-aws/testing', '@crosstie/resources/testing']

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, { readonly default: string }>>
  readonly bin?: Readonly<Record<string, string>>
}

interface Package {
  readonly folder: string
  readonly manifest: Manifest
}

const packages: readonly Package[] = ['packages', 'providers', 'apps']
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name)))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest }))

describe('the contents of published packages', { timeout: 600_000 }, () => {
  test('the testing entry points are the documented ones', () => {
    const found = packages.flatMap(({ manifest }) =>
      Object.keys(manifest.exports)
        .filter((entry) => entry.includes('testing'))
        .map((entry) => manifest.name + entry.slice(1)),
    )
    assert.deepEqual(found.sort(), testingEntryPoints)
    for (const { folder, manifest } of packages) {
      const own = testingEntryPoints.filter((entry) => entry.startsWith(`${manifest.name}/`))
      const readme = readFileSync(join(folder, 'README.md'), 'utf8')
      for (const entry of own) assert.ok(readme.includes(`\`${entry}\``), `${manifest.name}: README.md names ${entry}`)
    }
  })

  for (const { folder, manifest } of packages) {
    test(`${manifest.name} ships only modules that its entry points load`, async () => {
      const shipped = (await packedFiles(folder)).filter((file) => /^(dist|bin)\/.*\.js$/.test(file))
      const loaded = reachable(folder, entryFiles(manifest))
      assert.deepEqual(
        shipped.filter((file) => !loaded.has(file) && !hasTypesOnly(join(folder, file))),
        [],
        'test kits and leftovers belong into the exclusions of `files` in package.json',
      )
      const missing = [...loaded].filter((file) => !shipped.includes(file))
      assert.deepEqual(missing, [], 'modules that an entry point loads must be shipped')
    })
  }
})

async function packedFiles(folder: string): Promise<readonly string[]> {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: folder,
    maxBuffer: 1e8,
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }]
  return files.map(({ path }) => path)
}

/** Reports whether a module has only types: it compiles to nothing, and users need its declarations. */
function hasTypesOnly(file: string): boolean {
  return /^export \{\};?\s*(\/\/# sourceMappingURL=.*)?\s*$/.test(readFileSync(file, 'utf8'))
}

function entryFiles({ exports, bin = {} }: Manifest): readonly string[] {
  return [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)].map(normalize)
}

/** Returns the entry files and every file of the package that they import, directly or not. */
function reachable(folder: string, entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (file: string): void => {
    if (found.has(file)) return
    found.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, specifier] of text.matchAll(
      /(?:\bfrom|\bimport|\brequire|\bnew URL)\s*\(?\s*['"](\.[^'"]*\.js)['"]/g,
    )) {
      visit(normalize(join(dirname(file), specifier!)))
    }
  }
  entries.forEach(visit)
  return found
}
