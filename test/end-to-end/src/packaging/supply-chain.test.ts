import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = new URL('../../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

test('the page of dependencies names each that a published package declares, by whom, and its licence', () => {
  const declared = new Map<string, string[]>()
  for (const folder of publishedFolders()) {
    const { dependencies = {} } = JSON.parse(read(`${folder}/package.json`)) as { dependencies?: object }
    for (const name of Object.keys(dependencies).filter((each) => !each.startsWith('@crosstie/'))) {
      declared.set(name, [...(declared.get(name) ?? []), folder])
    }
  }
  const rows = read('docs/supply-chain.md').matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)
  const told = new Map(
    [...rows].slice(2).map(([, name, by, , licence]) => [name!.trim(), `${by!.trim()}, ${licence!.trim()}`]),
  )
  const licenceOf = (name: string) => JSON.parse(read(`node_modules/${name}/package.json`)).license
  const want = new Map([...declared].map(([name, by]) => [name, `${by.join(', ')}, ${licenceOf(name)}`]))
  assert.deepEqual(new Map([...told].sort()), new Map([...want].sort()))
})

function publishedFolders(): readonly string[] {
  const below = (folder: string) => readdirSync(new URL(folder, root)).map((name) => `${folder}/${name}`)
  return ['packages', 'providers', 'apps']
    .flatMap(below)
    .filter((folder) => existsSync(new URL(`${folder}/package.json`, root)))
}
