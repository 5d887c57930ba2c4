import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { finalizer } from '../../metadata/metadata.js'
import { type CloudCapabilities, SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { type ManagedController, managedController } from '../controller.js'

const NAME = 'crossplane.io/external-name'

/** A way in which the name of an existing external resource is lost. */
type Loss = 'annotation removed' | 'mistyped' | 'another resource named' | 'metadata replaced'

const losses: readonly Loss[] = ['annotation removed', 'mistyped', 'another resource named', 'metadata replaced']
const yesNo = [true, false]

class Scene {
  now = Date.UTC(2026, 0, 1)
  readonly events: string[] = []
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  controller: ManagedController

  constructor(readonly capabilities: CloudCapabilities) {
    const clock = { now: () => this.now }
    this.cloud = new SimulatedCloud({ ...capabilities, clock })
    this.api = new FakeApi({ now: clock.now })
    this.controller = this.start()
  }

  start(): ManagedController {
    return managedController(thingOf(this.cloud), {
      client: this.api,
      clock: { now: () => this.now },
      events: { event: (_, type, reason) => this.events.push(`${type} ${reason}`) },
    })
  }

  get object(): KubeObject | undefined {
    return this.api.peek(this.controller.type, { name: 'a' })
  }

  async create(annotations: Readonly<Record<string, string>>): Promise<void> {
    const { type } = this.controller
    await this.api.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name: 'a', ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      spec: {
        managementPolicies: ['*'],
        deletionPolicy: 'Delete',
        forProvider: { region: 'r', flavor: 'sweet', size: 1 },
      },
    })
    await this.run()
  }

  async run(): Promise<void> {
    for (let i = 0; i < 8; i++) {
      await this.controller.reconcile({ name: 'a' }, new AbortController().signal)
      this.now += 20_000
    }
  }

  lose(loss: Loss, stranger: string): void {
    const { metadata, ...rest } = this.object!
    const { [NAME]: _, ...kept } = metadata.annotations ?? {}
    const { annotations: __, finalizers: ___, ...bare } = metadata
    const given = loss === 'mistyped' ? 'typo' : stranger
    const changed =
      loss === 'metadata replaced'
        ? bare
        : { ...metadata, annotations: loss === 'annotation removed' ? kept : { ...kept, [NAME]: given } }
    this.api.seed(this.controller.type, { ...rest, metadata: changed } as KubeObject)
  }

  loseStatus(): void {
    const { status: _, ...rest } = this.object!
    this.api.seed(this.controller.type, rest as KubeObject)
  }
}

/**
 * Reports whether no stored record shows that a resource was created, or its name. Only tags can help then.
 * Admission prevents this state (XN1).
 */
function isBeyondHelp(loss: Loss, { tags, list, naming }: CloudCapabilities, statusLost: boolean, restarted: boolean) {
  if (!statusLost || !restarted || loss === 'annotation removed') return false
  if (loss === 'metadata replaced') return !tags || (naming === 'user-chosen' && !list)
  return !tags || (naming === 'user-chosen' && !list)
}

for (const naming of ['user-chosen', 'provider-assigned'] as const) {
  for (const bits of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const capabilities = { naming, tags: (bits & 1) > 0, tokens: (bits & 2) > 0, list: (bits & 4) > 0 }
    const has = ['tags', 'tokens', 'list'].filter((_, i) => bits & (1 << i)).join(', ') || 'none'
    test(`XN1 losing a name never leads to a create: names ${naming}, ${has}`, async () => {
      for (const loss of losses)
        for (const statusLost of yesNo)
          for (const restarted of yesNo)
            for (const deleted of yesNo)
              for (const custom of yesNo) {
                if (isBeyondHelp(loss, capabilities, statusLost, restarted)) continue
                const what = JSON.stringify({ loss, statusLost, restarted, deleted, custom })
                const scene = new Scene(capabilities)
                const { cloud } = scene
                await scene.create(custom && naming === 'user-chosen' ? { [NAME]: 'custom' } : {})
                const [ours] = cloud.resources
                const values = { flavor: 'sour', size: 9 }
                const stranger = await cloud.create({ name: 'stranger', region: 'r', values, tags: {}, token: 'other' })
                const calls = { ...cloud.calls }
                scene.lose(loss, stranger.name)
                if (statusLost) scene.loseStatus()
                if (restarted) scene.controller = scene.start()
                if (deleted) await scene.api.delete(scene.controller.type, { name: 'a' })
                await scene.run()
                assert.equal(cloud.calls.create, calls.create, `${what}: creates`)
                assert.equal(cloud.calls.update, calls.update, `${what}: updates`)
                const left = cloud.resources.map(({ name }) => name)
                assert.ok(left.includes(stranger.name), `${what}: the other resource stays`)
                check(scene, ours!.name, deleted, loss, what)
              }
    })
  }
}

/** Asserts that the object recovers its resource, or that it stops, keeps its resource and reports this. */
function check({ object, cloud, events }: Scene, ours: string, deleted: boolean, loss: Loss, what: string): void {
  const left = cloud.resources.map(({ name }) => name)
  const synced = object && conditionsOf(object).find(({ type }) => type === 'Synced')
  if (synced?.reason === 'ExternalNameLost') {
    assert.ok(left.includes(ours), `${what}: it is still there`)
    assert.match(synced.message ?? '', /Set the annotation to the name of the external resource/)
    assert.ok(events.includes('Warning ExternalNameLost'))
    return
  }
  if (deleted) {
    assert.equal(object, undefined, `${what}: gone`)
    // Without the finalizer, the API server removes the object at once. Only admission prevents that.
    if (loss !== 'metadata replaced') assert.ok(!left.includes(ours), `${what}: deleted`)
    return
  }
  assert.equal(synced?.status, 'True', `${what}: ${JSON.stringify(synced)}`)
  assert.equal(object!.metadata.annotations?.[NAME], ours, `${what}: restored`)
  assert.ok(object!.metadata.finalizers?.includes(finalizer), `${what}: the finalizer is back`)
}
