import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { nopResource } from '@crosstie/provider-nop'
import { UsageError } from '../command.js'
import { parseManifests } from '../shared/manifests.js'
import { destinationOf, managedKind, writeManifests } from './imports.js'

const object = (name: string, size = 1): KubeObject => ({
  apiVersion: 'nop.crossplane.io/v1alpha1',
  kind: 'NopResource',
  metadata: { name },
  spec: { forProvider: { size } },
})

const places: readonly { text: string | undefined; want: object | RegExp; because: string }[] = [
  { text: undefined, want: { to: 'table' }, because: 'the default is a table' },
  { text: 'json', want: { to: 'json' }, because: 'a format' },
  { text: 'all.yaml', want: { to: 'file', path: 'all.yaml' }, because: 'it ends like a manifest' },
  { text: 'imported/', want: { to: 'folder', path: 'imported/' }, because: 'it ends like a folder' },
  { text: './a/b', want: { to: 'folder', path: './a/b' }, because: 'it is a path' },
  { text: 'yml', want: /a folder such as yml\//, because: 'a misspelled format is not a folder' },
]

for (const { text, want, because } of places) {
  test(`-o ${text}`, () => {
    if (want instanceof RegExp) assert.throws(() => destinationOf(text), want, because)
    else assert.deepEqual(destinationOf(text), want, because)
  })
}

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crosstie-imports-'))
})
after(async () => {
  await rm(folder, { recursive: true, force: true })
})

test('manifests go into one file, or into one each, and can be read again', async () => {
  const objects = [object('a'), object('b')]
  const path = join(folder, 'all.yaml')
  assert.equal(await writeManifests({ to: 'file', path }, objects, false), 1)
  const read = parseManifests(await readFile(path, 'utf8'), path).map((manifest) => manifest.object)
  assert.deepEqual(read, objects)
  const below = join(folder, 'each')
  assert.equal(await writeManifests({ to: 'folder', path: below }, objects, false), 2)
  assert.deepEqual((await readdir(below)).sort(), ['nopresource-a.yaml', 'nopresource-b.yaml'])
})

test('a file with different content is only overwritten with --force', async () => {
  const path = join(folder, 'kept')
  await writeManifests({ to: 'folder', path }, [object('b')], false)
  await writeManifests({ to: 'folder', path }, [object('b')], false)
  const file = join(path, 'nopresource-b.yaml')
  await writeFile(file, '# mine\n')
  const refused = writeManifests({ to: 'folder', path }, [object('a'), object('b')], false)
  await assert.rejects(refused, /nopresource-b.yaml already exists with different content/)
  assert.deepEqual(await readdir(path), ['nopresource-b.yaml'], 'none of them was written')
  await writeManifests({ to: 'folder', path }, [object('a'), object('b')], true)
  assert.match(await readFile(file, 'utf8'), /name: b/)
})

test('a kind is found by what people call it', () => {
  for (const word of ['nopresource', 'NopResources', 'nopresources.nop.crossplane.io']) {
    assert.equal(managedKind([nopResource], word), nopResource)
  }
  assert.throws(() => managedKind([nopResource], 'nopresourc'), UsageError)
  const twin = { ...nopResource, type: { ...nopResource.type, group: 'other.example.org' } }
  assert.throws(() => managedKind([nopResource, twin], 'nopresource'), /is ambiguous; use one of:/)
})
