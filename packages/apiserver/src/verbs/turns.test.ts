import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject, Patch } from '@crosstie/kube'
import { CONFIG_MAPS } from '../access/kinds.js'
import { startServer } from '../server.js'

test('600 patches without a resourceVersion, 60 at a time, all succeed and none is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-turns-'))
  const server = await startServer({ dataDir: folder, host: '127.0.0.1', port: 0 })
  try {
    const client = server.client()
    const key = { namespace: 'default', name: 'hot' }
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { start: '' } })
    const kinds: ((i: number) => Patch)[] = [
      (i) => ({ type: 'merge', patch: { data: { [`key-${i}`]: 'x' } } }),
      (i) => ({ type: 'strategic', patch: { data: { [`key-${i}`]: 'x' } } }),
      (i) => ({ type: 'json', operations: [{ op: 'add', path: `/data/key-${i}`, value: 'x' }] }),
    ]
    let next = 0
    const work = async () => {
      while (next < 600) {
        const i = next++
        await client.patch(CONFIG_MAPS, key, kinds[i % kinds.length]!(i))
      }
    }
    await Promise.all(Array.from({ length: 60 }, work))
    const { data } = (await client.get(CONFIG_MAPS, key)) as KubeObject & { data: Record<string, string> }
    assert.equal(Object.keys(data).length, 601)
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
})
