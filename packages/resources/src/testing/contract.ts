import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, type Client, conditionsOf, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { managedController } from '../managed/controller.js'
import { UncertainError } from '../managed/create/create.js'
import { externalNameOf } from '../metadata/metadata.js'
import { FakeApi } from './fakeapi.js'

/** The system that a kind is tested against: an emulator, a sandbox account or the simulated cloud. */
export interface System {
  /** The kind, connected to the system. */
  readonly kind: ManagedKind
  /** The forProvider of a resource that the system can create. */
  readonly example: Readonly<Record<string, unknown>>
  /** Additional fields of the spec, such as the Secret for a generated password. */
  readonly spec?: Readonly<Record<string, unknown>>
  /** A change of forProvider that an update supports. */
  readonly change?: Readonly<Record<string, unknown>>
  /** Changes the resource outside of the control plane, so that it differs from the example. */
  readonly meddle?: (externalName: string) => Promise<void>
  /** Returns whether the resource exists, without using the kind. */
  readonly exists: (externalName: string) => Promise<boolean>
  /** Returns the number of resources of the kind. Absent if it is unknown. */
  readonly count?: () => Promise<number>
  readonly client?: Client
  /** Advances time between two reconciliations. Absent if not required. */
  readonly pass?: (milliseconds: number) => Promise<void>
  readonly now?: () => number
  /** The maximum number of reconciliations until a new resource is ready. */
  readonly patience?: number
}

/**
 * Registers the conformance tests of a kind: it reports absent resources, creates once, observes the actual state,
 * detects and corrects drift, and deletes completely.
 */
export function kindContract(name: string, open: () => Promise<System>): void {
  test(`${name}: life from create to delete`, async () => {
    const world = await World.open(await open())
    await world.apply(world.system.example)
    await world.settle()
    const externalName = externalNameOf(world.object())
    assert.notEqual(externalName, '', 'XN1 the external name is noted')
    assert.ok(await world.system.exists(externalName), 'the resource was made')

    const quiet = world.writes
    await world.reconcile()
    assert.equal(world.writes, quiet, 'nothing is written when nothing changed')

    await world.client.delete(world.kind.type, { name: 'contract' })
    await world.untilGone()
    assert.equal(await world.system.exists(externalName), false, 'the resource went with its object')
  })

  test(`${name}: XN2 a create whose answer is lost makes one resource`, async (t) => {
    const system = await open()
    const { kind, count } = system
    const findable = kind.naturalKey || kind.token || kind.tags || kind.external.list
    if (!count || !findable)
      return t.skip(count ? 'the API offers no way to find it again' : 'resources cannot be counted')
    let lost = 0
    const create: typeof kind.external.create = async (call) => {
      const created = await kind.external.create(call)
      if (lost++ === 0) throw new UncertainError('the answer was lost')
      return created
    }
    const external = Object.assign(Object.create(kind.external), { create })
    const world = await World.open({ ...system, kind: { ...kind, external } })
    const before = await count()
    await world.apply(system.example)
    await world.settle()
    assert.equal((await count()) - before, 1)
    await world.cleanUp()
    assert.equal(await count(), before, 'and none is left')
  })

  test(`${name}: deleting what is gone is no error`, async () => {
    const world = await World.open(await open())
    const { kind, example } = world.system
    await world.apply(example)
    await world.settle()
    const managed = world.object()
    await world.cleanUp()
    const signal = AbortSignal.timeout(60_000)
    const client = await world.connect(managed, signal)
    await kind.external.delete({ client, managed, externalName: externalNameOf(managed), forProvider: example, signal })
  })

  test(`${name}: MR5 the status is made again from nothing`, async () => {
    const world = await World.open(await open())
    await world.apply(world.system.example)
    await world.settle()
    const before = world.object()
    await world.client.update(world.kind.type, { ...before, status: {} }, { subresource: 'status' })
    await world.settle()
    const told = (object: KubeObject) => (object['status'] as { atProvider?: unknown }).atProvider
    assert.deepEqual(told(world.object()), told(before))
    await world.cleanUp()
  })

  test(`${name}: drift is seen, and mended only where that is allowed`, async (t) => {
    const world = await World.open(await open())
    const { meddle, example } = world.system
    if (!meddle) return t.skip('the system cannot be meddled with')
    await world.apply(example)
    await world.settle()
    await meddle(externalNameOf(world.object()))
    await world.apply(example, { managementPolicies: ['Observe', 'Create', 'Delete'] })
    await world.reconcile()
    assert.equal(world.condition('Drifted')?.status, 'True', 'MR14 what differs is shown')
    await world.apply(example)
    await world.reconcile()
    await world.reconcile()
    assert.notEqual(world.condition('Drifted')?.status, 'True', 'it was mended')
    await world.cleanUp()
  })

  test(`${name}: a change of the spec is made, once`, async (t) => {
    const system = await open()
    const { kind, example, change } = system
    if (!change) return t.diagnostic('nothing of it can be changed')
    let updates = 0
    const update: typeof kind.external.update = async (call) => {
      updates++
      return await kind.external.update(call)
    }
    const external = Object.assign(Object.create(kind.external), { update })
    const world = await World.open({ ...system, kind: { ...kind, external } })
    await world.apply(example)
    await world.settle()
    updates = 0
    await world.apply({ ...example, ...change })
    await world.reconcile()
    assert.equal(updates, 1, 'the change was sent')
    await world.settle()
    await world.reconcile()
    assert.notEqual(world.condition('Drifted')?.status, 'True', 'it is as asked for')
    assert.equal(updates, 1, 'and not sent again')
    await world.cleanUp()
  })

  test(`${name}: a list shows what a look shows`, async (t) => {
    const world = await World.open(await open())
    const { kind, example } = world.system
    if (!kind.external.list) return t.diagnostic('the API cannot list')
    await world.apply(example)
    await world.settle()
    const managed = world.object()
    const externalName = externalNameOf(managed)
    const { forProvider } = managed['spec'] as { forProvider: object }
    const signal = AbortSignal.timeout(60_000)
    const client = await world.connect(managed, signal)
    const seen = await kind.external.observe({ client, managed, externalName, forProvider, signal })
    const listed = await kind.external.list({ client, forProvider, signal })
    const found = listed.find((each) => each.externalName === externalName)
    assert.ok(found, `${externalName} is in the list`)
    assert.deepEqual(found.atProvider, seen.exists ? seen.atProvider : undefined)
    await world.cleanUp()
  })

  test(`${name}: OBS3 observing what is not there makes nothing`, async () => {
    const world = await World.open(await open())
    await world.apply(world.system.example, { managementPolicies: ['Observe'] }, 'no-such-thing')
    await world.reconcile()
    assert.equal(world.condition('Synced')?.status, 'False')
    assert.equal(await world.system.exists('no-such-thing'), false)
    await world.cleanUp()
  })
}

