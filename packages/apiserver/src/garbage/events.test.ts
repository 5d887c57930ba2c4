import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNotFound, type ResourceType, timestamp } from '@crosstie/kube'
import { startServer } from '../server.js'

const EVENTS: ResourceType = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true }

test('events go after their time, and only then', { timeout: 180_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'crosstie-events-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await using server = await startServer({ dataDir, host: '127.0.0.1', port: 0, eventTtlMs: 2_000 })
  const client = server.client()
  const write = (name: string, lastTimestamp: string) =>
    client.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'a' },
      type: 'Normal',
      lastTimestamp,
    })
  await write('old', timestamp(Date.now()))
  await write('lasting', timestamp(Date.now() + 3_600_000))
  const gone = () => client.get(EVENTS, { namespace: 'default', name: 'old' }).then(() => false, isNotFound)
  while (!(await gone())) await sleep(100)
  const { items } = await client.list(EVENTS, { namespace: 'default' })
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['lasting'],
    'news that came again later stays longer',
  )
})
