import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, type KubeObject } from '@crosstie/kube'
import { defineBinding } from '../definition/claim.js'
import { bucket } from '../definition/claim-kinds.js'
import { SimulatedCloud } from '../testing/cloud.js'
import { FakeApi } from '../testing/fakeapi.js'
import { thingOf } from '../testing/thing.js'
import { imagineClaim } from './claims.js'
import { Imagination } from './imagined.js'
import { plan } from './plan.js'

const signal = new AbortController().signal
const clock = { now: () => Date.UTC(2026, 0, 1) }

function stage() {
  const cloud = new SimulatedCloud({ naming: 'user-chosen', tags: true, tokens: false, list: false, clock })
  const thing = thingOf(cloud)
  let writes = 0
  const api = new FakeApi({
    before: ({ verb }) => {
      if (verb !== 'get' && verb !== 'list') writes++
    },
  })
  const world = new Imagination(api)
  const seed = (type: typeof thing.type, name: string, more: object, namespace?: string) =>
    api.seed(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, uid: `uid-${name}`, generation: 1, ...(namespace ? { namespace } : {}) },
      ...more,
    } as KubeObject)
  const binding = defineBinding({ claim: bucket, managed: thing })
  const imagine = () =>
    imagineClaim({ world, bindings: [binding], clock }, bucket, { namespace: 'apps', name: 'photos' }, signal)
  return { cloud, thing, api, world, seed, imagine, writes: () => writes }
}

test('a claim: the class that would be chosen, what would be made, and what that would do, without a write', async () => {
  const { thing, world, seed, imagine, writes, cloud } = stage()
  const forProvider = { region: 'r1', flavor: 'sweet', size: 2 }
  seed(thing.classType, 'standard', { specTemplate: { forProvider, reclaimPolicy: 'Delete' } })
  seed(bucket.type, 'photos', { spec: { classRef: { name: 'standard', ...reference(thing.classType) } } }, 'apps')
  const { claim, subjects } = await imagine()
  assert.equal(claim.class, 'ThingClass/standard')
  assert.equal(claim.error, undefined)
  assert.match(claim.resources[0]!.name, /^apps-photos-[a-z0-9]{5}$/)
  const { resources } = await plan({ world, clock }, subjects, signal)
  assert.equal(resources[0]?.outcome, 'create')
  assert.ok(
    resources[0].steps.some(({ fields }) => fields.some(({ path, to }) => path === 'size' && to === 2)),
    'the class gives the size',
  )
  assert.equal(writes(), 0)
  assert.equal(cloud.made, 0)
})

test('a claim that no class meets says what it waits for', async () => {
  const { thing, seed, imagine } = stage()
  seed(bucket.type, 'photos', { spec: { classRef: { name: 'none', ...reference(thing.classType) } } }, 'apps')
  const { claim, subjects } = await imagine()
  assert.deepEqual(subjects, [])
  assert.match(claim.because, /waiting for ThingClass none, which does not exist/)
})

function reference(type: { group: string; version: string; kind: string }) {
  return { apiVersion: `${type.group}/${type.version}`, kind: type.kind }
}
