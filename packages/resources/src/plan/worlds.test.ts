import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { clone, conditionsOf, isObject, type KubeObject, type ObjectKey } from '@crosstie/kube'
import { compileSchema, type JSONSchemaProps } from '@crosstie/kube/schema'
import fc from 'fast-check'
import { secretType } from '../connection/publish.js'
import type { ManagedKind } from '../definition/managed.js'
import { defineProviderConfig } from '../definition/provider-config.js'
import { type ManagedController, managedController } from '../managed/controller.js'
import { policiesOf } from '../managed/policy/policy.js'
import { annotations } from '../metadata/metadata.js'
import { SimulatedCloud } from '../testing/cloud.js'
import { FakeApi } from '../testing/fakeapi.js'
import { thingOf } from '../testing/thing.js'
import { type Plan, planOf } from './document.js'
import { Imagination } from './imagined.js'
import { imagineAll, type PlanOptions } from './plan.js'
import type { ReconciliationRecord } from './record.js'
import { UNKNOWN } from './unknown.js'

/**
 * By default, the same 2,000 worlds are tested each time. CROSSTIE_PLAN_WORLDS=10000 tests that number of random
 * worlds, which takes minutes.
 */
const asked = process.env['CROSSTIE_PLAN_WORLDS']
const runs = asked ? { numRuns: Number(asked) } : { numRuns: 2_000, seed: 18 }

const page = new URL('../../../../docs/reference/plan.schema.json', import.meta.url)
const schema = compileSchema(JSON.parse(readFileSync(page, 'utf8')) as JSONSchemaProps)

/** Returns the violations of the published schema of plans. */
function complaints(plan: Plan): readonly unknown[] {
  const unknown: string[] = []
  const document = JSON.parse(JSON.stringify(plan))
  schema.prune(document, { root: true, unknown })
  return [...schema.validate(document), ...unknown]
}

type Values = Readonly<Record<string, unknown>>

const sizes = fc.integer({ min: 0, max: 3 })
const words = fc.constantFrom('a', 'b', 'c')
const tags = fc.dictionary(words, words, { maxKeys: 3 })

const parameters = fc.record(
  {
    size: sizes,
    scaling: fc.record({ min: sizes, desired: sizes }, { requiredKeys: [] }),
    members: fc.uniqueArray(words),
    tags,
  },
  { requiredKeys: [] },
)

const policyNames = ['Create', 'Update', 'Delete', 'Observe', 'LateInitialize']
const policies: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(['*']) },
  { weight: 2, arbitrary: fc.subarray(policyNames, { minLength: 1 }) },
  { weight: 1, arbitrary: fc.constant(['Observe']) },
  { weight: 1, arbitrary: fc.constant([]) },
)

const specs = fc.record({
  forProvider: parameters,
  initProvider: fc.option(parameters, { nil: undefined }),
  ignoreChanges: fc.subarray(['size', 'scaling.desired', 'tags[a]', 'tags[*]', 'members']),
  managementPolicies: policies,
  deletionPolicy: fc.constantFrom('Delete', 'Delete', 'Orphan'),
  password: fc.boolean(),
  publishes: fc.boolean(),
  refers: fc.constantFrom('not', 'not', 'byName', 'byLabel'),
})

type Spec = typeof specs extends fc.Arbitrary<infer T> ? T : never

const history = fc.record({
  /** The number of reconciliations before the world changes. */
  turns: fc.integer({ min: 0, max: 4 }),
  secondsBetween: fc.constantFrom(0, 3, 20),
  interrupted: fc.constantFrom('not', 'not', 'not', 'answerLost', 'refused'),
})

const moves = fc.record({
  meddle: fc.option(parameters, { nil: undefined }),
  vanish: fc.constantFrom(false, false, false, true),
  respec: fc.option(parameters, { nil: undefined }),
  repolicy: fc.option(policies, { nil: undefined }),
  rotate: fc.boolean(),
  remove: fc.constantFrom(false, false, true),
  pause: fc.nat(19).map((n) => n === 0),
  seconds: fc.constantFrom(0, 0, 40),
})

const capabilities = fc.record({
  naming: fc.constantFrom('user-chosen', 'provider-assigned'),
  tags: fc.boolean(),
  tokens: fc.boolean(),
  list: fc.boolean(),
})

const worlds = fc.record({
  capabilities,
  parent: specs,
  child: specs,
  history,
  moves: fc.tuple(moves, moves),
})

type Recorded = Values & { readonly call: string; readonly name: string }

/** How long a read may miss a new resource. */
const CONSISTENCY_SECONDS = 2

const providerConfig = defineProviderConfig({ group: 'sim.crosstie.io' })

