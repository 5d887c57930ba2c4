import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import { defineProviderConfig } from '../definition/provider-config.js'
import { FakeApi } from '../testing/fakeapi.js'
import { inUseFinalizer, reconcileProviderConfig } from './controller.js'
import { readProviderConfig, UsageTracker } from './use.js'

const kind = defineProviderConfig({ group: 'test.crossplane.io' })

const config = (credentials: object): KubeObject => ({
  apiVersion: 'test.crossplane.io/v1beta1',
  kind: 'ProviderConfig',
  metadata: { name: 'default', uid: 'pc', generation: 1 },
  spec: { credentials },
})

const surroundings = {
  environment: { CLOUD_KEY: 'from-env' },
  readFile: async (path: string) => {
    if (path !== '/creds') throw new Error('ENOENT')
    return 'from-file'
  },
}

const sources: Record<string, { readonly credentials: object; readonly want: string | undefined | RegExp }> = {
  Secret: {
    credentials: { source: 'Secret', secretRef: { name: 's', namespace: 'ns', key: 'k' } },
    want: 'from-secret',
  },
  WholeSecret: {
    credentials: { source: 'Secret', secretRef: { name: 's', namespace: 'ns' } },
    want: '{"k":"from-secret"}',
  },
  NoSuchSecret: {
    credentials: { source: 'Secret', secretRef: { name: 'x', namespace: 'ns' } },
    want: /no Secret ns\/x for credentials/,
  },
  Environment: { credentials: { source: 'Environment', env: { name: 'CLOUD_KEY' } }, want: 'from-env' },
  Filesystem: { credentials: { source: 'Filesystem', fs: { path: '/creds' } }, want: 'from-file' },
  None: { credentials: { source: 'None' }, want: undefined },
  NoSuchKey: {
    credentials: { source: 'Secret', secretRef: { name: 's', namespace: 'ns', key: 'x' } },
    want: /no key x in Secret ns\/s/,
  },
  NoSuchVariable: { credentials: { source: 'Environment', env: { name: 'X' } }, want: /no environment variable "X"/ },
  NoSuchFile: { credentials: { source: 'Filesystem', fs: { path: '/x' } }, want: /cannot read credentials from \/x/ },
}

for (const [name, { credentials, want }] of Object.entries(sources)) {
  test(`credentials from ${name}`, async () => {
    const api = new FakeApi()
    api.seed(kind.type, config(credentials))
    const data = { k: Buffer.from('from-secret').toString('base64') }
    api.seed(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'ns' }, data })
    const read = readProviderConfig(api, kind, 'default', surroundings)
    if (want instanceof RegExp) await assert.rejects(read, want)
    else assert.equal((await read).credentials, want)
  })
}

test('a ProviderConfig in use is not deleted, and goes when nobody uses it any more', async () => {
  const events: string[] = []
  const api = new FakeApi()
  const runtime = { client: api, events: { event: (_: KubeObject, __: string, reason: string) => events.push(reason) } }
  await api.create(kind.type, config({ source: 'None' }))
  const managed = { apiVersion: 'x/v1', kind: 'VPC', metadata: { name: 'v', uid: 'u1' } }
  const tracker = new UsageTracker(api, kind)
  await tracker.track(managed, 'default')
  await tracker.track(managed, 'default')
  await reconcileProviderConfig(runtime, kind, { name: 'default' })
  const kept = api.peek(kind.type, { name: 'default' })!
  assert.deepEqual(kept.metadata.finalizers, [inUseFinalizer])
  assert.deepEqual(kept['status'], { users: 1 })
  await api.delete(kind.type, { name: 'default' })
  assert.equal((await reconcileProviderConfig(runtime, kind, { name: 'default' })).after, 'backoff')
  assert.deepEqual(events, ['InUse'])
  await api.delete(kind.usageType, { name: 'u1' })
  await reconcileProviderConfig(runtime, kind, { name: 'default' })
  assert.equal(api.peek(kind.type, { name: 'default' }), undefined)
})

test('a managed resource that changes its ProviderConfig is counted for the new one', async () => {
  const api = new FakeApi()
  const managed = { apiVersion: 'x/v1', kind: 'VPC', metadata: { name: 'v', uid: 'u1' } }
  const tracker = new UsageTracker(api, kind)
  await tracker.track(managed, 'old')
  await tracker.track(managed, 'new')
  const usage = api.peek(kind.usageType, { name: 'u1' })!
  assert.deepEqual(usage['providerConfigRef'], { name: 'new' })
  assert.equal(usage.metadata.labels?.['crossplane.io/provider-config'], 'new')
})
