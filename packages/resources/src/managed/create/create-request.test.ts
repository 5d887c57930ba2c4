import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, conditionsOf, type KubeObject } from '@crosstie/kube'
import { annotations } from '../../metadata/metadata.js'
import { SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { managedController } from '../controller.js'
import { UncertainError } from './create.js'

const key = { name: 'a' }
const clock = { now: () => Date.UTC(2026, 0, 1) }
const capabilities = { naming: 'provider-assigned', tags: false, tokens: true, list: false, clock } as const

/** A cloud that identifies creates only by token and interrupts the first one, before or after it takes effect. */
class Doubtful extends SimulatedCloud {
  readonly asked: unknown[] = []
  #first = true

  constructor(private readonly tookEffect: boolean) {
    super(capabilities)
  }

  override async create(wanted: Parameters<SimulatedCloud['create']>[0]) {
    const size = wanted.values['size']
    this.asked.push(size)
    const cutOff = this.#first
    this.#first = false
    if (cutOff && !this.tookEffect) throw new UncertainError('the line went dead')
    if (size === 99 && !this.tookEffect) throw new Error('99 is too large')
    const made = await super.create(wanted)
    if (cutOff) throw new UncertainError('the line went dead')
    return made
  }
}

async function healed(tookEffect: boolean): Promise<{ cloud: Doubtful; object: KubeObject }> {
  const cloud = new Doubtful(tookEffect)
  const api = new FakeApi(clock)
  const { reconcile, type } = managedController(thingOf(cloud), { client: api, clock })
  const forProvider = { region: 'r', flavor: 'sweet', size: 99 }
  const spec = { managementPolicies: ['*'], forProvider }
  await api.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata: key, spec })
  const reconciliation = () => reconcile(key, AbortSignal.timeout(60_000))
  await reconciliation()
  const patch = { spec: { forProvider: { size: 2 } } }
  await api.patch(type, key, { type: 'merge', patch })
  for (let i = 0; i < 6; i++) await reconciliation()
  return { cloud, object: api.peek(type, key)! }
}

const settings = [
  { tookEffect: true, asked: [99, 99], because: 'the token gives what the first create made, then it is updated' },
  {
    tookEffect: false,
    asked: [99, 99, 2],
    because: 'what was never acceptable gives way to what the spec says by now',
  },
]

for (const { tookEffect, asked, because } of settings) {
  test(`XN2 a spec that is edited while a create is in doubt: ${because}`, async () => {
    const { cloud, object } = await healed(tookEffect)
    assert.deepEqual(cloud.asked, asked)
    assert.deepEqual(
      cloud.resources.map(({ values }) => values['size']),
      [2],
    )
    assert.ok(conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True'))
    assert.equal(object.metadata.annotations?.[annotations.asked], undefined, 'the note is gone when all is known')
  })
}
