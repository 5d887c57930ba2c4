import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, type KubeObject, type ObjectKey } from '@crosstie/kube'
import { aggregateType } from '../definition/aggregate.js'
import { defineBinding } from '../definition/claim.js'
import { bucket } from '../definition/claim-kinds.js'
import { absent } from '../definition/external.js'
import { defineManaged } from '../definition/managed.js'
import { s } from '../definition/schema.js'
import { FakeApi } from '../testing/fakeapi.js'
import { controllerOfAggregates, controllerOfClaims } from './controller.js'
import { bindingRuntimeFor, claimRuntimeFor } from './runtime.js'

const { signal } = new AbortController()
const item = defineManaged({
  group: 'sim.crosstie.io',
  version: 'v1',
  kind: 'Item',
  parameters: s.object({}),
  observation: s.object({}),
  naming: 'user-chosen',
  idempotentCreate: true,
  connect: () => undefined,
  observe: async () => absent,
  create: async () => ({}),
  update: async () => {},
  delete: async () => {},
})
const bindings = [defineBinding({ claim: bucket, managed: item, role: 'main', configure: () => ({}) })]
const COUNT = 60
const keyOf = (i: number): ObjectKey => ({ namespace: 'default', name: `claim-${i}` })

test('nothing is remembered about claims that are gone, also when their finalizers were removed by hand', async () => {
  const api = new FakeApi({ now: () => Date.now() })
  const runtime = claimRuntimeFor(bucket, { client: api, bindings })
  const controller = controllerOfClaims(runtime)
  const pending: ObjectKey[] = []
  controller.begin?.((key) => pending.push(key))
  for (let i = 0; i < COUNT; i++) await createClaim(api, i)
  for (let i = 0; i < COUNT; i++) await controller.reconcile(keyOf(i), signal)
  for (const item of await managedObjects(api)) for (const watch of controller.watches ?? []) wakeWith(watch, item)
  const held = () => [runtime.waiting, runtime.bound, runtime.aggregates, runtime.secretUsers, runtime.bindables]
  const sizes = () => held().map(({ size }) => size)
  assert.deepEqual(sizes(), [COUNT / 3, COUNT / 3, COUNT / 3, COUNT / 3, COUNT / 3], 'each kind of memory is in use')

  for (let i = 0; i < COUNT; i++) {
    const claim = api.peek(bucket.type, keyOf(i))!
    api.remove(bucket.type, keyOf(i))
    controller.gone?.(claim)
  }
  for (const object of await managedObjects(api)) api.remove(item.type, { name: object.metadata.name! })
  for (const key of pending) await controller.reconcile(key, signal)
  assert.deepEqual(sizes(), [0, 0, 0, 0, 0])
})

test('nothing is remembered about aggregates that are gone, also when their finalizers were removed by hand', async () => {
  const api = new FakeApi({ now: () => Date.now() })
  const runtime = bindingRuntimeFor({ client: api, bindings })
  const controller = controllerOfAggregates(runtime)
  const names = Array.from({ length: 20 }, (_, i) => `aggregate-${i}`)
  for (const name of names) {
    await createAggregate(api, name)
    await createItem(api, name, { aggregateRef: refTo(api.peek(aggregateType, { name })!), reclaimPolicy: 'Delete' })
    await api.delete(aggregateType, { name })
    await controller.reconcile({ name }, signal)
  }
  assert.equal(runtime.aggregates.size, names.length)
  for (const name of names) {
    const aggregate = api.peek(aggregateType, { name })!
    api.remove(aggregateType, { name })
    controller.gone?.(aggregate)
  }
  assert.equal(runtime.aggregates.size, 0)
})

/**
 * Creates a claim. One of three waits for a missing object, one is bound to an Item with a connection Secret, one
 * to an aggregate.
 */
async function createClaim(api: FakeApi, i: number): Promise<void> {
  const name = `target-${i}`
  if (i % 3 === 1) {
    const writeConnectionSecretToRef = { namespace: 'system', name }
    await createItem(api, name, { writeConnectionSecretToRef })
  }
  if (i % 3 === 2) {
    await createAggregate(api, name)
    await createItem(api, name, {})
  }
  const type = i % 3 === 2 ? aggregateType : item.type
  await api.create(bucket.type, {
    apiVersion: apiVersionOf(bucket.type),
    kind: bucket.type.kind,
    metadata: keyOf(i),
    spec: {
      resourceRef: { apiVersion: apiVersionOf(type), kind: type.kind, name },
      writeConnectionSecretToRef: { name: `secret-${i}` },
    },
  })
}

const createItem = (api: FakeApi, name: string, spec: object) =>
  api.create(item.type, {
    apiVersion: apiVersionOf(item.type),
    kind: item.type.kind,
    metadata: { name, labels: { set: name }, finalizers: ['test'] },
    spec: { forProvider: {}, ...spec },
  })

const createAggregate = (api: FakeApi, name: string) =>
  api.create(aggregateType, {
    apiVersion: apiVersionOf(aggregateType),
    kind: aggregateType.kind,
    metadata: { name, finalizers: ['finalizer.aggregateresource.crossplane.io'] },
    spec: { aggregationRule: { resourceSelector: { matchLabels: { set: name } } } },
  })

const refTo = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject) => ({ apiVersion, kind, name, uid })

const managedObjects = async (api: FakeApi): Promise<readonly KubeObject[]> => (await api.list(item.type)).items

function wakeWith(watch: { type: { kind: string }; concerns(object: KubeObject): unknown }, object: KubeObject): void {
  if (watch.type.kind === object.kind) watch.concerns(object)
}
