import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, type Client, type GetOptions, type KubeObject, notFound, type ObjectKey } from '@crosstie/kube'
import { defineBinding } from '../definition/claim.js'
import { bucket } from '../definition/claim-kinds.js'
import { absent } from '../definition/external.js'
import { defineManaged } from '../definition/managed.js'
import { s } from '../definition/schema.js'
import { FakeApi } from '../testing/fakeapi.js'
import { claimController } from './controller.js'

const { signal } = new AbortController()
const key = { namespace: 'default', name: 'mine' }
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

/** Returns a client whose cache has no Items yet. It queries the server only if a resourceVersion is required. */
function behind(api: FakeApi): Client {
  const get = async (type: typeof item.type, asked: ObjectKey, options?: GetOptions): Promise<KubeObject> => {
    if (type === item.type && !options?.resourceVersion) throw notFound(type, asked.name)
    return await api.get(type, asked)
  }
  return new Proxy(api as Client, {
    get: (target, name) => {
      if (name === 'get') return get
      const member = target[name as keyof Client]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

test('CLM3 a claim whose resource was not heard of here yet has neither lost it nor lets go of it', async () => {
  const api = new FakeApi()
  const bindings = [defineBinding({ claim: bucket, managed: item })]
  const process = (client: Client) => claimController(bucket, { client, bindings })
  const make = (type: typeof item.type, object: object) =>
    api.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, ...object } as KubeObject)
  await make(item.classType, {
    metadata: { name: 'plain' },
    specTemplate: { forProvider: {}, reclaimPolicy: 'Delete' },
  })
  const classRef = { apiVersion: apiVersionOf(item.classType), kind: item.classType.kind, name: 'plain' }
  await make(bucket.type, { metadata: key, spec: { classRef } })
  await process(api).reconcile(key, signal)
  const claim = () => api.peek(bucket.type, key)
  const { resourceRef } = claim()!['spec'] as { resourceRef: { name: string; uid: string } }
  assert.ok(resourceRef.uid)

  await process(behind(api)).reconcile(key, signal)
  assert.doesNotMatch(JSON.stringify(claim()!['status']), /Lost/)

  await api.delete(bucket.type, key)
  await process(behind(api)).reconcile(key, signal)
  assert.equal(api.peek(item.type, { name: resourceRef.name }), undefined, 'what it has goes with it')
  await process(behind(api)).reconcile(key, signal)
  assert.equal(claim(), undefined, 'and then the claim')
})
