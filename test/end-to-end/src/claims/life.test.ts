import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiVersionOf, type KubeObject, type ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '@crosstie/resources'
import { defineBinding, mysqlInstance, s } from '@crosstie/resources/provider'
import { type Crew, eventually, namespaceType, World, type WorldOptions } from '../support/claims-world.js'
import { startRealKubernetes } from '../support/oracle.js'
import { condition } from '../support/plane.js'
import { cloudKind, specOf, statusOf } from './kinds.js'

const secretType: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const AGGREGATE_TO = 'resourceclass.crossplane.io/aggregate-to'
/** No test may depend on polling. */
const NEVER_SECONDS = 3600

/** The lifecycle of claims with several members, from creation to the deletion of the last member. */
function lives(open: (options: WorldOptions) => Promise<World>): void {
  const leaf = cloudKind({
    group: 'life.crosstie.io',
    version: 'v1',
    kind: 'Leaf',
    parameters: s.object({
      text: s.optional(s.string()),
      next: s.optional(s.reference(s.string(), { to: (): ResourceType => leaf.kind.type })),
    }),
    connection: (name, { text }) => ({ text: String(text ?? ''), [`of-${name.replace(/-\w+$/, '')}`]: 'here' }),
  })
  const { type, classType } = leaf.kind
  let world: World
  let crew: Crew

  before(async () => {
    world = await open({
      bindings: [defineBinding({ claim: mysqlInstance, managed: leaf.kind })],
      managed: [leaf.kind],
      pollSeconds: NEVER_SECONDS,
    })
    crew = world.start()
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
  })

  const make = (kind: ResourceType, object: Omit<KubeObject, 'apiVersion' | 'kind'>) =>
    world.client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as KubeObject)

  /** Creates an aggregate class, and a class for each member. */
  async function classes(name: string, parts: Record<string, object>): Promise<void> {
    const labels = { [AGGREGATE_TO]: name }
    for (const [part, specTemplate] of Object.entries(parts)) {
      const template = { writeConnectionSecretsToNamespace: 'crossplane-system', ...specTemplate }
      await make(classType, { metadata: { name: `${name}-${part}`, labels }, specTemplate: template })
    }
    await make(aggregateClassType, {
      metadata: { name },
      aggregationRule: { classSelector: { matchLabels: labels } },
      specTemplate: { writeConnectionSecretsToNamespace: 'crossplane-system' },
    })
  }

  const claim = (name: string, namespace = 'default') =>
    make(mysqlInstance.type, {
      metadata: { name, namespace },
      spec: {
        classRef: { apiVersion: apiVersionOf(aggregateClassType), kind: aggregateClassType.kind, name },
        writeConnectionSecretToRef: { name },
      },
    })
  const claimWhere = (name: string, what: string, holds: (claim: KubeObject) => boolean, namespace = 'default') =>
    eventually(`the claim ${name} ${what}`, async () => {
      const found = await world.find(mysqlInstance.type, name, namespace)
      return found && holds(found) && found
    })
  const ready = (name: string, namespace?: string) =>
    claimWhere(name, 'is ready', (found) => condition(found, 'Ready')?.status === 'True', namespace)
  const gone = (kind: ResourceType, name: string, namespace?: string) =>
    eventually(`${kind.kind} ${name} is gone`, async () => !(await world.find(kind, name, namespace)))
  const partsOf = async (found: KubeObject) => {
    const whole = await world.find(aggregateType, specOf(found).resourceRef.name)
    return statusOf(whole!).aggregatedResources as { name: string }[]
  }
  const textIn = async (name: string) => {
    const secret = await world.find(secretType, name, 'default')
    const { text } = (secret?.['data'] ?? {}) as { text?: string }
    return text === undefined ? undefined : Buffer.from(text, 'base64').toString()
  }
  const select = (name: string) => ({ nextSelector: { matchAggregate: true, matchClassRef: { name } } })

  test('CLM4 AGG7 a change of connection details reaches the claim at once, and what is written over is put right', async () => {
    await classes('follow', { one: { forProvider: { text: 'first' } } })
    await claim('follow')
    const found = await ready('follow')
    await eventually('the claim has the details', async () => (await textIn('follow')) === 'first')
    const [part] = await partsOf(found)
    leaf.cloud.meddle(leaf.cloud.resources.find(({ name }) => name === part!.name)!.name, { text: 'second' })
    const forProvider = { text: 'second' }
    await world.client.patch(type, part!, { type: 'merge', patch: { spec: { forProvider } } })
    await eventually('the claim has the new details', async () => (await textIn('follow')) === 'second')
    const key = { namespace: 'default', name: 'follow' }
    const wrong = Buffer.from('wrong').toString('base64')
    await world.client.patch(secretType, key, { type: 'merge', patch: { data: { text: wrong } } })
    await eventually('they are put right', async () => (await textIn('follow')) === 'second')
    await world.client.delete(secretType, key)
    await eventually('they come back', async () => (await textIn('follow')) === 'second')
    await world.client.delete(mysqlInstance.type, key)
    await gone(mysqlInstance.type, 'follow', 'default')
  })

  test('AGG7 two parts that publish the same key: one value is used, and people are told which', async () => {
    await classes('keys', { a: { forProvider: { text: 'of a' } }, b: { forProvider: { text: 'of b' } } })
    await claim('keys')
    const found = await ready('keys')
    const name = specOf(found).resourceRef.name
    const whole = (await world.find(aggregateType, name))!
    const told = condition(whole, 'ConnectionKeysUnique')!
    assert.equal(told.status, 'False')
    assert.match(told.message ?? '', /key text is published by Leaf default-keys-\w+, whose value is used/)
    assert.equal(await textIn('keys'), 'of a', 'the first by the name of its class')
    assert.ok(crew.events.some((event) => event.startsWith(`AggregateResource/${name} Warning ConnectionKeyConflict`)))
    await world.client.delete(mysqlInstance.type, { namespace: 'default', name: 'keys' })
    await gone(mysqlInstance.type, 'keys', 'default')
  })

  test('a circle of references is named on the claim, and does not hold up its deletion', async () => {
    await classes('circle', {
      a: { forProvider: select('circle-b') },
      b: { forProvider: select('circle-a') },
      c: { forProvider: {} },
    })
    await claim('circle')
    const named = /in a circle, so that none can be made first: Leaf default-circle-\w+, Leaf default-circle-\w+$/
    const found = await claimWhere('circle', 'names the circle', (each) =>
      named.test(condition(each, 'Ready')?.message ?? ''),
    )
    assert.equal(condition(found, 'Ready')?.status, 'False')
    await world.client.delete(mysqlInstance.type, { namespace: 'default', name: 'circle' })
    await gone(mysqlInstance.type, 'circle', 'default')
    assert.deepEqual(await world.list(type), [])
    assert.deepEqual(leaf.cloud.resources, [])
  })

  test('AGG8 CLM5 a part that is to be retained stays, says so, and holds up nothing', async () => {
    await classes('retain', {
      base: { reclaimPolicy: 'Retain', forProvider: { text: 'base' } },
      top: { forProvider: select('retain-base') },
    })
    await claim('retain')
    const found = await ready('retain')
    const parts = await partsOf(found)
    await world.client.delete(mysqlInstance.type, { namespace: 'default', name: 'retain' })
    await gone(mysqlInstance.type, 'retain', 'default')
    const left = await world.list(type)
    assert.equal(left.length, 1)
    const [base] = left
    assert.equal(specOf(base!).classRef.name, 'retain-base')
    assert.equal(statusOf(base!).bindingPhase, 'Released')
    assert.ok(parts.some(({ name }) => name === base!.metadata.name))
    const { name } = base!.metadata
    assert.ok(
      crew.events.some((event) => event.startsWith(`Leaf/${name} Normal Released: Retained: AggregateResource`)),
    )
    assert.deepEqual(
      leaf.cloud.resources.map((resource) => resource.name),
      [name],
    )
    await world.client.delete(type, { name: name! })
    await gone(type, name!)
  })

  test('deleting a namespace with claims of several parts ends, and nothing is left', async () => {
    await classes('namespace', { base: { forProvider: {} }, top: { forProvider: select('namespace-base') } })
    await claim('namespace', 'team-a')
    await ready('namespace', 'team-a')
    await world.client.delete(namespaceType, { name: 'team-a' })
    await gone(mysqlInstance.type, 'namespace', 'team-a')
    await gone(namespaceType, 'team-a')
    assert.deepEqual(await world.list(aggregateType), [])
    assert.deepEqual(await world.list(type), [])
    assert.deepEqual(leaf.cloud.resources, [])
  })
}

describe('the life of claims on the embedded server', () => lives((options) => World.embedded(options)))

const real = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('the life of claims on the real kube-apiserver', { skip }, () => {
  after(async () => {
    if (typeof real !== 'string') await real[Symbol.asyncDispose]()
  })
  lives((options) => World.remote(typeof real === 'string' ? '' : real.kubeconfig, options))
})
