import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { absent, present } from '../../definition/external.js'
import { defineManaged } from '../../definition/managed.js'
import { policyNames } from '../../definition/policies.js'
import { s } from '../../definition/schema.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { managedController } from '../controller.js'
import { migratedPolicies, migratePolicies, policiesOf } from './policy.js'

/** One combination of inputs for the policies. */
interface Situation {
  readonly policies: readonly string[]
  readonly exists: boolean
  readonly upToDate: boolean
  readonly lateInit: boolean
  readonly deleted: boolean
  readonly pausedByAnnotation: boolean
  readonly gate: boolean
  readonly deletionPolicy: 'Delete' | 'Orphan' | undefined
}

interface Outcome {
  readonly calls: string
  readonly filled: boolean
  readonly statusWritten: boolean
  readonly synced: string
  readonly there: boolean
}

/** The expected outcome, derived from the requirements only. It shares no code with the implementation. */
function model(w: Situation): Outcome {
  const nothing = { calls: '', filled: false, statusWritten: false, there: true }
  const may = (name: string) => !w.gate || w.policies.includes('*') || w.policies.includes(name)
  if (w.pausedByAnnotation || (w.gate && w.policies.length === 0)) return { ...nothing, synced: 'ReconcilePaused' }
  // Without a deletionPolicy, `*` alone does not permit deletion.
  const unsaid = w.gate && w.deletionPolicy === undefined && !w.policies.includes('Delete')
  const mayDelete = may('Delete') && w.deletionPolicy !== 'Orphan' && !unsaid
  if (w.deleted) {
    if (!mayDelete) return { ...nothing, synced: '', there: false }
    if (!w.exists) return { ...nothing, calls: 'Observe', synced: '', there: false }
    return { ...nothing, calls: 'Observe Delete', statusWritten: may('Observe'), synced: 'ReconcileSuccess' }
  }
  if (!w.exists) {
    if (may('Create')) return { ...nothing, calls: 'Observe Create', synced: 'ReconcileSuccess' }
    return { ...nothing, calls: 'Observe', synced: 'ReconcileError' }
  }
  const corrects = !w.upToDate && may('Update')
  return {
    calls: corrects ? 'Observe Update' : 'Observe',
    filled: w.lateInit && may('LateInitialize'),
    statusWritten: may('Observe'),
    synced: 'ReconcileSuccess',
    there: true,
  }
}

