import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { KubeObject } from '@crosstie/kube'
import { object } from '@crosstie/provider-kubernetes'
import { kindContract } from '@crosstie/resources/testing'
import { eventually as eventuallyWithin } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { configMaps, namespaces, ObjectWorld, secrets } from './objects-world.js'

/** Waits with a timeout that suits a busy machine. */
const eventually = (what: string, look: () => Promise<unknown>, withinMs = 240_000) =>
  eventuallyWithin(what, look, withinMs)

const labels = { 'crosstie.io/test': 'objects' }
const configMap = (name: string | undefined, data: object, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, labels, ...(name ? { name } : {}) },
  data,
})
const statusText = (found: KubeObject) => JSON.stringify(found['status'])
const dataOf = (found: KubeObject | undefined) => found?.['data'] as Record<string, string> | undefined

function objects(open: () => Promise<ObjectWorld>, many: number): void {
  let world: ObjectWorld
  before(async () => {
    world = await open()
  })
  after(async () => await world?.[Symbol.asyncDispose]())

  kindContract('Object', async () => {
    const follow = () => {}
    const connect: typeof object.external.connect = (context) =>
      object.external.connect({ ...context, config: undefined, api: world.client, follow })
    let skipped = 0
    const external = Object.assign(Object.create(object.external), { connect })
    return {
      kind: { ...object, providerConfig: undefined, external },
      now: () => Date.now() + skipped,
      pass: async (milliseconds) => {
        skipped += milliseconds
      },
      example: { manifest: configMap(undefined, { color: 'red' }) },
      change: { manifest: configMap(undefined, { color: 'blue' }) },
      meddle: async (name) => {
        const patch = { type: 'merge', patch: { data: { color: 'green' } } } as const
        await world.client.patch(configMaps, { name, namespace: 'default' }, patch)
      },
      exists: async (name) => (await world.find(configMaps, name, 'default')) !== undefined,
      count: async () => {
        const { items } = await world.client.list(configMaps, { labelSelector: 'crosstie.io/test=objects' })
        return items.filter(({ metadata }) => metadata.name === 'contract').length
      },
    }
  })

  test('drift is mended as soon as it happens, fields of others stay, and removed fields go', async () => {
    await world.declare('drift', { manifest: configMap('drifting', { ours: 'a', gone: 'b' }) })
    const made = await world.says('drift', 'Ready', 'True')
    assert.equal(made.metadata.annotations?.['crossplane.io/external-name'], 'drifting', 'XN1')
    const patch = { type: 'merge', patch: { data: { ours: 'meddled', theirs: 'c' } } } as const
    await world.client.patch(configMaps, { name: 'drifting', namespace: 'default' }, patch, { fieldManager: 'kubectl' })
    await eventually(
      'it is mended',
      async () => dataOf(await world.find(configMaps, 'drifting', 'default'))?.['ours'] === 'a',
    )
    const spec = { forProvider: { manifest: configMap('drifting', { ours: 'a' }) } }
    await world.client.patch(
      object.type,
      { name: 'drift' },
      { type: 'json', operations: [{ op: 'replace', path: '/spec/forProvider', value: spec.forProvider as never }] },
    )
    await eventually('the field is gone', async () => {
      const data = dataOf(await world.find(configMaps, 'drifting', 'default'))
      return data?.['gone'] === undefined && data?.['theirs'] === 'c'
    })
    await world.remove('drift')
    assert.equal(await world.find(configMaps, 'drifting', 'default'), undefined)
  })

  test('POL5 what is only observed is shown and followed, never touched', async () => {
    await world.apply(configMaps, 'theirs', { data: { level: '1' } }, 'default')
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'theirs', namespace: 'default' } }
    await world.declare('observed', { manifest }, { managementPolicies: ['Observe'] })
    await world.says('observed', 'Ready', 'True')
    await world.apply(configMaps, 'theirs', { data: { level: '2' } }, 'default')
    await eventually('the status follows', async () => {
      const found = await world.find(object.type, 'observed')
      return statusText(found!).includes('"level":"2"')
    })
    await world.remove('observed')
    assert.ok(await world.find(configMaps, 'theirs', 'default'), 'it is still there')
  })

  test('ready by a condition and by a query, told by a watch', async () => {
    const celQuery = 'has(object.data.phase) && object.data.phase == "done"'
    await world.declare('query', {
      manifest: configMap('by-query', { a: 'b' }),
      readiness: { policy: 'DeriveFromCelQuery', celQuery },
    })
    await world.says('query', 'Ready', 'False', /not yet/)
    const patch = { type: 'merge', patch: { data: { phase: 'done' } } } as const
    await world.client.patch(configMaps, { name: 'by-query', namespace: 'default' }, patch)
    await world.says('query', 'Ready', 'True')
    await world.remove('query')

    const inner = { apiVersion: 'kubernetes.crossplane.io/v1alpha2', kind: 'Object', metadata: { name: 'inner' } }
    const manifest = { ...inner, spec: { forProvider: { manifest: configMap('innermost', { x: 'y' }) } } }
    await world.declare('outer', { manifest, readiness: { policy: 'DeriveFromObject' } })
    await world.says('outer', 'Ready', 'True')
    assert.ok(await world.find(configMaps, 'innermost', 'default'))
    await world.remove('outer')
    await eventually('all of it is gone', async () => !(await world.find(configMaps, 'innermost', 'default')))
  })

  test('connection details come from fields, decoded, and values of Secrets never reach the status', async () => {
    const source = { apiVersion: 'v1', kind: 'Secret', name: 'login', namespace: 'default' }
    await world.declare(
      'connected',
      {
        manifest: {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'made', namespace: 'default' },
          stringData: { made: 'made-by-hand' },
        },
        connectionDetails: [
          { ...source, fieldPath: 'data.password', toConnectionSecretKey: 'password' },
          { fieldPath: '{.metadata.name}', toConnectionSecretKey: 'name' },
        ],
      },
      { writeConnectionSecretToRef: { name: 'connected', namespace: 'default' } },
    )
    await world.says('connected', 'Ready', 'False', /Secret default\/login has no data\.password/)
    await world.apply(secrets, 'login', { stringData: { password: 'open-sesame-please' } }, 'default')
    const found = await world.says('connected', 'Ready', 'True')
    const published = dataOf(await world.find(secrets, 'connected', 'default'))!
    const text = Object.fromEntries(Object.entries(published).map(([key, value]) => [key, atob(value)]))
    assert.deepEqual(text, { name: 'made', password: 'open-sesame-please' })
    for (const secret of ['open-sesame-please', btoa('open-sesame-please'), 'made-by-hand', btoa('made-by-hand')]) {
      assert.ok(!statusText(found).includes(secret), statusText(found))
    }
    await world.remove('connected')
  })

  test('what an Object depends on comes first, and values that it takes are followed', async () => {
    const from = { apiVersion: 'v1', kind: 'Secret', name: 'source', namespace: 'default' }
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'copy', namespace: 'later' },
    }
    await world.declare('copy', {
      manifest,
      references: [
        { dependsOn: { apiVersion: 'v1', kind: 'Namespace', name: 'later' } },
        { patchesFrom: { ...from, fieldPath: 'data.key' }, toFieldPath: 'data.taken' },
      ],
    })
    await world.says('copy', 'Synced', 'False', /Namespace later is not there yet/)
    await world.apply(namespaces, 'later', {})
    await world.says('copy', 'Synced', 'False', /Secret default\/source is not there yet/)
    await world.apply(secrets, 'source', { stringData: { key: 'first-value' } }, 'default')
    await world.says('copy', 'Ready', 'True')
    const taken = async () => atob(dataOf(await world.find(secrets, 'copy', 'later'))?.['taken'] ?? '')
    assert.equal(await taken(), 'first-value')
    await world.apply(secrets, 'source', { stringData: { key: 'second-value' } }, 'default')
    await eventually('the copy follows', async () => (await taken()) === 'second-value')
    const found = await world.says('copy', 'Synced', 'True')
    assert.ok(!/(first|second)-value/.test(JSON.stringify(found)), JSON.stringify(found))
    assert.ok(!JSON.stringify(found).includes(btoa('second-value')))
    await world.remove('copy')
  })

  test('two who apply the same field: it is reported, and taken over only when told to', async () => {
    await world.apply(configMaps, 'shared', { data: { owner: 'argo' } }, 'default', 'argo')
    await world.declare('shared', { manifest: configMap('shared', { owner: 'us' }) })
    await world.says('shared', 'Synced', 'False', /others apply the same fields: \.data\.owner .*"argo".*TakeOver/)
    assert.equal(dataOf(await world.find(configMaps, 'shared', 'default'))?.['owner'], 'argo')
    const patch = { type: 'merge', patch: { spec: { forProvider: { onConflict: 'TakeOver' } } } } as const
    await world.client.patch(object.type, { name: 'shared' }, patch)
    await world.says('shared', 'Synced', 'True')
    assert.equal(dataOf(await world.find(configMaps, 'shared', 'default'))?.['owner'], 'us')
    await world.remove('shared')
  })

  test('INI1 INI5 what is only for the start or to be left alone is left alone', async () => {
    const init = { initProvider: { manifest: { data: { replicas: '1' } } } }
    await world.declare(
      'start',
      { manifest: configMap('start', { ours: 'a', left: 'b' }) },
      { ...init, ignoreChanges: ['manifest.data.left'] },
    )
    await world.says('start', 'Ready', 'True')
    const key = { name: 'start', namespace: 'default' }
    assert.deepEqual(dataOf(await world.client.get(configMaps, key)), { ours: 'a', left: 'b', replicas: '1' })
    const patch = { type: 'merge', patch: { data: { ours: 'x', left: 'y', replicas: '5' } } } as const
    await world.client.patch(configMaps, key, patch)
    await eventually(
      'only ours is mended',
      async () => dataOf(await world.client.get(configMaps, key))?.['ours'] === 'a',
    )
    assert.deepEqual(dataOf(await world.client.get(configMaps, key)), { ours: 'a', left: 'y', replicas: '5' })
    await world.remove('start')
  })

  test('another cluster, by a kubeconfig in a Secret', async () => {
    await world.reach('elsewhere', world.kubeconfig)
    await world.declare('far', { manifest: configMap('far', { a: 'b' }) }, { providerConfigRef: { name: 'elsewhere' } })
    await world.says('far', 'Ready', 'True')
    const patch = { type: 'merge', patch: { data: { a: 'meddled' } } } as const
    await world.client.patch(configMaps, { name: 'far', namespace: 'default' }, patch)
    await eventually('it is mended', async () => dataOf(await world.find(configMaps, 'far', 'default'))?.['a'] === 'b')
    await world.remove('far')
    assert.equal(await world.find(configMaps, 'far', 'default'), undefined)
  })

  test('what goes wrong is said with what to do, and heals when that is done', async () => {
    await world.reach('stranger', await world.stranger('stranger'))
    await world.reach('forged', world.withUser({ token: 'no-such-token-at-all' }))
    await world.reach(
      'program',
      world.withUser({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'id' } }),
    )
    await world.reach('nowhere', world.withUser({ token: 'x' }, { server: 'https://127.0.0.1:1' }))
    await world.reach('nonsense', 'this: [is no kubeconfig')
    const cases: Record<string, readonly [forProvider: object, config: string, words: RegExp]> = {
      forbidden: [{ manifest: configMap('no', {}) }, 'stranger', /forbidden: .*an administrator grants the identity/],
      unauthorized: [{ manifest: configMap('no', {}) }, 'forged', /does not accept the credentials/],
      program: [{ manifest: configMap('no', {}) }, 'program', /runs a program \(exec\), which is not allowed/],
      nowhere: [{ manifest: configMap('no', {}) }, 'nowhere', /can it be reached from here/],
      nonsense: [{ manifest: configMap('no', {}) }, 'nonsense', /cannot reach the cluster of the ProviderConfig/],
      unserved: [
        { manifest: { apiVersion: 'example.org/v1', kind: 'Widget' } },
        'default',
        /does not serve the kind Widget/,
      ],
      kindless: [{ manifest: { metadata: { name: 'x' } } }, 'default', /must have an apiVersion and a kind/],
      homeless: [{ manifest: configMap('x', {}, 'no-such-place') }, 'default', /create the namespace first/],
      unplaced: [{ manifest: { apiVersion: 'v1', kind: 'ConfigMap' } }, 'default', /needs a namespace/],
    }
    for (const [name, [forProvider, config]] of Object.entries(cases)) {
      await world.declare(`wrong-${name}`, forProvider, { providerConfigRef: { name: config } })
    }
    for (const [name, [, , words]] of Object.entries(cases)) {
      const found = await world.says(`wrong-${name}`, 'Synced', 'False', words)
      assert.ok(!statusText(found).includes('no-such-token-at-all'))
    }
    await world.apply(namespaces, 'no-such-place', {})
    await world.says('wrong-homeless', 'Ready', 'True')
    for (const name of Object.keys(cases))
      await world.client.patch(
        object.type,
        { name: `wrong-${name}` },
        { type: 'merge', patch: { spec: { deletionPolicy: 'Orphan' } } },
      )
    for (const name of Object.keys(cases)) await world.remove(`wrong-${name}`)
  })

  test('an Object that made one thing is not turned towards another', async () => {
    await world.declare('turned', { manifest: configMap('first', {}) })
    await world.says('turned', 'Ready', 'True')
    const patch = {
      type: 'merge',
      patch: { spec: { forProvider: { manifest: { metadata: { name: 'second' } } } } },
    } as const
    await world.client.patch(object.type, { name: 'turned' }, patch)
    await world.says('turned', 'Synced', 'False', /but the external name of this Object is "first"/)
    assert.equal(await world.find(configMaps, 'second', 'default'), undefined)
    const back = {
      type: 'merge',
      patch: { spec: { forProvider: { manifest: { metadata: { name: 'first' } } } } },
    } as const
    await world.client.patch(object.type, { name: 'turned' }, back)
    await world.says('turned', 'Synced', 'True')
    await world.remove('turned')
  })

  test(`${many} Objects are observed with a handful of requests`, { timeout: 600_000 }, async () => {
    await world.apply(namespaces, 'many', {})
    const names = Array.from({ length: many }, (_, i) => `many-${i}`)
    await inBatches(names, (name) => world.client.create(configMaps, configMap(name, { name }, 'many') as KubeObject))
    const before = { ...world.asked }
    await inBatches(names, (name) => {
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'many' } }
      return world.declare(name, { manifest }, { managementPolicies: ['Observe'] })
    })
    await eventually(
      'all are observed',
      async () => {
        const { items } = await world.client.list(object.type)
        const ready = items.filter(
          (each) => each.metadata.name!.startsWith('many-') && statusText(each)?.includes('"Available"'),
        )
        return ready.length === many
      },
      400_000,
    )
    const asked = Object.entries(world.asked).reduce((sum, [verb, count]) => sum + count - (before[verb] ?? 0), 0)
    assert.ok(asked <= 20, `${asked} requests for ${many} Objects: ${JSON.stringify(world.asked)}`)
    await world.client.patch(
      configMaps,
      { name: 'many-7', namespace: 'many' },
      { type: 'merge', patch: { data: { name: 'changed' } } },
    )
    await eventually('a change of one is seen', async () =>
      statusText((await world.find(object.type, 'many-7'))!).includes('changed'),
    )
    await inBatches(names, (name) => world.client.delete(object.type, { name }))
  })
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 100) await Promise.all(items.slice(at, at + 100).map(work))
}

describe('Objects on the embedded server', () => objects(() => ObjectWorld.embedded(), 2_000))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('Objects on the real kube-apiserver', { skip }, () => {
  if (typeof real === 'string') return
  objects(() => ObjectWorld.remote(real.kubeconfig), 200)
  after(async () => await real[Symbol.asyncDispose]())
})
