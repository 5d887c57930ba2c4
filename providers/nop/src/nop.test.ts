import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { conditionsOf, Metrics } from '@crosstie/kube'
import { managedController, managedMetrics } from '@crosstie/resources'
import { FakeApi } from '@crosstie/resources/testing'
import { nopResource } from './index.js'

const page = new URL('../../../docs/reference/nop.crossplane.io/NopResource.md', import.meta.url)

/** Removes the padding that a formatter may add to tables. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim()

test('the page of the kind is what its definition says', () => {
  assert.equal(
    unpadded(readFileSync(page, 'utf8')),
    unpadded(nopResource.page()),
    `write this into ${page.pathname}:\n${nopResource.page()}`,
  )
})

test('a NopResource is ready after one reconcile, counted, and gone after another', async () => {
  const api = new FakeApi()
  const metrics = new Metrics()
  const controller = managedController(nopResource, { client: api, metrics: managedMetrics(metrics) })
  const signal = new AbortController().signal
  for (const name of ['a', 'b']) {
    await api.create(nopResource.type, {
      apiVersion: 'nop.crossplane.io/v1alpha1',
      kind: 'NopResource',
      metadata: { name },
      spec: { managementPolicies: ['*'], deletionPolicy: 'Delete', forProvider: { size: 10, fields: { owner: 'me' } } },
    })
    assert.equal((await controller.reconcile({ name }, signal)).after, 'poll')
    const ready = conditionsOf(api.peek(nopResource.type, { name })!).map(({ type, status }) => `${type}=${status}`)
    assert.deepEqual(ready, ['Ready=True', 'Synced=True'])
  }
  await controller.reconcile({ name: 'a' }, signal)
  const text = metrics.expose()
  assert.match(text, /crosstie_managed_reconciles_total\{.*kind="NopResource".*\} 3/)
  assert.match(text, /crosstie_managed_observed\{.*\} 2/)
  await api.delete(nopResource.type, { name: 'a' })
  await controller.reconcile({ name: 'a' }, signal)
  assert.equal(api.peek(nopResource.type, { name: 'a' }), undefined)
})

test('with a CRD that knows less of the status, nothing is written at rest all the same', async () => {
  let writes = 0
  const api: FakeApi = new FakeApi({
    before: ({ verb }) => {
      if (verb === 'updateStatus') writes++
    },
  })
  const update = api.update.bind(api)
  // A CRD without atProvider.size and .fields, as that of the load generator.
  api.update = (async (type, object, options) => {
    const status = object['status'] as { atProvider?: { id?: string } }
    return await update(type, { ...object, status: { ...status, atProvider: { id: status.atProvider?.id } } }, options)
  }) as typeof api.update
  const controller = managedController(nopResource, { client: api })
  const signal = new AbortController().signal
  await api.create(nopResource.type, {
    apiVersion: 'nop.crossplane.io/v1alpha1',
    kind: 'NopResource',
    metadata: { name: 'a' },
    spec: { managementPolicies: ['*'], forProvider: { size: 10, fields: { owner: 'me' } } },
  })
  for (let i = 0; i < 4; i++) await controller.reconcile({ name: 'a' }, signal)
  assert.equal(writes, 1)
})