class World {
  readonly kind: ManagedKind
  writes = 0
  readonly #controller
  readonly client: Client

  static async open(system: System): Promise<World> {
    return new World(system)
  }

  private constructor(readonly system: System) {
    this.kind = system.kind
    const now = system.now ?? Date.now
    this.client =
      system.client ??
      new FakeApi({
        now,
        before: ({ verb }) => {
          if (verb !== 'get' && verb !== 'list') this.writes++
        },
      })
    this.#controller = managedController(this.kind, { client: this.client, clock: { now } })
  }

  async connect(managed: KubeObject, signal: AbortSignal): Promise<unknown> {
    const context = {
      managed,
      config: undefined,
      api: this.client,
      follow: () => {},
      trackChanges: () => () => {},
      signal,
    }
    return await this.kind.external.connect(context)
  }

  object(): KubeObject {
    const found = (this.client as FakeApi).peek(this.kind.type, { name: 'contract' })
    assert.ok(found, 'the object is there')
    return found
  }

  condition(type: string) {
    return conditionsOf(this.object()).find((condition) => condition.type === type)
  }

  async apply(forProvider: object, more: object = {}, externalName?: string): Promise<void> {
    const { type } = this.kind
    const spec = { managementPolicies: ['*'], deletionPolicy: 'Delete', ...this.system.spec, ...more, forProvider }
    const held = (this.client as FakeApi).peek(type, { name: 'contract' })
    if (held) {
      await this.client.update(type, { ...held, spec })
      return
    }
    const annotations: Record<string, string> = externalName ? { 'crossplane.io/external-name': externalName } : {}
    const metadata = { name: 'contract', annotations }
    await this.client.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec })
  }

  async reconcile(): Promise<void> {
    await this.#controller.reconcile({ name: 'contract' }, AbortSignal.timeout(120_000))
  }

  async settle(): Promise<void> {
    for (let i = 0; i < (this.system.patience ?? 20); i++) {
      await this.reconcile()
      if (this.condition('Ready')?.status === 'True' && this.condition('Synced')?.status === 'True') return
      await this.system.pass?.(5_000)
    }
    assert.fail(`not ready: ${JSON.stringify(conditionsOf(this.object()))}`)
  }

  async untilGone(): Promise<void> {
    for (let i = 0; i < (this.system.patience ?? 20); i++) {
      await this.reconcile()
      if (!(this.client as FakeApi).peek(this.kind.type, { name: 'contract' })) return
      await this.system.pass?.(5_000)
    }
    assert.fail('the object does not go')
  }

  async cleanUp(): Promise<void> {
    await this.client.delete(this.kind.type, { name: 'contract' })
    await this.untilGone()
  }
}
