import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from '@crosstie/apiserver'
import { silentLog } from '@crosstie/controller'
import type { Client } from '@crosstie/kube'
import { ControlPlane } from './control-plane.js'
import { loadRegistry } from './registry.js'

test('definitions are written a few at a time', { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-controllers-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await using server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
  const client = server.client()
  const apply: Client['apply'] = client.apply.bind(client)
  let writing = 0
  let most = 0
  let written = 0
  Object.assign(client, {
    async apply(...args: Parameters<Client['apply']>) {
      if (args[0].resource !== 'customresourcedefinitions') return await apply(...args)
      written++
      most = Math.max(most, ++writing)
      try {
        return await apply(...args)
      } finally {
        writing--
      }
    },
  })
  const registry = await loadRegistry(['sql'])
  await using plane = new ControlPlane({ registry, client, metrics: server.metrics, log: silentLog })
  await plane.served
  assert.ok(written > 8, `only ${written} definitions say nothing`)
  assert.ok(most <= 8, `${most} were written at once`)
})
