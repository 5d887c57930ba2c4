import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { clientContract } from '@crosstie/kube/testing'
import { type Server, startServer } from './server.js'

let server: Promise<Server> | undefined
let dataDir: string | undefined

async function open() {
  server ??= mkdtemp(join(tmpdir(), 'crosstie-local-')).then((folder) => {
    dataDir = folder
    return startServer({ dataDir: folder, host: '127.0.0.1', port: 0 })
  })
  const running = await server
  const stranger = running.client({ name: 'stranger', groups: ['system:authenticated'] })
  return { admin: running.client(), stranger }
}

after(async () => {
  await (await server)?.close()
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

clientContract('in the process', open)

test('in the process: a watch starts with all existing objects, whatever their number', {
  timeout: 180_000,
}, async () => {
  const { admin } = await open()
  const type = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true }
  const namespace = 'many'
  const space = { group: '', version: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false }
  await admin.create(space, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const count = 10_050
  const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
  await Promise.all(Array.from({ length: count }, (_, i) => admin.create(type, map(`map-${i}`))))
  const stop = new AbortController()
  const labelSelector = ''
  const options = { namespace, labelSelector, sendInitialEvents: true, allowWatchBookmarks: true, signal: stop.signal }
  const names = new Set<string>()
  for await (const event of admin.watch(type, { ...options, resourceVersion: '' })) {
    if (event.type === 'BOOKMARK') break
    names.add(event.object.metadata.name!)
  }
  stop.abort()
  for (let i = 0; i < count; i++) assert.ok(names.has(`map-${i}`), `map-${i}`)
})
