import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject, systemClock } from '@crosstie/kube'
import { SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { managedController } from '../controller.js'

/** Tests of tags on external resources that an object did not create (MR13). */

const signal = new AbortController().signal
const owner = { 'crossplane-kind': 'thing.sim.crosstie.io', 'crossplane-name': 'a' }

interface Given {
  readonly spec?: object
  /** Tags of the resource before any object names it. */
  readonly tags?: Readonly<Record<string, string>>
}

/** Creates an object `a` for an existing resource with the same name. */
async function adopt({ spec, tags = { team: 'b' } }: Given) {
  const cloud = new SimulatedCloud({ naming: 'user-chosen', tags: true, tokens: false, list: true, clock: systemClock })
  await cloud.create({ name: 'a', region: 'r1', values: { flavor: 'sweet' }, tags, token: '' })
  const api = new FakeApi()
  const kind = thingOf(cloud, { consistencySeconds: 0 })
  const controller = managedController(kind, { client: api })
  const reconcile = async () => {
    for (let i = 0; i < 4; i++) await controller.reconcile({ name: 'a' }, signal)
  }
  await api.create(kind.type, {
    apiVersion: apiVersionOf(kind.type),
    kind: kind.type.kind,
    metadata: { name: 'a' },
    spec: { managementPolicies: ['*'], forProvider: { region: 'r1', flavor: 'sweet' }, ...spec },
  })
  await reconcile()
  const object = () => api.peek(kind.type, { name: 'a' }) as KubeObject
  const edit = (change: object) => {
    const held = object()
    const { generation = 1 } = held.metadata
    const next = { ...(held['spec'] as object), ...change }
    api.seed(kind.type, { ...held, metadata: { ...held.metadata, generation: generation + 1 }, spec: next })
  }
  const remove = async () => {
    await api.delete(kind.type, { name: 'a' })
    await reconcile()
    assert.equal(object(), undefined, 'the object is gone')
  }
  return {
    cloud,
    reconcile,
    object,
    edit,
    remove,
    tagsNow: () => cloud.resources[0]?.tags,
    updates: () => cloud.calls.update,
  }
}

const cases: readonly (Given & { readonly name: string; readonly want: Readonly<Record<string, string>> })[] = [
  { name: 'full control', want: { team: 'b', ...owner } },
  { name: 'Update is enough', spec: { managementPolicies: ['Observe', 'Update'] }, want: { team: 'b', ...owner } },
  { name: 'Observe only', spec: { managementPolicies: ['Observe'] }, want: { team: 'b' } },
  {
    name: 'all but Update',
    spec: { managementPolicies: ['Observe', 'Create', 'Delete', 'LateInitialize'] },
    want: { team: 'b' },
  },
  { name: 'ignored tags', spec: { ignoreChanges: ['tags'] }, want: { team: 'b' } },
  { name: 'any ignored tag', spec: { ignoreChanges: ['tags[*]'] }, want: { team: 'b' } },
  {
    name: 'one ignored tag',
    spec: { ignoreChanges: ['tags[crossplane-kind]'] },
    want: { team: 'b', 'crossplane-name': 'a' },
  },
  {
    name: 'tags of another owner',
    tags: { 'crossplane-name': 'other' },
    want: { 'crossplane-name': 'other' },
  },
  { name: 'some are there', tags: { 'crossplane-name': 'a' }, want: owner },
  {
    name: 'a ProviderConfig',
    spec: { providerConfigRef: { name: 'acme' } },
    want: { team: 'b', ...owner, 'crossplane-providerconfig': 'acme', 'crossplane-provider': 'acme' },
  },
  {
    name: 'adopted through a class',
    spec: { classRef: { name: 'c' }, adoptionPolicy: 'Allow' },
    want: { team: 'b', ...owner },
  },
  { name: 'may not be adopted', spec: { classRef: { name: 'c' } }, want: { team: 'b' } },
]

for (const { name, want, ...given } of cases) {
  test(`MR13 ownership tags of an adopted resource: ${name}`, async () => {
    const { tagsNow, updates, object, reconcile } = await adopt(given)
    assert.deepEqual(tagsNow(), want)
    const once = Object.keys(want).length > Object.keys(given.tags ?? { team: 'b' }).length ? 1 : 0
    await reconcile()
    assert.equal(updates(), once, 'tags are written once')
    const drifted = conditionsOf(object()).find(({ type }) => type === 'Drifted')
    assert.equal(drifted, undefined, JSON.stringify(drifted))
  })
}

test('MR13 ownership tags are added when an observing object may update', async () => {
  const { tagsNow, updates, reconcile, edit } = await adopt({ spec: { managementPolicies: ['Observe'] } })
  assert.deepEqual(tagsNow(), { team: 'b' })
  edit({ managementPolicies: ['*'] })
  await reconcile()
  assert.deepEqual(tagsNow(), { team: 'b', ...owner })
  assert.equal(updates(), 1)
})

test('MR13 a removed ownership tag of an adopted resource is added again', async () => {
  const { cloud, tagsNow, reconcile, object } = await adopt({})
  await cloud.update('a', {}, {}, ['crossplane-name'])
  await reconcile()
  assert.deepEqual(tagsNow(), { team: 'b', ...owner })
  assert.equal(conditionsOf(object()).find(({ type }) => type === 'Drifted')?.status, 'False')
})

test('XN3 ownership tags do not make an adopted resource the own one: it stays when the object goes', async () => {
  const { cloud, tagsNow, remove } = await adopt({ spec: { classRef: { name: 'c' }, adoptionPolicy: 'Allow' } })
  assert.equal(tagsNow()?.['crossplane-name'], 'a')
  await remove()
  assert.equal(cloud.calls.delete, 0)
  assert.equal(cloud.resources.length, 1)
})
