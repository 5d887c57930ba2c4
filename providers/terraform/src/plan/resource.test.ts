import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchProvider } from '../process/launch.js'
import { errorsIn } from '../protocol/diagnostics.js'
import { encodeValue } from '../protocol/encoded.js'
import type { ProviderSchema } from '../protocol/provider-client.js'
import { isMap, type Value, type ValueMap } from '../protocol/values.js'
import { binaryOf, type ProviderName, skipWithout } from '../testing/binaries.js'
import { emptyBlock } from './proposed.js'
import { ResourceCalls } from './resource.js'

/** A configured provider process, and the calls for one of its types. */
async function serving(name: ProviderName) {
  const provider = await launchProvider({ path: binaryOf(name) })
  const schema = await provider.client.schema()
  const config = encodeValue(schema.provider.type, emptyBlock(schema.provider.block))
  assert.deepEqual(errorsIn(await provider.client.configure(config)), [])
  return { provider, schema, of: (type: string) => new ResourceCalls(provider.client, type, schema) }
}

const configOf = (schema: ProviderSchema, type: string, values: ValueMap): Value => ({
  ...emptyBlock(schema.resources.get(type)!.block),
  ...values,
})

const fields = (value: Value | undefined): ValueMap => {
  assert.ok(isMap(value))
  return value
}

test('a resource is created, stored, loaded, read, found unchanged and deleted', {
  skip: skipWithout('random'),
}, async () => {
  const { provider, schema, of } = await serving('random')
  await using _ = provider
  const pets = of('random_pet')
  const config = configOf(schema, 'random_pet', { length: 3, prefix: 'my' })
  await pets.validate(config)
  const plan = await pets.plan(undefined, config)
  assert.equal(plan.action, 'create')
  const { state, diagnostics } = await pets.apply(plan)
  assert.deepEqual(diagnostics, [])
  assert.match(String(fields(state?.value)['id']), /^my-\w+-\w+-\w+$/)

  const stored = pets.store(state!)
  const loaded = await pets.load(stored)
  const read = await pets.read(loaded)
  assert.deepEqual(read?.value, state?.value)
  assert.equal((await pets.plan(read, config)).action, 'none')

  const replacing = await pets.plan(read, configOf(schema, 'random_pet', { length: 4, prefix: 'my' }))
  assert.equal(replacing.action, 'replace')
  assert.deepEqual(replacing.requiresReplace, [['length']])

  assert.equal((await pets.destroy(read!)).state, undefined)
})

test('a configuration that the provider refuses names the argument', { skip: skipWithout('random') }, async () => {
  const { provider, schema, of } = await serving('random')
  await using _ = provider
  const config = configOf(schema, 'random_string', { length: 0 })
  await assert.rejects(of('random_string').validate(config), /length: .*at least 1/)
})

test('a resource is imported by its id', { skip: skipWithout('random') }, async () => {
  const { provider, of } = await serving('random')
  await using _ = provider
  const uuids = of('random_uuid')
  const found = await uuids.import({ id: 'aabbccdd-eeff-0011-2233-445566778899' })
  assert.equal(fields(found?.value)['result'], 'aabbccdd-eeff-0011-2233-445566778899')
  await assert.rejects(uuids.import({ id: 'not a uuid' }), /uuid/i)
})

test('drift is read from the system, and an update corrects it', { skip: skipWithout('local') }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  const { provider, schema, of } = await serving('local')
  try {
    const files = of('local_file')
    const filename = join(folder, 'a.txt')
    const config = configOf(schema, 'local_file', { filename, content: 'hello' })
    const { state } = await files.apply(await files.plan(undefined, config))
    assert.equal(await readFile(filename, 'utf8'), 'hello')
    assert.equal((await files.plan(await files.read(state!), config)).action, 'none')
    await writeFile(filename, 'changed')
    assert.equal(await files.read(state!), undefined, 'the provider takes a changed file for a missing one')
    await files.destroy(state!)
    await assert.rejects(stat(filename), { code: 'ENOENT' })
  } finally {
    await provider.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('state of a newer schema version is refused', { skip: skipWithout('random') }, async () => {
  const { provider, of } = await serving('random')
  await using _ = provider
  const stored = { attributes: '{}', schemaVersion: 99, private: '' }
  await assert.rejects(of('random_pet').load(stored), /schema version 99.*use a newer version of the provider/)
})

test('state of an older schema version is upgraded', { skip: skipWithout('random') }, async () => {
  const { provider, of } = await serving('random')
  await using _ = provider
  const passwords = of('random_password')
  const attributes = JSON.stringify({ id: 'none', length: 4, result: 'abcd', special: true, upper: true, lower: true })
  const loaded = await passwords.load({ attributes, schemaVersion: 0, private: '' })
  assert.equal(fields(loaded.value)['numeric'], true)
  assert.equal(fields(loaded.value)['result'], 'abcd')
})
