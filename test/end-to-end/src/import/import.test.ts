import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HttpClient, kubeconfigAccess } from '@crosstie/controller'
import { eventually } from '../support/claims-world.js'
import { fileOf, Program } from '../support/program.js'
import { followTranscript } from '../support/transcript.js'

const books = { group: 'library.example.org', version: 'v1alpha1', kind: 'Book', resource: 'books', namespaced: false }
const queries = { ...books, kind: 'BookQuery', resource: 'bookqueries' }

let program: Program
let folder: string

before(async () => {
  const provider = fileOf('examples/import/provider.js')
  const library = join(process.env['TMPDIR'] ?? '/tmp', `crosstie-import-${process.pid}-${Date.now()}`)
  await mkdir(library, { recursive: true })
  // The provider reads this variable when it is loaded, in the control plane and in each command.
  process.env['LIBRARY'] = join(library, 'library')
  folder = library
  await cp(fileOf('examples/import/library'), join(folder, 'library'), { recursive: true })
  await cp(fileOf('examples/import/query.yaml'), join(folder, 'query.yaml'))
  // Node.js resolves imports relative to the module.
  await writeFile(join(folder, 'provider.js'), `export { provider } from ${JSON.stringify(`file://${provider}`)}\n`)
  program = await Program.up('--providers', provider)
  using client = new HttpClient(await kubeconfigAccess({ file: program.kubeconfig }))
  const served = () =>
    client.list(books).then(
      () => client.list(queries).then(Boolean, () => false),
      () => false,
    )
  await eventually('the kinds are served', served, 120_000)
})
after(async () => {
  await program?.[Symbol.asyncDispose]()
})

test('the guide to import: every command prints what the page shows', { timeout: 600_000 }, async () => {
  await followTranscript('docs/guides/import.md', { folder, program })
  const east = await readdir(join(folder, 'library', 'east'))
  assert.deepEqual(east.sort(), (await readdir(fileOf('examples/import/library/east'))).sort())
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as { tags: Record<string, string> }
  for (const file of east) {
    const now = await read(join(folder, 'library', 'east', file))
    const before = await read(fileOf(`examples/import/library/east/${file}`))
    const kept = Object.entries(now.tags).filter(([key]) => !key.startsWith('crossplane-'))
    assert.deepEqual({ ...now, tags: Object.fromEntries(kept) }, before, 'ownership tags are all that changed outside')
  }
})
