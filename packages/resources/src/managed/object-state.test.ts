import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, Metrics } from '@crosstie/kube'
import { SimulatedCloud } from '../testing/cloud.js'
import { FakeApi } from '../testing/fakeapi.js'
import { thingOf } from '../testing/thing.js'
import { controllerOf } from './controller.js'
import { managedMetrics } from './metrics.js'
import { kindRuntimeFor } from './runtime.js'

test('nothing is remembered of objects that are gone, also when their finalizers were removed by hand', async () => {
  let now = Date.UTC(2026, 0, 1)
  const clock = { now: () => now }
  const cloud = new SimulatedCloud({ naming: 'provider-assigned', tags: false, tokens: true, list: true, clock })
  const api = new FakeApi({ now: clock.now })
  const runtime = kindRuntimeFor(thingOf(cloud), { client: api, clock, metrics: managedMetrics(new Metrics()) })
  const controller = controllerOf(runtime)
  const { type } = controller
  const key = (i: number) => ({ name: `thing-${i}` })
  const passwordSecretRef = { namespace: 'default', name: 'none', key: 'password' }
  for (let i = 0; i < 200; i++) {
    const more = [{}, { passwordSecretRef }, { parentIdRef: { name: 'missing' } }][i % 3]!
    await api.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: key(i),
      spec: { managementPolicies: ['*'], forProvider: { region: 'r', flavor: 'sweet', ...more } },
    })
  }
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 200; i++) await controller.reconcile(key(i), new AbortController().signal)
    now += 60_000
  }
  runtime.reservedNames.reserve('r-0001', api.peek(type, key(0))!.metadata.uid!)
  const held = () =>
    [runtime.memory, runtime.secretUsers, runtime.listing!, runtime.reservedNames].map(({ size }) => size)
  assert.ok(
    held().every((size) => size > 0),
    String(held()),
  )
  for (let i = 0; i < 200; i++) {
    const object = api.peek(type, key(i))!
    api.remove(type, key(i))
    controller.gone!(object)
  }
  assert.deepEqual(held(), [0, 0, 0, 0])
})