/** A cloud, an API server and a real reconciler. All calls and writes are counted. */
class World {
  now = Date.UTC(2026, 0, 1)
  writes = 0
  /** The calls that the provider received. */
  readonly calls: Recorded[] = []
  readonly #clock = { now: () => this.now }
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  readonly kind: ManagedKind
  readonly #controller: ManagedController
  #fault: 'before' | 'after' | undefined

  constructor(capabilities: {
    readonly naming: 'user-chosen' | 'provider-assigned'
    readonly tags: boolean
    readonly tokens: boolean
    readonly list: boolean
  }) {
    const strike = (when: 'before' | 'after') => (call: string) => {
      if (call !== 'create' || this.#fault !== when) return
      this.#fault = undefined
      throw Object.assign(new Error('cut off'), { code: when === 'after' ? 'ECONNRESET' : 'REFUSED' })
    }
    this.cloud = new SimulatedCloud({
      ...capabilities,
      clock: this.#clock,
      consistencySeconds: CONSISTENCY_SECONDS,
      before: strike('before'),
      after: strike('after'),
    })
    this.api = new FakeApi({
      now: this.#clock.now,
      before: ({ verb }) => {
        if (verb !== 'get' && verb !== 'list') this.writes++
      },
    })
    this.kind = thingOf(this.cloud, { providerConfig })
    this.#controller = managedController(this.#recording(), { client: this.api, clock: this.#clock })
    const metadata = { name: 'default', uid: 'config', generation: 1 }
    const credentials = { source: 'Secret', secretRef: { name: 'credentials', namespace: 'default', key: 'key' } }
    const { group, version, kind } = providerConfig.type
    this.api.seed(providerConfig.type, { apiVersion: `${group}/${version}`, kind, metadata, spec: { credentials } })
    this.secret('credentials', 'the-provider-key')
  }

  #recording(): ManagedKind {
    const { external } = this.kind
    const note =
      (call: string, run: (given: never) => Promise<unknown>) =>
      async (given: { managed: KubeObject; client: unknown; signal: unknown; token?: string }) => {
        const { managed, client: _, signal: __, token: ___, ...told } = given
        this.calls.push(clone({ call, name: managed.metadata.name!, ...told }))
        return await run(given as never)
      }
    const recording = {
      create: note('Create', external.create.bind(external)),
      update: note('Update', external.update.bind(external)),
      delete: note('Delete', external.delete.bind(external)),
    }
    return { ...this.kind, external: Object.assign(Object.create(external), recording) }
  }

  secret(name: string, value: string): void {
    const held = this.api.peek(secretType, { namespace: 'default', name })
    this.api.seed(secretType, {
      apiVersion: 'v1',
      kind: 'Secret',
      ...held,
      metadata: { uid: `secret-${name}`, ...held?.metadata, namespace: 'default', name },
      data: { key: Buffer.from(value).toString('base64') },
    })
  }

