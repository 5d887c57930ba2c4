import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { type Secret, secretType } from '../../connection/publish.js'
import { absent, present } from '../../definition/external.js'
import { defineManaged } from '../../definition/managed.js'
import { s } from '../../definition/schema.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { managedController } from '../controller.js'

const secretKey = { name: 'in', namespace: 'ns' }
const ref = (key: string) => ({ ...secretKey, key })
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Creates one vault whose passwords only the provider knows. */
async function setting(spec: object = {}) {
  const api = new FakeApi({ now: () => Date.UTC(2026, 0, 1) })
  const has: Record<string, unknown> = {}
  const updates: unknown[] = []
  let made = false
  const kind = defineManaged({
    group: 'sim.crosstie.io',
    version: 'v1alpha1',
    kind: 'Vault',
    parameters: s.object({
      password: s.sensitive(),
      inner: s.optional(s.object({ pin: s.optional(s.sensitive()), on: s.optional(s.boolean()) })),
    }),
    observation: s.object({}),
    naming: 'user-chosen',
    consistencySeconds: 0,
    connect: () => null,
    observe: async () => (made ? present({ atProvider: {}, ready: true }) : absent),
    create: async ({ forProvider }) => {
      made = true
      Object.assign(has, forProvider)
      return {}
    },
    update: async ({ changed }) => {
      updates.push(changed)
      Object.assign(has, changed)
    },
    delete: async () => {},
  })
  const start = () => managedController(kind, { client: api })
  let controller = start()
  await api.create(secretType, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...secretKey },
    data: { pw: base64('first-password'), pin: base64('1234') },
  } as Secret)
  await api.create(kind.type, {
    apiVersion: apiVersionOf(kind.type),
    kind: 'Vault',
    metadata: { name: 'v' },
    spec: {
      managementPolicies: ['*'],
      deletionPolicy: 'Delete',
      forProvider: { passwordSecretRef: ref('pw'), inner: { pinSecretRef: ref('pin') } },
      ...spec,
    },
  })
  const object = (): KubeObject => api.peek(kind.type, { name: 'v' })!
  return {
    has,
    updates,
    object,
    secret: () => api.peek(secretType, secretKey)!,
    controller: () => controller,
    restart: () => {
      controller = start()
    },
    change: async (data: object, metadata: object = {}) => {
      const held = api.peek(secretType, secretKey) as Secret
      const changed = { ...held, metadata: { ...held.metadata, ...metadata }, data: { ...held.data, ...data } }
      await api.update(secretType, changed)
    },
    settle: async () => {
      for (let i = 0; i < 4; i++) await controller.reconcile({ name: 'v' }, AbortSignal.timeout(5_000))
      return object()
    },
  }
}

test('MR9 a value that changed in its Secret reaches the provider once, and is written nowhere', async () => {
  const vault = await setting()
  await vault.settle()
  assert.deepEqual(vault.updates, [], 'what the create was given needs no update')
  await vault.change({ pw: base64('second-password') })
  await vault.settle()
  vault.restart()
  const settled = await vault.settle()
  assert.deepEqual(vault.updates, [{ password: 'second-password' }], 'only what changed, and only once')
  assert.doesNotMatch(JSON.stringify(settled), /-password|c2Vjb25k/)
  assert.equal(
    conditionsOf(settled).find(({ type }) => type === 'Drifted'),
    undefined,
    'it did not drift',
  )
  await vault.change({ pin: base64('4321') })
  await vault.settle()
  assert.deepEqual(vault.updates.at(-1), { inner: { pin: '4321' } })
})

test('MR9 a change that is missed while nobody runs is noticed at the next start', async () => {
  const vault = await setting()
  await vault.settle()
  await vault.change({ pw: base64('second-password') })
  vault.restart()
  await vault.settle()
  assert.equal(vault.has['password'], 'second-password')
})

test('a Secret that changed in other ways causes no update', async () => {
  const vault = await setting()
  await vault.settle()
  await vault.change({ other: base64('x') }, { labels: { a: 'b' } })
  const settled = await vault.settle()
  vault.restart()
  const again = await vault.settle()
  assert.deepEqual(vault.updates, [])
  assert.equal(again.metadata.resourceVersion, settled.metadata.resourceVersion)
})

test('what may not be updated, or is to be ignored, is left as it is', async () => {
  const ignoring = await setting({ ignoreChanges: ['password'] })
  await ignoring.settle()
  await ignoring.change({ pw: base64('second-password') })
  await ignoring.settle()
  assert.equal(ignoring.has['password'], 'first-password')

  const fixed = await setting({ managementPolicies: ['Observe', 'Create', 'Delete'] })
  await fixed.settle()
  await fixed.change({ pw: base64('second-password') })
  const told = conditionsOf(await fixed.settle()).find(({ type }) => type === 'Drifted')
  assert.deepEqual([told?.status, told?.reason], ['True', 'NotAllowed'])
  assert.match(told?.message ?? '', /^password: wanted "the value in Secret ns\/in", is "an earlier one"/)
  assert.equal(fixed.has['password'], 'first-password')
})

test('a change of a Secret wakes the objects that read it, and no others', async () => {
  const vault = await setting()
  const woken = (secret: KubeObject) =>
    (vault.controller().watches ?? []).flatMap(({ type, concerns }) =>
      type.resource === 'secrets' ? [...concerns(secret)] : [],
    )
  assert.deepEqual(woken(vault.secret()), [])
  await vault.settle()
  assert.deepEqual(woken(vault.secret()), [{ name: 'v' }])
  assert.deepEqual(woken({ ...vault.secret(), metadata: { name: 'other', namespace: 'ns' } }), [])
})
