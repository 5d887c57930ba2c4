import assert from 'node:assert/strict'
import { test } from 'node:test'

/** The checks of `npm run check` are plain JavaScript outside the packages. */
async function script<T>(name: string): Promise<T> {
  return (await import(new URL(`../../../scripts/${name}`, import.meta.url).href)) as T
}

interface Layers {
  mayImportRoom(folder: string, from: string | undefined, to: string | undefined): boolean
}

interface Cycles {
  cyclesOf(edges: readonly (readonly [string, string])[]): readonly (readonly string[])[]
}

test('a folder imports only folders on lower layers', async () => {
  const { mayImportRoom } = await script<Layers>('layers.mjs')
  const may = (from: string, to: string) => mayImportRoom('packages/apiserver', from, to)
  assert.equal(may('verbs', 'admission'), true)
  assert.equal(may('admission', 'verbs'), false)
  assert.equal(may('store', 'verbs'), false)
  assert.equal(may('http', 'controllers'), false, 'folders on the same layer do not import each other')
  assert.equal(mayImportRoom('packages/controller', 'workqueue', 'loop'), false)
})

test('folders that import in a circle are found', async () => {
  const { cyclesOf } = await script<Cycles>('cycles.mjs')
  assert.deepEqual(
    cyclesOf([
      ['http', 'verbs'],
      ['verbs', 'store'],
    ]),
    [],
  )
  assert.deepEqual(
    cyclesOf([
      ['http', 'verbs'],
      ['verbs', 'engine'],
      ['engine', 'http'],
    ]),
    [['http', 'verbs', 'engine', 'http']],
  )
})

interface KindBranches {
  kindBranches(file: string, text: string): readonly number[]
}

test('code that asks whether a kind is built in is found', async () => {
  const { kindBranches } = await script<KindBranches>('kind-branches.mjs')
  const file = 'packages/apiserver/src/http/serve.ts'
  const branches = [
    'if (served.definition.crd) return false',
    'const { names, crd } = served.definition',
    'function verbsOf({ verbs, crd }: Definition): string[] {',
    'return definition.crdUid !== undefined',
    'return definition.strategy === customConventions',
  ]
  for (const branch of branches) assert.deepEqual(kindBranches(file, `\n${branch}\n`), [2], branch)
  assert.deepEqual(kindBranches(file, 'if (strategy.acceptsProtobuf) return\nconst crd = await client.get()'), [])
  assert.deepEqual(kindBranches('packages/apiserver/src/definitions/custom.ts', 'definition.crd'), [])
})