  async create(name: string, spec: Spec, more: Values = {}): Promise<void> {
    const { group, version, kind } = this.kind.type
    const object = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name, labels: { name }, annotations: more as Record<string, string> },
      spec: this.specOf(name, spec),
    }
    await this.api.create(this.kind.type, object)
  }

  specOf(name: string, spec: Spec): Values {
    const { forProvider, initProvider, ignoreChanges, managementPolicies, deletionPolicy } = spec
    const { password, publishes, refers } = spec
    if (password) this.secret(name, `${name}-password-1`)
    const refer = name === 'parent' ? 'not' : refers
    return {
      managementPolicies,
      deletionPolicy,
      ignoreChanges,
      providerConfigRef: { name: 'default' },
      ...(publishes ? { writeConnectionSecretToRef: { namespace: 'default', name: `${name}-connection` } } : {}),
      forProvider: {
        region: 'r1',
        flavor: 'sweet',
        ...forProvider,
        ...(password ? { passwordSecretRef: { namespace: 'default', name, key: 'key' } } : {}),
        ...(refer === 'byName' ? { parentIdRef: { name: 'parent' } } : {}),
        ...(refer === 'byLabel' ? { parentIdSelector: { matchLabels: { name: 'parent' } } } : {}),
      },
      ...(initProvider ? { initProvider } : {}),
    }
  }

  object(name: string): KubeObject | undefined {
    return this.api.peek(this.kind.type, { name })
  }

  /** Returns the status and reason of a condition of the object. */
  condition(name: string, type: string): string {
    const found = conditionsOf(this.object(name)!).find((each) => each.type === type)
    return found ? `${found.status} ${found.reason}` : ''
  }

  async reconciliation(name: string): Promise<void> {
    await this.#controller.reconcile({ name }, new AbortController().signal)
  }

  async live({ turns, secondsBetween, interrupted }: typeof history extends fc.Arbitrary<infer T> ? T : never) {
    if (interrupted !== 'not') this.#fault = interrupted === 'answerLost' ? 'after' : 'before'
    for (let i = 0; i < turns; i++) {
      for (const name of ['parent', 'child']) if (this.object(name)) await this.reconciliation(name)
      this.now += secondsBetween * 1000
    }
    this.#fault = undefined
  }

  async move(name: string, change: typeof moves extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
    const held = this.object(name)
    if (!held) return
    const external = this.cloud.resources.find(
      (each) => each.name === held.metadata.annotations?.[annotations.externalName],
    )
    if (external && change.meddle) {
      const { tags: added = {}, ...values } = change.meddle
      this.cloud.meddle(external.name, values, this.cloud.options.tags ? added : {})
    }
    if (external && change.vanish) await this.cloud.delete(external.name)
    if (change.rotate && (held['spec'] as { forProvider: Values }).forProvider['passwordSecretRef']) {
      this.secret(name, `${name}-password-2`)
    }
    const spec = held['spec'] as { forProvider: Values }
    const forProvider = { ...spec.forProvider, ...change.respec }
    const repoliced = change.repolicy ? { managementPolicies: change.repolicy } : {}
    const notes = { ...held.metadata.annotations, ...(change.pause ? { [annotations.paused]: 'true' } : {}) }
    const metadata = { ...held.metadata, annotations: notes }
    await this.api.update(this.kind.type, { ...held, metadata, spec: { ...spec, ...repoliced, forProvider } })
    if (change.remove) await this.api.delete(this.kind.type, { name })
    this.now += change.seconds * 1000
  }

  askForApproval(byConfig: boolean): void {
    const asks = { [annotations.approval]: 'required' }
    const held = this.api.peek(providerConfig.type, { name: 'default' })!
    if (byConfig) this.api.seed(providerConfig.type, { ...held, metadata: { ...held.metadata, annotations: asks } })
    else this.annotate(asks)
  }

  annotate(added: Readonly<Record<string, string>>): void {
    const held = this.object('parent')!
    const metadata = { ...held.metadata, annotations: { ...held.metadata.annotations, ...added } }
    this.api.seed(this.kind.type, { ...held, metadata })
  }

  /** Returns the whole state, to detect any change. */
  snapshot(): string {
    return JSON.stringify([this.api.all(), this.cloud.resources, this.now])
  }

  imagination(): Imagination {
    return new Imagination(this.api)
  }

  async plan(world: Imagination, names: readonly string[], more: Partial<PlanOptions> = {}) {
    const subjects = names.map((name) => ({ kind: this.kind, key: { name } as ObjectKey }))
    return await imagineAll({ world, clock: this.#clock, ...more }, subjects, new AbortController().signal)
  }
}

/** Returns the planned value, with unknown parts replaced by the real values. */
function learned(planned: unknown, real: unknown): unknown {
  if (planned === UNKNOWN && typeof real === 'string') return real
  if (Array.isArray(planned)) return planned.map((item, i) => learned(item, Array.isArray(real) ? real[i] : undefined))
  if (!isObject(planned)) return planned
  return Object.fromEntries(
    Object.entries(planned).map(([key, value]) => [key, learned(value, isObject(real) ? real[key] : undefined)]),
  )
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

/** Returns the parts of an object that a plan covers. */
function parts(object: KubeObject | undefined): unknown {
  return plain(object && { spec: object['spec'], finalizers: object.metadata.finalizers })
}

test('plan: nothing is written, and what is then executed is what was planned, call by call', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ capabilities, parent, child, history, moves: [first, second] }) => {
      const world = new World(capabilities)
      await world.create('parent', parent)
      await world.create('child', child)
      await world.live(history)
      await world.move('parent', first)
      await world.move('child', second)
      const names = ['parent', 'child'].filter((name) => world.object(name))

      const before = world.snapshot()
      const { writes, cloud } = world
      const made = { ...cloud.calls }
      const imagination = world.imagination()
      const planned = await world.plan(imagination, names)
      assert.equal(world.snapshot(), before, 'the world is as it was')
      assert.equal(world.writes, writes, 'no write was sent to the API')
      for (const call of ['create', 'update', 'delete'] as const) assert.equal(cloud.calls[call], made[call])

      world.calls.length = 0
      assert.deepEqual(complaints(planOf(planned.map(({ resource }) => resource))), [])
      const spoken = JSON.stringify(planned.map(({ resource }) => resource))
      assert.ok(!/password-[12]|the-provider-key/.test(spoken), `no secret is told: ${spoken}`)
      for (const [i, name] of names.entries()) {
        const { record, resource } = planned[i]!
        world.calls.length = 0
        await world.reconciliation(name)
        const expected = record.calls.map(({ observed: _, ...call }) => ({ name, ...call }))
        if (resource.outcome === 'error') {
          assert.deepEqual(world.calls, [], `${name}: ${resource.error}`)
          continue
        }
        assert.deepEqual(plain(learned(expected, world.calls)), plain(world.calls), name)
        const real = world.object(name)
        const imagined = await imagination.find(world.kind.type, { name })
        assert.deepEqual(learned(parts(imagined), parts(real)), parts(real), `${name} afterwards`)
        const secret = { namespace: 'default', name: `${name}-connection` }
        const keys = (object: KubeObject | undefined) => Object.keys((object?.['data'] ?? {}) as object).sort()
        const published = keys(world.api.peek(secretType, secret))
        const foreseen = keys(await imagination.find(secretType, secret))
        // The response of the provider to a create, such as an endpoint, is known only afterwards.
        for (const key of foreseen) assert.ok(published.includes(key), `${key} in the Secret of ${name}`)
      }
    }),
    runs,
  )
})

