import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { secretType } from '../../connection/publish.js'
import { reservationType } from '../../definition/reservation.js'
import { type CloudCall, type CloudCapabilities, type CloudResource, SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { type ManagedController, managedController } from '../controller.js'
import { UncertainError } from '../create/create.js'
import type { AdoptionPolicy } from './ownership.js'

/**
 * XN3, CLM7: tests the calls that each object may cause, for every combination of API capabilities, external name,
 * adoption policy, reclaim policy and crash point.
 */

Error.stackTraceLimit = 0

class Crash extends Error {}

const FOREIGN = 'r1-0001'
const config = { region: 'r1', flavor: 'sweet' }

/** One control plane, and a cloud with one resource that it never managed. */
class Setting {
  now = Date.UTC(2026, 0, 1)
  steps = 0
  crashAt = Number.POSITIVE_INFINITY
  /** Calls that change something. */
  readonly calls: CloudCall[] = []
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  #dead = false
  controller: ManagedController

  constructor(capabilities: CloudCapabilities) {
    const clock = { now: () => this.now }
    const point = () => {
      if (this.#dead || ++this.steps === this.crashAt) {
        this.#dead = true
        throw new Crash('dead')
      }
    }
    this.api = new FakeApi({ now: clock.now, before: point, after: point })
    this.cloud = new SimulatedCloud({
      ...capabilities,
      clock,
      before: (call) => {
        point()
        this.calls.push(call)
      },
      after: () => {
        if (this.#dead) return
        try {
          point()
        } catch {
          throw new UncertainError('the answer was lost')
        }
      },
    })
    this.controller = this.restart()
  }

  restart(): ManagedController {
    this.#dead = false
    this.controller = managedController(thingOf(this.cloud), { client: this.api, clock: { now: () => this.now } })
    return this.controller
  }

  /** Creates a resource of another owner without the control plane. */
  async foreign(): Promise<CloudResource> {
    const made = await this.cloud.create({
      name: FOREIGN,
      region: 'r1',
      values: { flavor: 'sour', size: 9 },
      tags: {},
      token: 'x',
    })
    this.calls.length = 0
    this.steps = 0
    return made
  }

  async create(name: string, spec: object, externalName?: string): Promise<void> {
    const { type } = this.controller
    this.api.seed(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        name,
        uid: `uid-of-${name}`,
        generation: 1,
        creationTimestamp: new Date(this.now).toISOString(),
        ...(externalName ? { annotations: { 'crossplane.io/external-name': externalName } } : {}),
      },
      spec: {
        managementPolicies: ['*'],
        deletionPolicy: 'Delete',
        writeConnectionSecretToRef: { name, namespace: 'system' },
        forProvider: config,
        ...spec,
      },
    })
  }

  object(name: string): KubeObject | undefined {
    return this.api.peek(this.controller.type, { name })
  }

  /** Reconciles several times and starts a new process after each crash. */
  async run(name: string, times = 6): Promise<void> {
    for (let i = 0; i < times; i++) {
      try {
        await this.controller.reconcile({ name }, new AbortController().signal)
      } catch {
        this.restart()
      }
      if (this.#dead) this.restart()
      this.now += 40_000
    }
  }

  async delete(name: string): Promise<void> {
    const object = this.object(name)
    if (!object) return
    const { finalizers = [] } = object.metadata
    if (finalizers.length === 0) return this.api.remove(this.controller.type, { name })
    const deletionTimestamp = new Date(this.now).toISOString()
    this.api.seed(this.controller.type, { ...object, metadata: { ...object.metadata, deletionTimestamp } })
    await this.run(name, 8)
  }

  synced(name: string) {
    return conditionsOf(this.object(name)!).find(({ type }) => type === 'Synced')
  }

  get own(): readonly CloudResource[] {
    return this.cloud.resources.filter(({ name }) => name !== FOREIGN)
  }
}

const booleans = [true, false]
const capabilities = (['user-chosen', 'provider-assigned'] as const).flatMap((naming) =>
  booleans.flatMap((tags) => booleans.flatMap((tokens) => booleans.map((list) => ({ naming, tags, tokens, list })))),
)
const classRef = { apiVersion: 'sim.crosstie.io/v1alpha1', kind: 'ThingClass', name: 'c' }
const policies = [['*'], ['Observe'], ['Create', 'Update', 'Delete', 'Observe'], ['Observe', 'LateInitialize']]
const deletions = ['Delete', 'Orphan']
const describe = (given: object): string => JSON.stringify(given)

/** The maximum number of requests in one run without a crash. */
const CRASHES = 24

/** Every point at which the process can crash, and a run without a crash. */
const crashPoints = [Number.POSITIVE_INFINITY, ...Array.from({ length: CRASHES }, (_, i) => i + 1)]

test('XN3 CLM7 matrix: a claim that names an existing resource causes no call that changes anything', async () => {
  let cells = 0
  for (const offered of capabilities)
    for (const managementPolicies of policies)
      for (const deletionPolicy of deletions)
        for (const crashAt of crashPoints) {
          const set = new Setting(offered)
          const before = await set.foreign()
          const spec = { classRef, managementPolicies, deletionPolicy }
          set.crashAt = crashAt
          await set.create('a', spec, FOREIGN)
          await set.run('a')
          const cell = describe({ offered, managementPolicies, deletionPolicy, crashAt })
          assert.equal(set.synced('a')?.reason, 'ExternalNameTaken', cell)
          assert.match(set.synced('a')?.message ?? '', /external name "r1-0001" is taken/, cell)
          assert.equal((set.object('a')!['status'] as { atProvider?: object }).atProvider, undefined, cell)
          assert.equal(set.api.peek(secretType, { name: 'a', namespace: 'system' }), undefined, cell)
          await set.delete('a')
          assert.equal(set.object('a'), undefined, cell)
          assert.deepEqual(set.cloud.resources, [before], cell)
          assert.deepEqual(
            set.calls.filter((call) => call !== 'get' && call !== 'list'),
            [],
            cell,
          )
          cells++
        }
  assert.equal(cells, 16 * 4 * 2 * (CRASHES + 1))
})

test('XN3 matrix: a claim whose name is free gets its own resource, and takes it along, whenever the process dies', async () => {
  for (const offered of capabilities)
    for (const externalName of [undefined, 'mine'])
      for (const crashAt of crashPoints) await verifyOwnResource(offered, externalName, crashAt)
})

async function verifyOwnResource(
  offered: (typeof capabilities)[number],
  externalName: string | undefined,
  crashAt: number,
) {
  const set = new Setting(offered)
  const before = await set.foreign()
  set.crashAt = crashAt
  await set.create('a', { classRef }, externalName)
  await set.run('a')
  const cell = describe({ offered, externalName, crashAt })
  // Without a name, tag or token that proves who created the resource, a human decides and nothing is adopted.
  const provable = offered.naming === 'user-chosen' || offered.tags || offered.tokens
  assert.ok(set.own.length <= 1, cell)
  if (provable) assert.equal(set.synced('a')?.status, 'True', `${cell} ${set.synced('a')?.message}`)
  await set.delete('a')
  const names = set.cloud.resources.map(({ name }) => name)
  assert.ok(names.includes(before.name), cell)
  if (provable) assert.deepEqual(set.cloud.resources, [before], cell)
}

const adoptions: readonly AdoptionPolicy[] = ['Deny', 'Allow', 'AllowAndDelete']

test('XN3 matrix: adoption takes the permission of the class, and deletion a permission of its own', async () => {
  for (const offered of capabilities)
    for (const adoptionPolicy of adoptions) {
      const set = new Setting(offered)
      await set.foreign()
      await set.create('a', { classRef, adoptionPolicy }, FOREIGN)
      await set.run('a')
      const cell = describe({ offered, adoptionPolicy })
      assert.equal(set.synced('a')?.reason, adoptionPolicy === 'Deny' ? 'ExternalNameTaken' : 'ReconcileSuccess', cell)
      await set.delete('a')
      assert.equal(set.object('a'), undefined, cell)
      assert.equal(set.cloud.resources.length, adoptionPolicy === 'AllowAndDelete' ? 0 : 1, cell)
      assert.equal(set.calls.includes('delete'), adoptionPolicy === 'AllowAndDelete', cell)
    }
})

test('XN1 of two objects with one external identity the second stops, names the first, and takes over when it is gone', async () => {
  for (const first of [undefined, FOREIGN])
    for (const deletionPolicy of deletions) {
      const set = new Setting({ naming: 'user-chosen', tags: false, tokens: false, list: false })
      const name = first ? 'a' : FOREIGN
      await set.create(name, { deletionPolicy }, first)
      await set.run(name)
      await set.create('b', { forProvider: { ...config, size: 7 } }, FOREIGN)
      await set.create('watcher', { managementPolicies: ['Observe'] }, FOREIGN)
      await set.run('b')
      await set.run('watcher')
      assert.equal(set.synced('b')?.reason, 'ExternalNameTaken')
      assert.match(set.synced('b')?.message ?? '', new RegExp(`is managed by Thing ${name}: Thing b changes nothing`))
      assert.equal(set.synced('watcher')?.status, 'True', 'an observer shares it')
      assert.equal(set.synced(name)?.status, 'True')
      assert.ok(!set.calls.includes('update'))
      await set.delete(name)
      await set.run('b')
      assert.equal(set.synced('b')?.status, 'True', set.synced('b')?.message)
      assert.equal(set.cloud.resources[0]?.values['size'], 7)
      await set.delete('b')
      assert.equal(
        set.api.all().filter(({ kind }) => kind === reservationType.kind).length,
        0,
        'no reservation is left',
      )
    }
})

test('XN1 a second object that is deleted leaves the resource of the first', async () => {
  const set = new Setting({ naming: 'user-chosen', tags: false, tokens: false, list: false })
  await set.create('a', {}, 'shared')
  await set.run('a')
  await set.create('b', {}, 'shared')
  await set.run('b')
  await set.delete('b')
  assert.equal(set.cloud.resources.length, 1)
  assert.ok(!set.calls.includes('delete'))
})

test('ordinary resources write no reservation', async () => {
  const set = new Setting({ naming: 'user-chosen', tags: true, tokens: false, list: true })
  await set.create('a', {})
  await set.run('a')
  assert.equal(set.synced('a')?.status, 'True')
  assert.deepEqual(
    set.api.all().filter(({ kind }) => kind === reservationType.kind),
    [],
  )
})
