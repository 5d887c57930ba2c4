import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject, StatusError, systemClock } from '@crosstie/kube'
import { nopResource } from '@crosstie/provider-nop'
import { migrateLive, reconcileProviderConfig } from '@crosstie/resources'
import { defineProviderConfig } from '@crosstie/resources/provider'
import { type CloudCall, SimulatedCloud, thingOf } from '@crosstie/resources/testing'
import { startRealKubernetes } from '../support/oracle.js'
import { condition, crdType, Plane } from '../support/plane.js'

const refused = (words: RegExp) => (error: unknown) =>
  error instanceof StatusError && error.code === 422 && words.test(error.message)

// biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
const specOf = (object: KubeObject): any => object['spec']

// biome-ignore lint/suspicious/noExplicitAny: tests look into statuses of any shape.
const atProviderOf = (object: KubeObject): any => (object['status'] as { atProvider?: unknown }).atProvider

const secretsType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

/** Waits for garbage collection. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; ) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail('it never came to be')
}

/** Tests that run on every Kubernetes API. */
function managedResources(open: () => Promise<Plane>): void {
  let plane: Plane
  let refuses: (call: CloudCall) => boolean = () => false
  const cloud = new SimulatedCloud({
    naming: 'user-chosen',
    tags: true,
    tokens: false,
    list: false,
    clock: systemClock,
    before: (call) => {
      if (refuses(call)) throw new Error('the cloud does not like that')
    },
  })
  const thing = thingOf(cloud, { consistencySeconds: 0 })

  before(async () => {
    plane = await open()
    await plane.serve(thing)
    await plane.serve(nopResource)
  })
  after(async () => {
    await plane[Symbol.asyncDispose]()
  })

  test('a NopResource is ready after two writes of its own', async () => {
    await plane.create(nopResource, 'nop', { forProvider: { size: 10, fields: { region: 'eu' } } })
    plane.writes = 0
    await plane.reconcile(nopResource, 'nop')
    const ready = await plane.client.get(nopResource.type, { name: 'nop' })
    assert.equal(condition(ready, 'Ready')?.status, 'True')
    assert.equal(plane.writes, 2)
    await plane.reconcile(nopResource, 'nop')
    const again = await plane.client.get(nopResource.type, { name: 'nop' })
    assert.equal(
      again.metadata.resourceVersion,
      ready.metadata.resourceVersion,
      'nothing is written when nothing changed',
    )
  })

  test('POL1 policies have a default, and unknown ones are refused at the door', async () => {
    const object = await plane.create(nopResource, 'defaults', { forProvider: {} })
    assert.deepEqual(specOf(object).managementPolicies, ['*'])
    assert.equal(specOf(object).deletionPolicy, 'Delete')
    await assert.rejects(
      plane.create(nopResource, 'odd', { managementPolicies: ['Nonsense'], forProvider: {} }),
      refused(/Nonsense is not supported; use any of Observe/),
    )
  })

  test('POL10 required to manage, not to observe; identifiers always; initProvider satisfies', async () => {
    await assert.rejects(
      plane.create(thing, 'r1', { forProvider: { region: 'r' } }),
      refused(/spec.forProvider.flavor is a required parameter/),
    )
    await assert.rejects(
      plane.create(thing, 'r2', { forProvider: { flavor: 'f' } }),
      refused(/spec.forProvider.region: Required value/),
    )
    await plane.create(thing, 'r3', { managementPolicies: ['Observe'], forProvider: { region: 'r' } })
    await plane.create(thing, 'r4', { managementPolicies: [], forProvider: { region: 'r' } })
    await plane.create(thing, 'r5', { forProvider: { region: 'r' }, initProvider: { flavor: 'f' } })
    await plane.create(thing, 'r6', { managementPolicy: 'ObserveOnly', forProvider: { region: 'r' } })
  })

  test('MR11 immutable fields are kept at the door, and the message names the field', async () => {
    await plane.create(thing, 'fixed', { forProvider: { region: 'r', flavor: 'sweet' } })
    const object = await plane.settle(thing, 'fixed')
    const spec = specOf(object)
    const change = (flavor: string | undefined) => ({
      ...object,
      spec: { ...spec, forProvider: { ...spec.forProvider, flavor } },
    })
    await assert.rejects(
      plane.client.update(thing.type, change('sour')),
      refused(/spec.forProvider.flavor is immutable/),
    )
    await assert.rejects(
      plane.client.update(thing.type, change(undefined)),
      refused(/spec.forProvider.flavor is immutable/),
    )
  })

  test('late initialization and references are owned by managers of their own', async () => {
    await plane.create(thing, 'parent', { forProvider: { region: 'r', flavor: 'sweet' } })
    await plane.settle(thing, 'parent')
    await plane.create(thing, 'child', {
      forProvider: { region: 'r', flavor: 'sweet', parentIdRef: { name: 'parent' } },
    })
    const child = await plane.settle(thing, 'child')
    assert.equal(specOf(child).forProvider.parentId, 'parent')
    assert.equal(specOf(child).forProvider.size, 3)
    assert.equal(condition(child, 'Ready')?.status, 'True')
    const owners = child.metadata.managedFields
      ?.filter(({ operation }) => operation === 'Apply')
      .map(({ manager }) => manager)
    assert.deepEqual(owners?.sort(), [
      'managed.crossplane.io/api-simple-reference-resolver',
      'managed.crossplane.io/late-initializer',
    ])
  })

  test('MR6 a user may take a late-initialized field over, and it is theirs then', async () => {
    await plane.create(thing, 'taken', { forProvider: { region: 'r', flavor: 'sweet' } })
    await plane.settle(thing, 'taken')
    const mine = {
      apiVersion: apiVersionOf(thing.type),
      kind: 'Thing',
      metadata: { name: 'taken' },
      spec: { forProvider: { size: 8 } },
    }
    await plane.client.apply(thing.type, mine, { fieldManager: 'user', force: true })
    const object = await plane.settle(thing, 'taken')
    assert.equal(specOf(object).forProvider.size, 8)
    assert.equal(cloud.resources.find(({ name }) => name === 'taken')?.values['size'], 8)
  })

  test('MR1 a deleted object takes its external resource along', async () => {
    await plane.create(thing, 'bye', { forProvider: { region: 'r', flavor: 'sweet' } })
    await plane.settle(thing, 'bye')
    assert.ok(cloud.resources.some(({ name }) => name === 'bye'))
    await plane.client.delete(thing.type, { name: 'bye' })
    await plane.reconcile(thing, 'bye')
    await plane.reconcile(thing, 'bye')
    await assert.rejects(
      plane.client.get(thing.type, { name: 'bye' }),
      (error: unknown) => error instanceof StatusError && error.code === 404,
    )
    assert.ok(!cloud.resources.some(({ name }) => name === 'bye'))
  })

  test('MR4 MR16 atProvider shows all that the provider reports, and nothing else', async () => {
    await plane.create(thing, 'seen', { forProvider: { region: 'r', flavor: 'sweet', tags: { team: 'a' } } })
    const { atProvider } = (await plane.settle(thing, 'seen'))['status'] as { atProvider: Record<string, unknown> }
    assert.equal(atProvider['flavor'], 'sweet')
    assert.equal(atProvider['id'], 'seen')
    assert.equal('members' in atProvider, false)
  })

  test('MR3 spec is what the calls use, all references and defaults applied, and tells which configuration failed', async () => {
    await plane.create(thing, 'above', { forProvider: { region: 'r', flavor: 'sweet' } })
    await plane.settle(thing, 'above')
    await plane.create(thing, 'mr3', { forProvider: { region: 'r', flavor: 'sweet', parentIdRef: { name: 'above' } } })
    const made = await plane.settle(thing, 'mr3')
    const given = () => cloud.resources.find(({ name }) => name === 'mr3')!.values
    const { region: _, ...used } = specOf(made).forProvider
    assert.deepEqual(given(), used, 'what the cloud was given, and what it chose, is what the spec says')
    assert.equal(used.parentId, 'above')
    refuses = (call) => call === 'update'
    const patch = { spec: { forProvider: { size: 99 } } }
    await plane.client.patch(thing.type, { name: 'mr3' }, { type: 'merge', patch })
    const failed = await plane.settle(thing, 'mr3')
    refuses = () => false
    assert.equal(condition(failed, 'Synced')?.status, 'False')
    assert.match(condition(failed, 'Synced')?.message ?? '', /update failed: the cloud does not like that/)
    assert.equal(specOf(failed).forProvider.size, 99, 'the configuration that failed')
    assert.equal(atProviderOf(failed).size, 3, "the provider's latest answer")
    const mended = await plane.settle(thing, 'mr3')
    assert.equal(condition(mended, 'Synced')?.status, 'True')
    assert.equal(given()['size'], 99)
  })

  test('MR5 a status that was deleted as a whole is there again after the next reconcile', async () => {
    await plane.create(thing, 'mr5', { forProvider: { region: 'r', flavor: 'sweet', size: 5 } })
    const before = await plane.settle(thing, 'mr5')
    const calls = { ...cloud.calls }
    const empty = await plane.client.update(thing.type, { ...before, status: {} }, { subresource: 'status' })
    assert.deepEqual(empty['status'] ?? {}, {})
    const after = await plane.settle(thing, 'mr5')
    assert.deepEqual(atProviderOf(after), atProviderOf(before))
    const told = (object: KubeObject) =>
      conditionsOf(object)
        .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
        .sort()
    assert.deepEqual(told(after), told(before))
    const { create, update } = cloud.calls
    assert.deepEqual([create, update], [calls.create, calls.update], 'nothing was done to the external resource')
  })

  test('MR7 a nested object is split: what can be configured in spec, what can only be read in status', async () => {
    const crd = await plane.client.get(crdType, { name: 'things.sim.crosstie.io' })
    // biome-ignore lint/suspicious/noExplicitAny: a schema is deep.
    const { properties } = (crd['spec'] as any).versions[0].schema.openAPIV3Schema
    const desired = properties.spec.properties.forProvider.properties.scaling.properties
    const observed = properties.status.properties.atProvider.properties.scaling.properties
    assert.deepEqual(Object.keys(desired).sort(), ['desired', 'min'])
    assert.deepEqual(Object.keys(observed).sort(), ['desired', 'min', 'status'])
    const forProvider = { region: 'r', flavor: 'sweet', scaling: { min: 1, desired: 2 } }
    await plane.create(thing, 'mr7', { forProvider })
    await plane.settle(thing, 'mr7')
    cloud.meddle('mr7', { scaling: { min: 1, desired: 2, status: 'steady' } })
    const settled = await plane.settle(thing, 'mr7')
    assert.deepEqual(atProviderOf(settled).scaling, { min: 1, desired: 2, status: 'steady' })
    assert.deepEqual(specOf(settled).forProvider.scaling, { min: 1, desired: 2 }, 'what is read does not come to spec')
    assert.equal(condition(settled, 'Synced')?.status, 'True')
  })

  test('INI2 initProvider is merged for every kind alike: this one knows nothing of it', async () => {
    await plane.create(thing, 'ini2', {
      forProvider: { region: 'r', flavor: 'sweet', scaling: { min: 1 }, tags: { a: '1' } },
      initProvider: { size: 7, scaling: { min: 9, desired: 5 }, tags: { b: '2' } },
    })
    await plane.settle(thing, 'ini2')
    const made = () => cloud.resources.find(({ name }) => name === 'ini2')!
    assert.equal(made().values['size'], 7)
    assert.deepEqual(made().values['scaling'], { min: 1, desired: 5 }, 'deep, and forProvider wins')
    assert.equal(made().tags['a'], '1')
    assert.equal(made().tags['b'], '2')
    cloud.meddle('ini2', { size: 8, scaling: { min: 1, desired: 6 } })
    const settled = await plane.settle(thing, 'ini2')
    assert.equal(made().values['size'], 8, 'after creation it is ignored')
    assert.deepEqual(made().values['scaling'], { min: 1, desired: 6 })
    assert.equal(condition(settled, 'Synced')?.status, 'True')
  })

  test('AGG6 deleting the reference chooses anew, a set one makes the selector ignored', async () => {
    for (const name of ['net-1', 'net-2']) {
      await plane.create(thing, name, { forProvider: { region: 'r', flavor: 'sweet' } }, { labels: { net: name } })
      await plane.settle(thing, name)
    }
    const selector = (net: string) => ({ forProvider: { parentIdSelector: { matchLabels: { net } } } })
    await plane.create(thing, 'user', {
      forProvider: { region: 'r', flavor: 'sweet', ...selector('net-1').forProvider },
    })
    assert.equal(specOf(await plane.settle(thing, 'user')).forProvider.parentId, 'net-1')
    const merge = (spec: object) =>
      plane.client.patch(thing.type, { name: 'user' }, { type: 'merge', patch: { spec } as never })
    await merge(selector('net-2'))
    assert.equal(specOf(await plane.settle(thing, 'user')).forProvider.parentId, 'net-1', 'the reference is set')
    await merge({ forProvider: { parentIdRef: null } })
    const again = specOf(await plane.settle(thing, 'user')).forProvider
    assert.deepEqual([again.parentId, again.parentIdRef], ['net-2', { name: 'net-2' }])
  })

  test('POL7 live objects with the old policy are migrated, and go on as before', async () => {
    const old = { managementPolicy: 'OrphanOnDelete', forProvider: { region: 'r', flavor: 'sweet' } }
    await plane.create(thing, 'legacy', old)
    await plane.settle(thing, 'legacy')
    const done = await migrateLive({ client: plane.client, dryRun: false })
    const { after: policies } = done.find(({ name }) => name === 'legacy')!
    assert.deepEqual(policies, ['Create', 'Update', 'Observe', 'LateInitialize'])
    const migrated = await plane.settle(thing, 'legacy')
    assert.equal(specOf(migrated).managementPolicy, undefined)
    assert.equal(migrated.metadata.annotations?.['crossplane.io/paused'], undefined)
    assert.equal(condition(migrated, 'Synced')?.status, 'True')
    await plane.client.delete(thing.type, { name: 'legacy' })
    await plane.reconcile(thing, 'legacy')
    assert.ok(
      cloud.resources.some(({ name }) => name === 'legacy'),
      'orphaned, as it always was to be',
    )
  })

  test('a ProviderConfig in use is not deleted; its credentials and all other secrets are seen nowhere but in Secrets', async () => {
    // A name of maximum length with dots, which exceeds the length of a label value.
    const acme = `${'acme.'.repeat(50)}eu`
    const canaries = { credentials: 'c4n4ry-credentials', password: 'c4n4ry-password' }
    const config = defineProviderConfig({ group: 'sim.crosstie.io' })
    const seen: (string | undefined)[] = []
    const faulty = new SimulatedCloud({
      ...cloud.options,
      before: (call) => {
        if (call === 'update') throw new Error(`${canaries.credentials} may not set ${canaries.password}`)
      },
    })
    const connected = (read: { credentials: string | undefined } | undefined) => void seen.push(read?.credentials)
    const gadget = thingOf(faulty, { kind: 'Gadget', consistencySeconds: 0, providerConfig: config, connected })
    await plane.define(config.crd())
    await plane.define(config.usageCrd())
    await plane.serve(gadget)
    await plane.client.create(secretsType, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'canaries', namespace: 'default' },
      data: Object.fromEntries(
        Object.entries(canaries).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      ),
    })
    const secretRef = (key: string) => ({ name: 'canaries', namespace: 'default', key })
    const configOf = (credentials: object) => ({
      apiVersion: apiVersionOf(config.type),
      kind: config.type.kind,
      metadata: { name: acme },
      spec: { credentials },
    })
    await assert.rejects(
      plane.client.create(config.type, configOf({ source: 'Secret' })),
      refused(/secretRef is required/),
    )
    await plane.client.create(config.type, configOf({ source: 'Secret', secretRef: secretRef('credentials') }))
    await plane.create(gadget, 'g', {
      providerConfigRef: { name: acme },
      forProvider: { region: 'r', flavor: 'sweet', size: 1, passwordSecretRef: secretRef('password') },
      writeConnectionSecretToRef: { name: 'conn', namespace: 'default' },
    })
    await plane.settle(gadget, 'g')
    faulty.meddle('g', { size: 7 })
    const failing = await plane.settle(gadget, 'g')
    assert.equal(seen[0], canaries.credentials)
    assert.match(condition(failing, 'Synced')?.message ?? '', /update failed: <redacted> may not set <redacted>/)

    const shown = [JSON.stringify(failing), ...plane.events]
    for (const type of [config.type, config.usageType, gadget.type])
      shown.push(JSON.stringify(await plane.client.list(type)))
    for (const canary of Object.values(canaries)) {
      for (const form of [canary, Buffer.from(canary).toString('base64')]) assert.ok(!shown.join().includes(form))
    }

    const kit = { client: plane.client, events: { event: () => {} } }
    const reconcileConfig = () => reconcileProviderConfig(kit, config, { name: acme })
    await reconcileConfig()
    await plane.client.delete(config.type, { name: acme })
    await reconcileConfig()
    const held = await plane.client.get(config.type, { name: acme })
    assert.deepEqual(held['status'], { users: 1 })
    await plane.client.delete(gadget.type, { name: 'g' })
    await plane.reconcile(gadget, 'g')
    await plane.reconcile(gadget, 'g')
    await eventually(async () => (await plane.client.list(config.usageType)).items.length === 0)
    await reconcileConfig()
    await assert.rejects(plane.client.get(config.type, { name: acme }), /not found/)
  })

  test('AGG6 parts submitted together, in any order, end up working', async () => {
    await plane.create(thing, 'z-needs', {
      forProvider: { region: 'r', flavor: 'sweet', parentIdRef: { name: 'z-needed' } },
    })
    await plane.reconcile(thing, 'z-needs')
    const waiting = await plane.client.get(thing.type, { name: 'z-needs' })
    assert.match(condition(waiting, 'Synced')?.message ?? '', /things.sim.crosstie.io "z-needed" not found/)
    await plane.create(thing, 'z-needed', { forProvider: { region: 'r', flavor: 'sweet' } })
    await plane.settle(thing, 'z-needed')
    assert.equal(condition(await plane.settle(thing, 'z-needs'), 'Ready')?.status, 'True')
  })
}

describe('managed resources on the embedded server', () => managedResources(() => Plane.embedded()))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('managed resources on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  managedResources(() => Plane.remote(typeof real === 'string' ? '' : real.kubeconfig))
})
