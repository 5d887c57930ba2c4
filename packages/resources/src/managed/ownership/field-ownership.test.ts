import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client, KubeObject } from '@crosstie/kube'
import type { Reconciliation } from '../reconciliation.js'
import { applyOwn, ownsField } from './field-ownership.js'

const manager = 'us'

/** Returns an object on which this controller owns the given fields of the spec. */
function object(spec: object, owned: object): KubeObject {
  const fieldsV1 = { 'f:spec': { 'f:forProvider': owned } } as never
  const managedFields = [
    { manager, operation: 'Apply' as const, fieldsV1 },
    { manager, operation: 'Update' as const, fieldsV1: { 'f:spec': { 'f:other': {} } } },
  ]
  return {
    apiVersion: 'x/v1',
    kind: 'K',
    metadata: { name: 'a', resourceVersion: '7', managedFields },
    spec: { forProvider: spec },
  }
}

async function applied(managed: KubeObject, added: object): Promise<KubeObject> {
  let sent: KubeObject | undefined
  const client = {
    apply: async (_: unknown, given: KubeObject) => {
      sent = given
      return given
    },
  } as unknown as Client
  const kind = { type: { group: 'x', version: 'v1', kind: 'K', resource: 'ks', namespaced: false } }
  await applyOwn({ runtime: { client, kind }, managed } as unknown as Reconciliation, manager, { forProvider: added })
  return sent!
}

test('what we owned is stated again, what others own is not, and the revision goes along', async () => {
  const managed = object(
    { ours: 1, nested: { ours: 2, theirs: 3 }, theirs: 4 },
    { 'f:ours': {}, 'f:nested': { 'f:ours': {} } },
  )
  const sent = await applied(managed, { more: 5 })
  assert.deepEqual(sent['spec'], { forProvider: { ours: 1, nested: { ours: 2 }, more: 5 } })
  assert.equal(sent.metadata.resourceVersion, '7')
})

test("of a keyed list only our own items are stated: another's would become ours", async () => {
  const owned = { 'f:taints': { 'k:{"key":"a"}': { '.': {}, 'f:key': {} } } }
  const managed = object({ taints: [{ key: 'a' }, { key: 'b' }] }, owned)
  assert.deepEqual((await applied(managed, {}))['spec'], { forProvider: { taints: [{ key: 'a' }] } })
})

test('a field is ours when we applied it, and only then', () => {
  const managed = object({ a: { b: 1 } }, { 'f:a': { 'f:b': {} } })
  assert.equal(ownsField(managed, manager, ['forProvider', 'a', 'b']), true)
  assert.equal(ownsField(managed, manager, ['forProvider', 'a', 'c']), false)
  assert.equal(ownsField(managed, 'them', ['forProvider', 'a', 'b']), false)
})