async function live(w: Situation, managementPolicy?: string): Promise<Outcome> {
  const calls: string[] = []
  const kind = defineManaged({
    group: 'policy.test.crossplane.io',
    version: 'v1',
    kind: 'Thing',
    parameters: s.object({ size: s.optional(s.integer()), color: s.optional(s.string()) }),
    observation: s.object({ id: s.string() }),
    naming: 'user-chosen',
    connect: () => null,
    observe: async () => {
      calls.push('Observe')
      if (!w.exists) return absent
      const color = w.lateInit ? { color: 'red' } : {}
      return present({ ready: true, atProvider: { id: 'x', size: w.upToDate ? 1 : 2, ...color } })
    },
    create: async () => {
      calls.push('Create')
      return {}
    },
    update: async () => {
      calls.push('Update')
    },
    delete: async () => {
      calls.push('Delete')
    },
  })
  const api = new FakeApi()
  api.seed(kind.type, {
    apiVersion: apiVersionOf(kind.type),
    kind: 'Thing',
    metadata: {
      name: 'a',
      uid: 'u',
      generation: 1,
      finalizers: ['finalizer.managedresource.crossplane.io'],
      annotations: {
        'crossplane.io/external-name': 'a',
        ...(w.pausedByAnnotation ? { 'crossplane.io/paused': 'true' } : {}),
      },
      ...(w.deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      managementPolicies: w.policies,
      ...(managementPolicy ? { managementPolicy } : {}),
      ...(w.deletionPolicy ? { deletionPolicy: w.deletionPolicy } : {}),
      forProvider: { size: 1 },
    },
  })
  const controller = managedController(kind, { client: api, features: { managementPolicies: w.gate } })
  await controller.reconcile({ name: 'a' }, new AbortController().signal)
  const object: KubeObject | undefined = api.peek(kind.type, { name: 'a' })
  const spec = object?.['spec'] as { forProvider: { color?: string } } | undefined
  const status = object?.['status'] as { atProvider?: object } | undefined
  return {
    calls: calls.join(' '),
    filled: spec?.forProvider.color !== undefined,
    statusWritten: status?.atProvider !== undefined,
    synced: object ? (conditionsOf(object).find(({ type }) => type === 'Synced')?.reason ?? '') : '',
    there: object !== undefined,
  }
}

test('POL1 POL2 POL3 POL4 POL5 POL6 POL8 POL9 MR15 every subset in every situation does what the model says', async () => {
  const yesNo = [true, false]
  let situations = 0
  for (let bits = 0; bits < 64; bits++) {
    const policies = policyNames.filter((_, i) => bits & (1 << i))
    for (const exists of yesNo)
      for (const upToDate of yesNo)
        for (const lateInit of yesNo)
          for (const deleted of yesNo)
            for (const pausedByAnnotation of yesNo)
              for (const gate of yesNo)
                for (const deletionPolicy of ['Delete', 'Orphan', undefined] as const) {
                  const w = { policies, exists, upToDate, lateInit, deleted, pausedByAnnotation, gate, deletionPolicy }
                  assert.deepEqual(await live(w), model(w), JSON.stringify(w))
                  situations++
                }
  }
  assert.equal(situations, 12_288)
})

const migrations: readonly (readonly [string, string, readonly string[]])[] = [
  ['FullControl', 'Delete', ['*']],
  ['FullControl', 'Orphan', ['Create', 'Update', 'Observe', 'LateInitialize']],
  ['OrphanOnDelete', 'Delete', ['Create', 'Update', 'Observe', 'LateInitialize']],
  ['OrphanOnDelete', 'Orphan', ['Create', 'Update', 'Observe', 'LateInitialize']],
  ['ObserveOnly', 'Delete', ['Observe']],
  ['ObserveOnly', 'Orphan', ['Observe']],
]

for (const [old, deletionPolicy, wanted] of migrations) {
  test(`POL7 ${old} with ${deletionPolicy} means ${wanted.join(', ')}`, () => {
    assert.deepEqual(migratedPolicies(old, deletionPolicy), wanted)
  })
}

test('POL7 an object is migrated in either spelling of the field, and one without an old policy is left alone', () => {
  const object = (spec: object) => ({ apiVersion: 'x/v1', kind: 'VPC', metadata: { name: 'a' }, spec })
  const wanted = { forProvider: {}, managementPolicies: ['Observe'] }
  for (const field of ['managementPolicy', 'managementPolicies']) {
    const old = object({ [field]: 'ObserveOnly', deletionPolicy: 'Orphan', forProvider: {} })
    assert.deepEqual(migratePolicies(old)?.spec, wanted)
  }
  assert.equal(migratePolicies(object({ managementPolicies: ['*'] })), undefined)
})

/** The six rows of the conflict table. Each conflict keeps the external resource. */
const conflicts: readonly (readonly [deletion: string, management: string, creates: boolean, deletes: boolean])[] = [
  ['Delete', 'Full', true, true],
  ['Orphan', 'OrphanOnDelete', true, false],
  ['Delete', 'ObserveOnly', false, false],
  ['Orphan', 'Full', true, false],
  ['Delete', 'OrphanOnDelete', true, false],
  ['Orphan', 'ObserveOnly', false, false],
]

for (const [deletionPolicy, managementPolicy, creates, deletes] of conflicts) {
  test(`POL6 deletionPolicy ${deletionPolicy} with ${managementPolicy}: ${deletes ? 'deletes' : 'keeps'}`, () => {
    const spec = { managementPolicies: ['*'], managementPolicy, deletionPolicy }
    const { may } = policiesOf(spec, { gate: true, hasDeletionPolicy: true })
    assert.deepEqual([may.create, may.update, may.delete], [creates, creates, deletes])
  })
}

const all = ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize']

for (const [managementPolicy, managementPolicies] of [
  ['ObserveOnly', all],
  ['ObserveOnly', ['*', 'Observe']],
  ['ObserveOnly', ['Delete']],
  ['OrphanOnDelete', all],
  ['OrphanOnDelete', ['Delete', 'Observe']],
] as const) {
  test(`POL9 ${managementPolicy} beside ${managementPolicies.join(', ')} does nothing and says why`, async () => {
    const fixed = {
      upToDate: false,
      lateInit: true,
      pausedByAnnotation: false,
      gate: true,
      deletionPolicy: 'Delete',
    } as const
    for (const deleted of [false, true]) {
      for (const exists of [false, true]) {
        const outcome = await live({ policies: managementPolicies, exists, deleted, ...fixed }, managementPolicy)
        const nothing = { calls: '', filled: false, statusWritten: false, there: true }
        assert.deepEqual(outcome, { ...nothing, synced: 'ReconcileError' })
      }
    }
    const { refused } = policiesOf({ managementPolicy, managementPolicies }, { gate: true, hasDeletionPolicy: true })
    assert.match(refused ?? '', new RegExp(`managementPolicy: ${managementPolicy}. forbids .*Delete.*crosstie migrate`))
  })
}

test('POL9 a list that allows no more than the old policy beside it is followed', () => {
  const options = { gate: true, hasDeletionPolicy: true }
  for (const [managementPolicy, managementPolicies] of [
    ['ObserveOnly', ['Observe']],
    ['OrphanOnDelete', ['Observe', 'Update']],
    ['FullControl', ['Observe', 'Delete']],
    ['Default', ['*', 'Delete']],
    ['ObserveOnly', []],
  ] as const) {
    const policies = policiesOf({ managementPolicy, managementPolicies, deletionPolicy: 'Delete' }, options)
    assert.equal(policies.refused, undefined)
    const plain = policiesOf({ managementPolicies, deletionPolicy: 'Delete' }, options)
    assert.deepEqual(policies, plain)
  }
})

test('POL7 migrating a contradiction keeps what both fields allow', () => {
  const spec = { managementPolicy: 'ObserveOnly', managementPolicies: all, forProvider: {} }
  const migrated = migratePolicies({ apiVersion: 'x/v1', kind: 'VPC', metadata: { name: 'a' }, spec })
  assert.deepEqual(migrated?.spec, { managementPolicies: ['Observe'], forProvider: {} })
})

test('POL7 a former value in the list is refused with a message that names the command', () => {
  const { refused } = policiesOf({ managementPolicies: ['ObserveOnly'] }, { gate: true, hasDeletionPolicy: true })
  assert.match(refused ?? '', /not supported.*`crosstie migrate`/)
})

test('POL8 with the gate off every explicit policy is reported as ignored, also a pause', () => {
  const ignored = (spec: object) => policiesOf(spec, { gate: false, hasDeletionPolicy: true }).ignored
  for (const managementPolicies of [[], ['Observe'], ['*', 'Observe'], 'ObserveOnly']) {
    assert.match(ignored({ managementPolicies }) ?? '', /^spec.managementPolicies ignored/)
  }
  assert.equal(ignored({ managementPolicies: ['*'] }), undefined)
  assert.equal(ignored({}), undefined)
})
