import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findInMirror } from '../install/filesystem-mirror.js'
import { parseSource } from '../install/source.js'
import { ProviderPool } from '../process/pool.js'
import { encodeValue } from '../protocol/encoded.js'
import { decodeJson, encodeJson } from '../protocol/json.js'
import type { Block } from '../protocol/schema.js'
import { isMap, sameValue, type Value } from '../protocol/values.js'
import { mirror, type ProviderName, providerNames, skipWithout } from '../testing/binaries.js'
import { skipWithoutTerraform, terraformApply } from '../testing/terraform.js'
import { emptyBlock } from './proposed.js'
import { ResourceCalls } from './resource.js'

const skip = skipWithoutTerraform() || providerNames.map(skipWithout).find(Boolean) || false

/** A resource: its type, and its arguments in JSON. Numbers beyond 2^53 are part of the text. */
type Resource = readonly [type: string, argumentsInJson: string]

const resources: readonly Resource[] = [
  ['random_pet', '{"length": 3, "prefix": "my", "keepers": {"a": "1"}}'],
  ['random_id', '{"byte_length": 8, "prefix": "x-"}'],
  ['random_integer', '{"min": 9007199254740993, "max": 9007199254740993}'],
  ['random_password', '{"length": 16, "override_special": "!#", "min_numeric": 2}'],
  ['random_string', '{"length": 8, "special": false}'],
  ['random_bytes', '{"length": 4}'],
  ['random_uuid', '{}'],
  ['random_shuffle', '{"input": ["a", "b", "c"], "result_count": 2}'],
  ['time_offset', '{"offset_days": 7}'],
  ['time_rotating', '{"rotation_days": 30}'],
  ['time_sleep', '{"create_duration": "1ms"}'],
  ['time_static', '{}'],
  ['tls_private_key', '{"algorithm": "ECDSA", "ecdsa_curve": "P256"}'],
  ['local_file', '{"filename": "FOLDER/a.txt", "content": "hello"}'],
  ['local_sensitive_file', '{"filename": "FOLDER/b.txt", "content": "hello"}'],
]

interface Instance {
  readonly schema_version: number
  readonly private?: string
}

/** The attributes of an instance, as the bytes of the state file have them. */
function attributesOf(state: string, type: string): string {
  const from = state.indexOf('"attributes": {', state.indexOf(`"type": "${type}"`)) + '"attributes": '.length
  let depth = 0
  for (let at = from; ; at++) {
    if (state[at] === '"') while (state[++at] !== '"') if (state[at] === '\\') at++
    if (state[at] === '{') depth++
    if (state[at] === '}' && --depth === 0) return state.slice(from, at + 1)
  }
}

const configuration = (type: ResourceCalls['schema']['type'], block: Block, text: string): Value => {
  const given = decodeJson(type, text)
  assert.ok(isMap(given))
  return { ...emptyBlock(block), ...given }
}

test('resources that Terraform created have an empty plan here', { skip, timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  await using pool = new ProviderPool()
  try {
    const texts = resources.map(([type, text]) => [type, text.replaceAll('FOLDER', folder)] as const)
    const blocks = texts.map(([type, text]) => `${JSON.stringify(type)}: {"it": ${text}}`)
    await writeFile(join(folder, 'main.tf.json'), `{"resource": {${blocks.join(', ')}}}`)
    await terraformApply(folder)
    const state = await readFile(join(folder, 'terraform.tfstate'), 'utf8')
    const parsed = JSON.parse(state) as { resources: { type: string; instances: Instance[] }[] }
    assert.equal(parsed.resources.length, resources.length)
    for (const [type, text] of texts) {
      const [instance] = parsed.resources.find((resource) => resource.type === type)!.instances
      const provider = type.split('_')[0] as ProviderName
      const { path } = await findInMirror(mirror, parseSource(provider))
      const setup = {
        key: provider,
        launch: { path },
        configure: ({ provider: own }: { provider: ResourceCalls['schema'] }) =>
          encodeValue(own.type, emptyBlock(own.block)),
      }
      await pool.use(setup, async ({ client, schema }) => {
        const calls = new ResourceCalls(client, type, schema)
        const attributes = attributesOf(state, type)
        const loaded = await calls.load({
          attributes,
          schemaVersion: instance!.schema_version,
          private: instance!.private ?? '',
        })
        const theirs = decodeJson(calls.schema.type, attributes)
        assert.ok(sameValue(calls.schema.type, loaded.value, theirs), `${type}: the state is another after loading`)
        assert.equal(calls.store(loaded).attributes, encodeJson(calls.schema.type, theirs))
        const plan = await calls.plan(
          await calls.read(loaded),
          configuration(calls.schema.type, calls.schema.block, text),
        )
        assert.equal(plan.action, 'none', `${type}: ${plan.changes.map((change) => change.path.join('.')).join(', ')}`)
      })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the checksum of a package is the one in the lock file of Terraform', { skip, timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  try {
    await writeFile(join(folder, 'main.tf.json'), '{"resource": {"random_uuid": {"it": {}}}}')
    await terraformApply(folder)
    const lock = await readFile(join(folder, '.terraform.lock.hcl'), 'utf8')
    const { version, checksum } = await findInMirror(mirror, parseSource('random'))
    assert.ok(lock.includes(`version = "${version}"`))
    assert.ok(lock.includes(`"${checksum}"`))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
