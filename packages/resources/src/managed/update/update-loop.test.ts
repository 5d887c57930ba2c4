import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../../definition/managed.js'
import { SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { managedController } from '../controller.js'

const POLL_MS = 60_000

/** Creates one object of size 2 in the simulated cloud and waits until it is ready. */
async function world(
  change: (kind: ManagedKind, cloud: SimulatedCloud) => Partial<ManagedKind['external']> = () => ({}),
) {
  let now = Date.UTC(2026, 0, 1)
  const clock = { now: () => now }
  const cloud = new SimulatedCloud({ naming: 'provider-assigned', tags: true, tokens: false, list: false, clock })
  const api = new FakeApi({ now: clock.now })
  const thing = thingOf(cloud)
  const kind = { ...thing, external: Object.assign(Object.create(thing.external), change(thing, cloud)) } as ManagedKind
  const events: string[] = []
  const event = (_: KubeObject, type: string, reason: string) => events.push(`${type} ${reason}`)
  const controller = managedController(kind, { client: api, clock, events: { event }, pollSeconds: POLL_MS / 1000 })
  const { type } = kind
  const spec = { managementPolicies: ['*'], forProvider: { region: 'r1', flavor: 'sweet', size: 2 } }
  await api.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'a' }, spec })
  const object = () => api.peek(type, { name: 'a' })!
  const drifted = () => conditionsOf(object()).find((condition) => condition.type === 'Drifted')
  const poll = async () => {
    await controller.reconcile({ name: 'a' }, AbortSignal.timeout(10_000))
    now += POLL_MS
  }
  for (let i = 0; i < 5; i++) await poll()
  const name = () => cloud.resources[0]!.name
  events.length = 0
  return {
    cloud,
    events,
    drifted,
    poll,
    meddle: (size: number) => cloud.meddle(name(), { size }),
    size: () => cloud.resources[0]!.values['size'],
    edit: (size: number) =>
      api.update(type, { ...object(), spec: { ...spec, forProvider: { ...spec.forProvider, size } } }),
    annotate: (annotations: Record<string, string>) =>
      api.patch(type, { name: 'a' }, { type: 'merge', patch: { metadata: { annotations } } }),
  }
}

test('an update that sends no request is not reported as an update', async () => {
  const set = await world(() => ({ update: async () => {} }))
  set.meddle(9)
  for (let i = 0; i < 4; i++) await set.poll()
  assert.deepEqual(set.events, ['Warning DriftDetected'], 'one event, however often it is polled')
  assert.equal(set.drifted()?.status, 'True')
  assert.equal(set.drifted()?.reason, 'NotCorrected')
  assert.match(set.drifted()?.message ?? '', /^size: wanted 2, is 9; /)
  set.meddle(2)
  await set.poll()
  assert.equal(set.drifted()?.reason, 'InStep')
})

test('an update of a provider that does not count requests is taken to have sent some', async () => {
  const set = await world((kind) => ({
    connect: (context) => kind.external.connect({ ...context, trackChanges: () => () => {} }),
  }))
  set.meddle(9)
  await set.poll()
  assert.equal(set.drifted()?.reason, 'Corrected')
  assert.deepEqual(set.events, ['Normal UpdatedExternalResource'])
})

/** Reverts every update before the next poll. */
const reverted = (kind: ManagedKind, cloud: SimulatedCloud): Partial<ManagedKind['external']> => ({
  update: async (call) => {
    await kind.external.update(call)
    cloud.meddle(cloud.resources[0]!.name, { size: 9 })
  },
})

test('the same difference after three updates is an update loop, and updates back off', async () => {
  const set = await world(reverted)
  const before = set.cloud.calls.update
  set.meddle(9)
  for (let i = 0; i < 3; i++) await set.poll()
  assert.equal(set.drifted()?.reason, 'Corrected')
  await set.poll()
  assert.equal(set.cloud.calls.update - before, 3, 'the fourth poll waits')
  assert.equal(set.drifted()?.status, 'True')
  assert.equal(set.drifted()?.reason, 'UpdateLoop')
  assert.match(set.drifted()?.message ?? '', /^size: wanted 2, is 9; 3 updates in a row/)
  const sent: number[] = []
  for (let i = 4; i < 64; i++) {
    const calls = set.cloud.calls.update
    await set.poll()
    if (set.cloud.calls.update > calls) sent.push(i)
    assert.equal(set.drifted()?.reason, 'UpdateLoop')
  }
  assert.deepEqual(sent, [4, 8, 16, 32, 48], 'after 2, 4, 8 and then every 16 poll intervals')
  await set.annotate({ 'crossplane.io/reconcile-requested-at': new Date().toISOString() })
  const calls = set.cloud.calls.update
  await set.poll()
  assert.equal(set.cloud.calls.update, calls + 1, 'a request to reconcile does not wait')
})

test('an update loop ends when the difference or the spec changes', async () => {
  const set = await world(reverted)
  set.meddle(9)
  for (let i = 0; i < 4; i++) await set.poll()
  assert.equal(set.drifted()?.reason, 'UpdateLoop')
  set.meddle(7)
  await set.poll()
  assert.equal(set.drifted()?.reason, 'Corrected', 'another difference is corrected at once')
  for (let i = 0; i < 4; i++) await set.poll()
  assert.equal(set.drifted()?.reason, 'UpdateLoop')
  const calls = set.cloud.calls.update
  await set.edit(3)
  await set.poll()
  assert.equal(set.cloud.calls.update, calls + 1, 'another spec is applied at once')
  assert.equal(set.drifted()?.status, 'False')
})

test('drift that stays away between two updates is not a loop', async () => {
  const set = await world()
  for (let i = 0; i < 6; i++) {
    set.meddle(9)
    await set.poll()
    assert.equal(set.size(), 2)
    assert.equal(set.drifted()?.reason, 'Corrected')
    await set.poll()
  }
})
