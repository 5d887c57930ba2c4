import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { KubeObject, ManagedFieldsEntry } from '../object.js'
import { managedFieldsFromScale, managedFieldsOfScale, scaleFieldManager, withoutNewTimes } from './index.js'

type Entries = readonly ManagedFieldsEntry[] | null

/** The results of the scale handler of apimachinery for generated entries. */
interface Vector {
  readonly parents: Entries
  readonly scales: Entries
  readonly version: string
  readonly toScale: Entries
  readonly toParent: Entries
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../src/patch/testdata/scale.json', import.meta.url), 'utf8'),
)

const replicas = { 'e.org/v1': '.spec.replicas', 'e.org/v2': '.spec.pool.size', 'e.org/v3': undefined }

/** Sorts the entries, since entries that are equal in the order may come in any order. */
function sorted(entries: Entries | undefined): string[] {
  return (entries ?? []).map((entry) => JSON.stringify(Object.entries(entry).sort())).sort()
}

test('owners of replicas move between an object and its Scale as in Kubernetes', () => {
  for (const { parents, scales, version, toScale, toParent } of vectors) {
    const context = JSON.stringify({ parents, scales, version })
    const shown = managedFieldsOfScale(parents ?? undefined, replicas)
    assert.deepEqual(sorted(shown), sorted(toScale), context)
    const back = managedFieldsFromScale(parents ?? undefined, scales ?? undefined, replicas, version)
    assert.deepEqual(sorted(back), sorted(toParent), context)
  }
})

test('a Scale is tracked like any object', () => {
  const live: KubeObject = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: {
      name: 'x',
      uid: 'u',
      managedFields: managedFieldsOfScale(
        [
          {
            manager: 'me',
            operation: 'Apply',
            apiVersion: 'e.org/v1',
            time: '2020-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { 'f:replicas': {} } },
          },
        ],
        replicas,
      )!,
    },
    spec: { replicas: 1 },
    status: { replicas: 1 },
  }
  const input = { live, manager: 'kubectl', version: 'autoscaling/v1', subresource: 'scale', now: Date.UTC(2021, 0) }
  const tracked = scaleFieldManager.trackUpdate({ ...input, updated: { ...live, spec: { replicas: 3 } } })
  assert.deepEqual((tracked as KubeObject).metadata.managedFields, [
    {
      manager: 'kubectl',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      time: '2021-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    },
  ])
})

test('new times alone are not a change', () => {
  const entry: ManagedFieldsEntry = { manager: 'a', time: '2020-01-01T00:00:00Z', fieldsV1: { 'f:a': {} } }
  const live: KubeObject = { apiVersion: 'v1', kind: 'X', metadata: { managedFields: [entry] }, a: 1 }
  const later: KubeObject = { ...live, metadata: { managedFields: [{ ...entry, time: '2021-01-01T00:00:00Z' }] } }
  assert.deepEqual(withoutNewTimes(later, live), live)
  assert.equal(withoutNewTimes({ ...later, a: 2 }, live).metadata, later.metadata)
})
