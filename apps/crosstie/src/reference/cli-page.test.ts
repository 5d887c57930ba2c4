import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cliReference } from './cli-page.js'

const page = new URL('../../../../docs/reference/cli.md', import.meta.url)

/** Removes the padding that a formatter may add to tables. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim()

test('the page about the command line matches the commands', async () => {
  const same = unpadded(readFileSync(page, 'utf8')) === unpadded(await cliReference())
  assert.ok(same, 'docs/reference/cli.md is old: run node scripts/cli-reference.mjs')
})

test('the page about annotations and labels lists all that the code uses', () => {
  const root = new URL('../../../../', import.meta.url)
  const folders = ['packages/resources/src', 'apps/crosstie/src', 'providers/sql/src']
  const sources = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|^(vectors|testing)\//.test(name))
      .map((name) => readFileSync(new URL(`${folder}/${name}`, root), 'utf8')),
  )
  const names = sources.flatMap(
    (text) => text.match(/(?<=')(?:[a-z]+\.)?(?:crossplane|crosstie)\.io\/[a-z-]+(?=')/g) ?? [],
  )
  // These are names of field managers, which occur only in metadata.managedFields.
  const managers = /^(managed|claim)\.crossplane\.io\//
  const text = readFileSync(new URL('docs/reference/annotations.md', root), 'utf8')
  const missing = [...new Set(names)].filter((name) => !managers.test(name) && !text.includes(`\`${name}\``))
  assert.deepEqual(missing, [], 'docs/reference/annotations.md says what each is for')
})