const movesAfter = fc.option(
  moves.map((move) => ({ ...move, pause: false })),
  { nil: undefined, freq: 3 },
)

/** Returns all inputs of an approved call: its parameters, the observed state, the policies and the Secret. */
function circumstances(world: World, { calls }: ReconciliationRecord): string {
  const spec = world.object('parent')!['spec'] as Spec
  const { may, onlyObserve } = policiesOf(spec, { gate: true, hasDeletionPolicy: true })
  const secret = world.api.peek(secretType, { namespace: 'default', name: 'parent' })
  const uses = (spec.forProvider as Values)['passwordSecretRef'] && secret?.metadata.resourceVersion
  // Members are a set, so their order is ignored.
  const seen = calls.map(({ observed = {}, ...call }) => {
    return { ...call, observed: { ...observed, members: [...((observed['members'] ?? []) as string[])].sort() } }
  })
  return JSON.stringify([may, onlyObserve, spec.ignoreChanges, uses, seen])
}

test('approval: an approved plan is executed as it was approved, once, and never after the world moved', async () => {
  const cases = fc.record({
    capabilities,
    spec: specs,
    history,
    first: moves.map((move) => ({ ...move, pause: false })),
    second: movesAfter,
    byConfig: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ capabilities, spec, history, first, second, byConfig }) => {
      const world = new World(capabilities)
      await world.create('parent', spec)
      await world.live(history)
      await world.move('parent', first)
      if (!world.object('parent')) return
      world.askForApproval(byConfig)
      world.calls.length = 0
      const [planned] = await world.plan(world.imagination(), ['parent'])
      const { digest, approval } = planned!.resource
      if (digest === undefined) return
      assert.equal(approval, 'Required')
      await world.reconciliation('parent')
      assert.deepEqual(world.calls, [], 'nobody approved it')
      assert.equal(world.condition('parent', 'Approved'), 'False ApprovalRequired')

      world.annotate({ [annotations.approvedPlan]: digest })
      const before = circumstances(world, planned!.record)
      if (second) await world.move('parent', second)
      if (!world.object('parent')) return
      const [was] = world.cloud.resources
      const [now] = await world.plan(world.imagination(), ['parent'])
      const moved = circumstances(world, now!.record) !== before
      await world.reconciliation('parent')
      if (moved) {
        assert.deepEqual(world.calls, [], 'the world moved')
        if (now!.resource.digest) assert.equal(world.condition('parent', 'Approved'), 'False StalePlan')
        return
      }
      const expected = planned!.record.calls.map(({ observed: _, ...call }) => ({ name: 'parent', ...call }))
      assert.deepEqual(plain(world.calls), plain(expected), 'it is what was approved')
      if (expected[0]!.call === 'Delete' || !world.object('parent')) return
      // A call that the provider rejected was not executed. An example is a create after an interrupted create.
      if (!world.condition('parent', 'Synced').startsWith('True')) return
      assert.equal(world.object('parent')!.metadata.annotations?.[annotations.executedPlan], digest)

      world.calls.length = 0
      const external = world.cloud.resources[0]!
      if (was) world.cloud.meddle(external.name, was.values, was.tags)
      else await world.cloud.delete(external.name)
      world.now += 60_000
      await world.reconciliation('parent')
      assert.deepEqual(world.calls, [], 'an approval is good for one execution')
    }),
    runs,
  )
})
