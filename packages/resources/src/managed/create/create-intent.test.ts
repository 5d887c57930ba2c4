import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf } from '@crosstie/kube'
import { aggregateType } from '../../definition/aggregate.js'
import { absent, present } from '../../definition/external.js'
import { defineManaged } from '../../definition/managed.js'
import { s } from '../../definition/schema.js'
import { annotations } from '../../metadata/metadata.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { managedController } from '../controller.js'

const key = { name: 'a' }
const { signal } = new AbortController()

/** A cloud with one resource whose create takes effect when the test releases it. */
class Setting {
  now = Date.UTC(2026, 0, 1)
  exists = false
  creates = 0
  /** The create waits for this promise before it takes effect. */
  held: Promise<void> = Promise.resolve()
  readonly api = new FakeApi({ now: () => this.now })
  readonly kind = defineManaged({
    group: 'sim.crosstie.io',
    version: 'v1',
    kind: 'Page',
    parameters: s.object({ text: s.optional(s.string()) }),
    observation: s.object({ id: s.string() }),
    naming: 'user-chosen',
    idempotentCreate: true,
    connect: () => undefined,
    observe: async ({ externalName }) =>
      this.exists ? present({ externalName, ready: true, atProvider: { id: externalName } }) : absent,
    create: async ({ externalName }) => {
      this.creates++
      await this.held
      this.exists = true
      return { externalName }
    },
    update: async () => {},
    delete: async () => {
      this.exists = false
    },
  })

  /** Starts a process that reconciles the kind. */
  process() {
    const clock = { now: () => this.now }
    const { reconcile } = managedController(this.kind, { client: this.api, clock, callSeconds: 30 })
    return () => reconcile(key, signal)
  }

  async make(metadata: object = {}): Promise<void> {
    const { type } = this.kind
    const spec = { forProvider: {}, managementPolicies: ['*'], deletionPolicy: 'Delete' }
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...key, ...metadata }, spec }
    await this.api.create(type, object)
  }

  get object() {
    return this.api.peek(this.kind.type, key)
  }
}

test('XN2 an object is not let go while the create of another process may take effect', async () => {
  const setting = new Setting()
  await setting.make()
  const [first, second] = [setting.process(), setting.process()]
  let release = () => {}
  setting.held = new Promise((resolve) => {
    release = resolve
  })
  const creating = first()
  while (setting.creates === 0) await new Promise((resolve) => setImmediate(resolve))
  await setting.api.delete(setting.kind.type, key)

  await second()
  assert.ok(setting.object, 'nothing is to be seen of what the first began, and yet it may come')
  release()
  await creating.catch(() => {})
  assert.ok(setting.exists)
  await second()
  assert.ok(!setting.exists, 'it was there to be deleted')
  await second()
  assert.equal(setting.object, undefined, 'the first had reported that it was done')
})

test('XN2 what a process began that died is waited for, but not forever', async () => {
  const setting = new Setting()
  await setting.make()
  setting.held = new Promise(() => {})
  void setting.process()()
  while (setting.creates === 0) await new Promise((resolve) => setImmediate(resolve))
  await setting.api.delete(setting.kind.type, key)
  const second = setting.process()
  await second()
  setting.now += 29_000
  await second()
  assert.ok(setting.object)
  setting.now += 2_000
  await second()
  assert.equal(setting.object, undefined)
})

test('whoever began a create alone lets go at once', async () => {
  const setting = new Setting()
  await setting.make()
  const only = setting.process()
  await only()
  assert.match(setting.object?.metadata.annotations?.[annotations.creating] ?? '', /^\w+=2026-01-01T00:00:00.000Z$/)
  await setting.api.delete(setting.kind.type, key)
  for (let i = 0; i < 3 && setting.object; i++) await only()
  assert.equal(setting.object, undefined)
  assert.equal(setting.exists, false)
})

test('after a restart an object that was well is let go at once', async () => {
  const setting = new Setting()
  await setting.make()
  await setting.process()()
  await setting.api.delete(setting.kind.type, key)
  const restarted = setting.process()
  for (let i = 0; i < 3 && setting.object; i++) await restarted()
  assert.equal(setting.object, undefined)
})

test('who began before is remembered while it matters, and no longer', async () => {
  const setting = new Setting()
  await setting.make()
  await setting.process()()
  setting.exists = false
  setting.now += 10_000
  await setting.process()()
  const noted = () => setting.object!.metadata.annotations![annotations.creating]!.split(' ').length
  assert.equal(noted(), 2)
  setting.exists = false
  setting.now += 60_000
  await setting.process()()
  assert.equal(noted(), 1)
})

test('AGG9 nothing is created for a part whose aggregate goes away, or is gone', async () => {
  const setting = new Setting()
  const aggregate = { apiVersion: apiVersionOf(aggregateType), kind: aggregateType.kind, metadata: { name: 'whole' } }
  const finalizers = ['test/holds']
  await setting.api.create(aggregateType, { ...aggregate, metadata: { name: 'whole', finalizers } })
  const { uid } = setting.api.peek(aggregateType, { name: 'whole' })!.metadata
  const owner = { apiVersion: aggregate.apiVersion, kind: aggregate.kind, name: 'whole', uid, controller: true }
  await setting.make({ ownerReferences: [owner] })
  const reconcile = setting.process()
  await setting.api.delete(aggregateType, { name: 'whole' })
  await reconcile()
  assert.equal(setting.creates, 0, 'it is being deleted')
  await setting.api.patch(aggregateType, { name: 'whole' }, { type: 'merge', patch: { metadata: { finalizers: [] } } })
  assert.ok(setting.object, 'who takes the aggregate apart decides when it goes')
  await reconcile()
  assert.equal(setting.creates, 0, 'it is gone')
  assert.equal(setting.object, undefined, 'nobody else knows of the part: it goes without having been anything')
})
