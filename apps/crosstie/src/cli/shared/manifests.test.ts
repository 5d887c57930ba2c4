import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { inOrder } from '../apply/apply.js'
import { parseManifests, readManifests } from './manifests.js'

const object = (kind: string, name: string, apiVersion = 'v1') =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n`

describe('reading manifests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosstie-manifests-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const named = (text: string) =>
    parseManifests(text, 'f.yaml').map(({ object: { kind, metadata }, source }) => `${source} ${kind} ${metadata.name}`)

  test('several documents, comments and nothing between', () => {
    const text = `# A comment.\n---\n# Another.\n\n${object('Namespace', 'a')}---\n---\n${object('Secret', 'b')}...\n`
    assert.deepEqual(named(text), ['f.yaml:5 Namespace a', 'f.yaml:11 Secret b'])
  })

  test('JSON, and lists', () => {
    const one = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }
    assert.deepEqual(named(JSON.stringify(one)), ['f.yaml:1 Secret a'])
    assert.deepEqual(named(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [one, one] })), [
      'f.yaml:1 Secret a',
      'f.yaml:1 Secret a',
    ])
  })

  test('dashes inside a text are a part of it', () => {
    const text = `${object('ConfigMap', 'a')}data:\n  pem: |\n    ---BEGIN---\n    --- \n`
    assert.equal(parseManifests(text, 'f.yaml').length, 1)
  })

  const bad: readonly { because: string; text: string; says: RegExp }[] = [
    {
      because: 'the line is that of the file, not of the document',
      text: `${object('A', 'a')}---\n${object('B', 'b')}spec:\n  a: [1\n`,
      says: /^f\.yaml:(11|12): /,
    },
    { because: 'a key twice', text: `${object('A', 'a')}kind: B\n`, says: /^f\.yaml:5: key "kind" already set/ },
    { because: 'no kind', text: 'apiVersion: v1\n', says: /^f\.yaml:1: the object has no kind/ },
    { because: 'no name', text: 'apiVersion: v1\nkind: Secret\n', says: /^f\.yaml:1: Secret has no metadata\.name/ },
    { because: 'no object', text: '\n- 1\n', says: /^f\.yaml:2: not a Kubernetes object, but a list/ },
    {
      because: 'a generated name cannot be applied',
      text: 'apiVersion: v1\nkind: Secret\nmetadata: {generateName: x-}\n',
      says: /generateName; apply needs metadata\.name/,
    },
  ]
  for (const { because, text, says } of bad) {
    test(`refused: ${because}`, () => {
      assert.throws(
        () => parseManifests(text, 'f.yaml'),
        (error: Error) => says.test(error.message) || assert.fail(error.message),
      )
    })
  }

  test('folders with all below, and what is piped in', async () => {
    mkdirSync(join(folder, 'deep'))
    writeFileSync(join(folder, 'b.yaml'), object('Secret', 'b'))
    writeFileSync(join(folder, 'deep', 'a.json'), '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}')
    writeFileSync(join(folder, 'README.md'), '# no manifest')
    const read = await readManifests([folder, '-'], async () => object('Secret', 'c'))
    const names = read.map((each) => each.object.metadata.name)
    assert.deepEqual(names, ['b', 'a', 'c'])
  })

  test('nothing to read is said', async () => {
    await assert.rejects(readManifests([]), /name a file/)
    await assert.rejects(readManifests([join(folder, 'none.yaml')]), /there is no file or folder/)
    await assert.rejects(
      readManifests(['-'], async () => '# nothing'),
      /no object in -/,
    )
  })
})

test('what others need is applied first, the rest as it is written', () => {
  const text = [
    object('PostgreSQLInstance', 'claim', 'database.crossplane.io/v1alpha1'),
    object('DatabaseClass', 'class', 'sql.crossplane.io/v1alpha1'),
    object('CustomResourceDefinition', 'crd', 'apiextensions.k8s.io/v1'),
    object('Bucket', 'bucket', 'storage.crossplane.io/v1alpha1'),
    object('Namespace', 'namespace'),
  ].join('---\n')
  const names = inOrder(parseManifests(text, 'f.yaml')).map((each) => each.object.metadata.name)
  assert.deepEqual(names, ['namespace', 'crd', 'class', 'claim', 'bucket'])
})
