import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType, claimKinds, deepestCause, traceClaim } from '@crosstie/resources'
import { bucket, defineBinding, mysqlInstance, s } from '@crosstie/resources/provider'
import { eventually, World, type WorldOptions } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { cloudKind, specOf, statusOf } from './kinds.js'

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const EXTERNAL_NAME = 'crossplane.io/external-name'

/** Rows of the requirements for claims, classes, aggregates and names beyond the examples of 002. */
function rows(open: (options: WorldOptions) => Promise<World>): void {
  /** True while the cloud rejects creations. */
  let busy = false
  const item = cloudKind({
    group: 'rows.crosstie.io',
    version: 'v1',
    kind: 'Item',
    parameters: s.object({
      text: s.optional(s.string()),
      next: s.optional(s.reference(s.string(), { to: (): ResourceType => item.kind.type })),
    }),
    cloud: {
      before: (call) => {
        if (busy && call === 'create') throw new Error('not yet')
      },
    },
    connection: (name) => ({ key: `of ${name}` }),
  })
  const stranger = cloudKind({ group: 'rows.crosstie.io', version: 'v1', kind: 'Stranger', parameters: s.object({}) })
  let world: World

  before(async () => {
    const bindings = [mysqlInstance, bucket].map((claim) => defineBinding({ claim, managed: item.kind }))
    world = await open({
      bindings: bindings.map((binding) => (binding.claim === bucket ? { ...binding, role: 'supporting' } : binding)),
      managed: [item.kind, stranger.kind],
    })
    world.start()
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
  })

  const make = (type: ResourceType, object: Omit<KubeObject, 'apiVersion' | 'kind'>) =>
    world.client.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, ...object } as KubeObject)
  const itemClass = (name: string, labels: Record<string, string>, template: object = {}, annotations = {}) =>
    make(item.kind.classType, {
      metadata: { name, labels, annotations },
      specTemplate: { forProvider: {}, ...template },
    })
  const aggregateClass = (name: string, matchLabels: Record<string, string>, specTemplate: object = {}, labels = {}) =>
    make(aggregateClassType, {
      metadata: { name, labels },
      aggregationRule: { classSelector: { matchLabels } },
      specTemplate,
    })
  const refer = (type: ResourceType, name: string) => ({ apiVersion: apiVersionOf(type), kind: type.kind, name })
  const claim = (name: string, spec: object, annotations = {}, type = mysqlInstance.type) =>
    make(type, { metadata: { name, namespace: 'default', annotations }, spec })
  const claimWhere = (name: string, what: string, holds: (claim: KubeObject) => unknown, type = mysqlInstance.type) =>
    eventually(`${name} ${what}`, async () => {
      const found = await world.find(type, name, 'default')
      return found && holds(found) ? found : undefined
    })
  const ready = (name: string) => claimWhere(name, 'is ready', (found) => condition(found, 'Ready')?.status === 'True')
  const says = (name: string, words: RegExp, type = mysqlInstance.type) =>
    claimWhere(name, `says ${words}`, (found) => words.test(condition(found, 'Ready')?.message ?? ''), type)
  const remove = async (name: string, type = mysqlInstance.type) => {
    await world.client.delete(type, { name, namespace: 'default' })
    await eventually(`${name} is gone`, async () => !(await world.find(type, name, 'default')))
  }
  const wholeOf = async (found: KubeObject) => (await world.find(aggregateType, specOf(found).resourceRef.name))!
  const partsOf = async (found: KubeObject) => {
    const entries = statusOf(await wholeOf(found)).aggregatedResources as { kind: string; name: string }[]
    return await Promise.all(entries.map(async ({ name }) => (await world.find(item.kind.type, name))!))
  }
  const externalNameOf = (object: KubeObject) => object.metadata.annotations?.[EXTERNAL_NAME]

  test('CLM1 every kind of claim is served and namespaced; its managed resources and classes are not', async () => {
    for (const { type } of claimKinds)
      assert.deepEqual((await world.client.list(type, { namespace: 'default' })).items, [])
    for (const { type } of claimKinds) assert.ok(type.namespaced)
    for (const type of [item.kind.type, item.kind.classType, aggregateType, aggregateClassType]) {
      assert.ok(!type.namespaced)
    }
  })

  test('CLM1 CLM5 what a class says of everything reaches what it provisions; retained, it stays', async () => {
    await itemClass(
      'keeps',
      {},
      {
        forProvider: { text: 'of the class' },
        providerConfigRef: { name: 'there' },
        reclaimPolicy: 'Retain',
        writeConnectionSecretsToNamespace: 'crossplane-system',
      },
    )
    await claim('keeps', { classRef: refer(item.kind.classType, 'keeps') })
    const { resourceRef } = specOf(await ready('keeps'))
    const managed = (await world.find(item.kind.type, resourceRef.name))!
    const spec = specOf(managed)
    assert.deepEqual(
      [
        spec.forProvider.text,
        spec.providerConfigRef.name,
        spec.reclaimPolicy,
        spec.writeConnectionSecretToRef.namespace,
      ],
      ['of the class', 'there', 'Retain', 'crossplane-system'],
    )
    await remove('keeps')
    const kept = (await world.find(item.kind.type, resourceRef.name))!
    assert.equal(statusOf(kept).bindingPhase, 'Released')
    assert.ok(item.cloud.resources.some(({ name }) => name === externalNameOf(kept)))
    await world.client.delete(item.kind.type, { name: resourceRef.name })
  })

  test('AGG3 CLM3 an aggregate binds to its claim at once; the claim says what it waits for until all parts are ready', async () => {
    busy = true
    await itemClass('patient', { of: 'patient' })
    await aggregateClass('patient', { of: 'patient' })
    await claim('patient', { classRef: refer(aggregateClassType, 'patient') })
    const waiting = await says('patient', /^waiting for Item default-patient-\w+: create failed: not yet/)
    assert.deepEqual([statusOf(waiting).bindingPhase, condition(waiting, 'Ready')?.status], ['Bound', 'False'])
    const whole = await wholeOf(waiting)
    assert.equal(statusOf(whole).bindingPhase, 'Bound')
    assert.deepEqual(
      statusOf(whole).aggregatedResources.map((entry: { bindingPhase: string }) => entry.bindingPhase),
      ['Unbindable'],
    )
    busy = false
    const found = await ready('patient')
    assert.deepEqual(
      (await partsOf(found)).map((part) => statusOf(part).bindingPhase),
      ['Bound'],
    )
    await remove('patient')
  })

  test('AGG4 in a partial match only what is supported is provisioned; nonsense is not selected', async () => {
    await itemClass('partial', { of: 'partial' })
    await make(stranger.kind.classType, {
      metadata: { name: 'partial', labels: { of: 'partial' } },
      specTemplate: { forProvider: {} },
    })
    await aggregateClass('partial', { of: 'partial' }, {}, { for: 'anybody' })
    const classSelector = { matchLabels: { for: 'anybody' } }
    // For a Bucket, an Item can only be a supporting member.
    await claim('nonsense', { classSelector }, {}, bucket.type)
    await says('nonsense', /AggregateResourceClass partial has nothing to offer to a Bucket/, bucket.type)
    await claim('partial', { classSelector })
    const found = await ready('partial')
    assert.deepEqual(
      (await partsOf(found)).map(({ kind }) => kind),
      ['Item'],
    )
    assert.deepEqual(await world.list(stranger.kind.type), [])
    await remove('partial')
    await remove('nonsense', bucket.type)
  })

  test('AGG5 one class is part of many aggregate classes, and every claim gets a part of its own', async () => {
    await itemClass('shared', { one: 'yes', other: 'yes' })
    for (const name of ['one', 'other']) {
      await aggregateClass(name, { [name]: 'yes' })
      await claim(name, { classRef: refer(aggregateClassType, name) })
    }
    const parts = await Promise.all(['one', 'other'].map(async (name) => await partsOf(await ready(name))))
    assert.deepEqual(
      parts.map(({ length }) => length),
      [1, 1],
    )
    assert.equal(new Set(parts.flat().map(({ metadata }) => metadata.uid)).size, 2)
    for (const name of ['one', 'other']) await remove(name)
  })

  test('AGG6 a selector chooses by controller and labels too; a deleted reference is resolved again', async () => {
    await itemClass('chosen', { of: 'choice' })
    await itemClass(
      'chooses',
      { of: 'choice' },
      {
        forProvider: { nextSelector: { matchControllerRef: true, matchClassRef: { name: 'chosen' } } },
      },
    )
    await aggregateClass('choice', { of: 'choice' })
    await claim('choice', { classRef: refer(aggregateClassType, 'choice') })
    const found = await ready('choice')
    const byClass = new Map((await partsOf(found)).map((part) => [specOf(part).classRef.name, part]))
    const [chosen, chooses] = [byClass.get('chosen')!, byClass.get('chooses')!]
    assert.equal(specOf(chooses).forProvider.nextRef.name, chosen.metadata.name)
    const key = { name: chooses.metadata.name! }
    await world.client.patch(
      item.kind.type,
      { name: chosen.metadata.name! },
      {
        type: 'merge',
        patch: { metadata: { labels: { tier: 'gold' } } },
      },
    )
    const nextSelector = { matchControllerRef: null, matchClassRef: null, matchLabels: { tier: 'gold' } }
    const forProvider = { next: null, nextRef: null, nextSelector }
    await world.client.patch(item.kind.type, key, { type: 'merge', patch: { spec: { forProvider } } })
    await eventually('it is resolved again', async () => {
      const { nextRef, next } = specOf((await world.find(item.kind.type, key.name))!).forProvider
      return nextRef?.name === chosen.metadata.name && next === externalNameOf(chosen)
    })
    await remove('choice')
  })

  test('AGG7 the keys of all parts together, prefixed where a class says so; the parts keep theirs', async () => {
    const secrets = { writeConnectionSecretsToNamespace: 'crossplane-system' }
    const prefix = { 'aggregation.crossplane.io/connection-secret-prefix': 'first-' }
    await itemClass('first', { of: 'keys' }, secrets, prefix)
    await itemClass('second', { of: 'keys' }, secrets)
    await aggregateClass('keys', { of: 'keys' }, secrets)
    await claim('keys', { classRef: refer(aggregateClassType, 'keys'), writeConnectionSecretToRef: { name: 'keys' } })
    const found = await ready('keys')
    const dataOf = async (namespace: string, name: string) => {
      const secret = await world.find(secretType, name, namespace)
      const data = Object.entries((secret?.['data'] ?? {}) as Record<string, string>)
      return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
    }
    const parts = new Map((await partsOf(found)).map((part) => [specOf(part).classRef.name, part]))
    const textOf = (name: string) => `of ${externalNameOf(parts.get(name)!)}`
    const whole = { 'first-key': textOf('first'), key: textOf('second') }
    await eventually('the claim has all keys', async () => Object.keys(await dataOf('default', 'keys')).length === 2)
    assert.deepEqual(await dataOf('default', 'keys'), whole)
    for (const [name, part] of parts) {
      const own = specOf(part).writeConnectionSecretToRef
      assert.deepEqual(await dataOf(own.namespace, own.name), { key: textOf(name) })
      assert.equal(part.metadata.annotations?.[Object.keys(prefix)[0]!], name === 'first' ? 'first-' : undefined)
    }
    await remove('keys')
  })

  test('AGG8 CLM5 an aggregate that is to be retained stays with its parts, and is nobody else’s', async () => {
    await itemClass('stays', { of: 'stays' })
    await aggregateClass('stays', { of: 'stays' }, { reclaimPolicy: 'Retain' })
    await claim('stays', { classRef: refer(aggregateClassType, 'stays') })
    const found = await ready('stays')
    const parts = await partsOf(found)
    await remove('stays')
    const whole = await wholeOf(found)
    assert.equal(statusOf(whole).bindingPhase, 'Released')
    assert.equal(specOf(whole).claimRef.uid, found.metadata.uid)
    for (const { metadata } of parts) {
      const part = (await world.find(item.kind.type, metadata.name!))!
      assert.deepEqual([part.metadata.deletionTimestamp, statusOf(part).bindingPhase], [undefined, 'Bound'])
    }
    await claim('heir', { resourceRef: refer(aggregateType, whole.metadata.name!) })
    await says('heir', /which is bound to another claim/)
    await remove('heir')
    // The members follow their own policy when the aggregate is deleted (AGG8).
    await world.client.delete(aggregateType, { name: whole.metadata.name! })
    await eventually('all of it is gone', async () => {
      const left = await Promise.all(parts.map(({ metadata }) => world.find(item.kind.type, metadata.name!)))
      return left.every((part) => !part) && !(await world.find(aggregateType, whole.metadata.name!))
    })
  })

  test('trace: from the claim by its aggregate and parts to the deepest cause of all that wait', async () => {
    const options = { client: world.client, types: [mysqlInstance.type, aggregateType, item.kind.type] }
    await itemClass('base', { of: 'chain' }, { forProvider: { nextRef: { name: 'missing-item' } } })
    await itemClass(
      'top',
      { of: 'chain' },
      {
        forProvider: { nextSelector: { matchAggregate: true, matchClassRef: { name: 'base' } } },
      },
    )
    await aggregateClass('chain', { of: 'chain' })
    await claim('chain', { classRef: refer(aggregateClassType, 'chain') })
    const words = /^waiting for Item default-chain-\w+: cannot resolve references: .*"missing-item" not found/
    const cause = deepestCause(await traceClaim(options, await says('chain', words)))!
    assert.deepEqual([cause.reference.name, cause.why], ['missing-item', 'does not exist'])
    await make(item.kind.type, { metadata: { name: 'missing-item' }, spec: { forProvider: {} } })
    const tree = await traceClaim(options, await ready('chain'))
    assert.equal(deepestCause(tree), undefined)
    const [whole] = tree.children
    assert.deepEqual([tree.phase, whole!.reference.kind, whole!.phase], ['Bound', 'AggregateResource', 'Bound'])
    assert.deepEqual(whole!.children.map(({ className, ready }) => [className, ready]).sort(), [
      ['base', 'True'],
      ['top', 'True'],
    ])
    await remove('chain')
    await world.client.delete(item.kind.type, { name: 'missing-item' })
  })

  test('XN3 a claim never overrides the external name of what it binds to: it takes it over', async () => {
    await make(item.kind.type, {
      metadata: { name: 'named', annotations: { [EXTERNAL_NAME]: 'its-own' } },
      spec: { forProvider: {} },
    })
    await claim('named', { resourceRef: refer(item.kind.type, 'named') }, { [EXTERNAL_NAME]: 'another' })
    const bound = await ready('named')
    assert.equal(externalNameOf((await world.find(item.kind.type, 'named'))!), 'its-own')
    assert.equal(externalNameOf(bound), 'its-own')
    await remove('named')
    await world.client.delete(item.kind.type, { name: 'named' })
  })

  test('XN4 XN5 prefix and suffix are for claims that carry a name; others get one from namespace and claim', async () => {
    const affixes = { 'crossplane.io/external-name-prefix': 'a-', 'crossplane.io/external-name-suffix': '-z' }
    await itemClass('affixed', {}, {}, affixes)
    const classRef = refer(item.kind.classType, 'affixed')
    await claim('nameless', { classRef })
    await claim('carries', { classRef }, { [EXTERNAL_NAME]: 'name' })
    const nameless = await ready('nameless')
    assert.match(specOf(nameless).resourceRef.name, /^default-nameless-\w{5}$/)
    assert.equal(externalNameOf(nameless), specOf(nameless).resourceRef.name)
    assert.equal(externalNameOf(await ready('carries')), 'a-name-z')
    for (const name of ['nameless', 'carries']) await remove(name)
  })
}

describe('claims row by row on the embedded server', () => rows((options) => World.embedded(options)))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('claims row by row on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  rows((options) => World.remote(typeof real === 'string' ? '' : real.kubeconfig, options))
})
