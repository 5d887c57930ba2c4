import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startServer } from '@crosstie/apiserver'
import { apiVersionOf, type KubeObject } from '@crosstie/kube'
import { serveConversions } from '@crosstie/resources'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, Plane } from '../support/plane.js'
import { diskOf } from './disk-provider.js'

// biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
const fieldsOf = (object: KubeObject): any => object['spec']

/** Returns a certificate for this host, from the keys of a separate server. */
async function certificate() {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-versions-'))
  try {
    await (await startServer({ dataDir, host: '127.0.0.1', port: 0 })).close()
    const read = (name: string) => readFile(join(dataDir, 'pki', name), 'utf8')
    return { cert: await read('apiserver.crt'), key: await read('apiserver.key'), ca: await read('ca.crt') }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

function severalVersions(open: () => Promise<Plane>): void {
  test('MR2 versions with different fields are served at once, and reconciled as one', async () => {
    const { kind, disks } = diskOf()
    await using plane = await open()
    const pair = await certificate()
    await using conversions = await serveConversions({ kinds: [kind], host: '127.0.0.1', port: 0, ...pair })
    await plane.serve(kind, {}, conversions.endpoint)
    const old = { ...kind.type, version: 'v1alpha1' }
    const created = await plane.client.create(old, {
      apiVersion: apiVersionOf(old),
      kind: 'Disk',
      metadata: { name: 'd' },
      spec: { forProvider: { zone: 'z', sizeGb: 5 } },
    })
    assert.deepEqual(fieldsOf(created).forProvider, { zone: 'z', sizeGb: 5 })
    const current = await plane.settle(kind, 'd')
    assert.deepEqual(fieldsOf(current).forProvider, { zone: 'z', capacity: { gigabytes: 5, fast: false } })
    assert.equal(condition(current, 'Ready')?.status, 'True')
    const seen = await plane.client.get(old, { name: 'd' })
    assert.deepEqual(fieldsOf(seen).forProvider, { zone: 'z', sizeGb: 5, fast: false })
    assert.deepEqual((seen['status'] as { atProvider: object }).atProvider, { zone: 'z', sizeGb: 5, fast: false })
    const patch = { spec: { forProvider: { sizeGb: 8 } } }
    await plane.client.patch(old, { name: 'd' }, { type: 'merge', patch })
    await plane.settle(kind, 'd')
    assert.deepEqual(disks.get('d'), { gigabytes: 8, fast: false })
    const { items } = await plane.client.list(old)
    assert.deepEqual(
      items.map((item) => fieldsOf(item).forProvider.sizeGb),
      [8],
    )
    await assert.rejects(
      plane.client.create(old, {
        apiVersion: apiVersionOf(old),
        kind: 'Disk',
        metadata: { name: 'e' },
        spec: { forProvider: { zone: 'z' } },
      }),
      /spec.forProvider.sizeGb is a required parameter/,
      'each version has rules of its own',
    )
  })
}

test('MR2 without somebody to convert only the current version is served', () => {
  const { versions, conversion } = diskOf().kind.crd()['spec'] as { versions: { name: string }[]; conversion?: object }
  assert.deepEqual([versions.map(({ name }) => name), conversion], [['v1beta1'], undefined])
})

describe('several versions on the embedded server', () => severalVersions(() => Plane.embedded()))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('several versions on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  severalVersions(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
