import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { isObject, type KubeObject, parseJson } from '@crosstie/kube'
import { fileOf, Program } from '../support/program.js'

/** A data directory of version 0.1.0, and the JSON of objects as that version returned it. See scripts/upgrade-fixture.mjs. */
interface Fixture {
  readonly version: string
  readonly objects: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

const text = gunzipSync(await readFile(fileOf('test/end-to-end/testdata/upgrade-0.1.0/data.json.gz'))).toString('utf8')
const fixture = parseJson(text) as Fixture

async function writeData(dataDir: string): Promise<void> {
  for (const [name, content] of Object.entries(fixture.files)) {
    await mkdir(dirname(join(dataDir, name)), { recursive: true })
    await writeFile(join(dataDir, name), Buffer.from(content, 'base64'), { mode: 0o600 })
  }
}

const open = async () => await Program.open(writeData, '--providers', 'nop')

async function get(program: Program, kind: string, name: string, namespace?: string): Promise<KubeObject> {
  const where = namespace === undefined ? [] : ['-n', namespace]
  return parseJson(await program.ok('get', kind, name, ...where, '-o', 'json')) as KubeObject
}

/** The parts of an object that must not change. Controllers may write its status and the server may convert metadata. */
const kept = ({ metadata, status: _, ...content }: KubeObject) => ({
  ...content,
  name: metadata.name,
  namespace: metadata.namespace,
  uid: metadata.uid,
  creationTimestamp: metadata.creationTimestamp,
  labels: metadata.labels,
})

const revisionOf = (object: KubeObject): bigint => BigInt(object.metadata.resourceVersion ?? '0')

function nameIn(object: KubeObject, field: string): string {
  const { spec } = object
  const reference = isObject(spec) ? spec[field] : undefined
  assert.ok(isObject(reference) && typeof reference['name'] === 'string', `spec.${field}.name is not set`)
  return reference['name']
}

describe('data of 0.1.0', { timeout: 600_000 }, () => {
  test('objects, secrets, claims and watches survive the upgrade', async () => {
    assert.equal(fixture.version, '0.1.0')
    await using program = await open()

    for (const json of fixture.objects) {
      const old = parseJson(json) as KubeObject
      const now = await get(program, old.kind.toLowerCase(), old.metadata.name ?? '', old.metadata.namespace)
      assert.deepEqual(kept(now), kept(old))
      assert.ok(revisionOf(now) >= revisionOf(old), `the revision of ${old.kind} went back`)
    }
    const secret = await get(program, 'secret', 'password', 'upgrade')
    assert.deepEqual(secret['data'], { password: Buffer.from('fixture-not-a-secret').toString('base64') })
    const gadget = await get(program, 'gadget', 'large', 'upgrade')
    assert.deepEqual(gadget['spec'], { size: 9007199254740993n, color: 'green' })

    await using watch = program.start('get', 'configmap', 'settings', '-n', 'upgrade', '-o', 'yaml', '--watch')
    assert.ok(await watch.says(/color: blue/, 60_000), watch.errors)
    const changed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'upgrade', name: 'settings' } }
    const applied = await program.run(['apply', '-f', '-'], {
      input: JSON.stringify({ ...changed, data: { color: 'red' } }),
    })
    assert.equal(applied.code, 0, applied.err)
    assert.ok(await watch.says(/color: red/, 60_000), watch.errors)
  })

  test('definitions of the old version still validate', async () => {
    await using program = await open()
    const input = JSON.stringify({
      apiVersion: 'upgrade.example.org/v1',
      kind: 'Gadget',
      metadata: { namespace: 'upgrade', name: 'invalid' },
      spec: { size: -1 },
    })
    const applied = await program.run(['apply', '-f', '-'], { input })
    assert.notEqual(applied.code, 0)
    assert.match(applied.err, /size must be positive/)
  })

  test('controllers continue with claims and managed resources of the old version', async () => {
    await using program = await open()
    const claim = await get(program, 'bucket', 'files', 'upgrade')
    const managed = nameIn(claim, 'resourceRef')
    await program.ok('wait', 'bucket/files', '-n', 'upgrade', '--timeout', '2m')
    await program.ok('wait', `nopresource/${managed}`, '--timeout', '2m')

    await program.ok('delete', 'bucket', 'files', '-n', 'upgrade', '--timeout', '2m')
    const gone = await program.run(['wait', `nopresource/${managed}`, '--for', 'delete', '--timeout', '2m'])
    assert.equal(gone.code, 0, gone.err)
    await get(program, 'nopresource', 'plain')
  })
})
