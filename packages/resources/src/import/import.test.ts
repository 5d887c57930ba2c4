import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, isDNS1123Subdomain, type KubeObject, systemClock } from '@crosstie/kube'
import fc from 'fast-check'
import { unlimited } from '../external/budget.js'
import { managedController } from '../managed/controller.js'
import { Imagination } from '../plan/imagined.js'
import { plan } from '../plan/plan.js'
import { SimulatedCloud } from '../testing/cloud.js'
import { FakeApi } from '../testing/fakeapi.js'
import { thingOf } from '../testing/thing.js'
import { type Discovered, discover, type FieldMatch } from './discover.js'
import { promote } from './promote.js'

const surroundings = { environment: {}, readFile: async () => '' }
const signal = new AbortController().signal

/** Foreign resources in two regions, and a control plane without objects for them. */
class World {
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  readonly kind
  readonly #controller

  constructor(naming: 'user-chosen' | 'provider-assigned' = 'provider-assigned', before?: () => void) {
    const options = { naming, tags: true, tokens: false, list: true, clock: systemClock } as const
    this.cloud = new SimulatedCloud(options)
    this.api = new FakeApi(before ? { after: before } : {})
    this.kind = thingOf(this.cloud, { consistencySeconds: 0 })
    this.#controller = managedController(this.kind, { client: this.api })
  }

  async make(region: string, values: object, tags: Record<string, string> = {}, name = ''): Promise<string> {
    const made = await this.cloud.create({ name, region, values: { flavor: 'sweet', ...values }, tags, token: '' })
    return made.name
  }

  async discover(filters: readonly FieldMatch[] = [], regions = ['eu', 'us']): Promise<readonly Discovered[]> {
    const { kind } = this
    const reach = { client: this.api, surroundings, budgets: unlimited }
    const identifiers = { region: regions }
    const options = { reach, kinds: [kind], known: [kind], identifiers, providerConfig: 'default', filters }
    return await discover(options, signal)
  }

  async apply(found: readonly Discovered[]): Promise<void> {
    for (const { object } of found) {
      const { status: _, ...manifest } = object
      await this.api.create(this.kind.type, manifest as KubeObject)
    }
  }

  async settle(names: readonly string[]): Promise<void> {
    for (let i = 0; i < 3; i++) for (const name of names) await this.#controller.reconcile({ name }, signal)
  }

  async promote(name: string, dryRun = false) {
    return await promote({ client: this.api, policies: ['*'], dryRun, surroundings }, { kind: this.kind, name }, signal)
  }

  async plan(name: string) {
    const options = { world: new Imagination(this.api), surroundings }
    const { resources } = await plan(options, [{ kind: this.kind, key: { name } }], signal)
    return resources[0]!
  }

  /** The calls that may have changed a resource. */
  get writes(): readonly number[] {
    const { create, update, delete: gone } = this.cloud.calls
    return [create, update, gone]
  }
}

/** Returns the ownership tags that the promotion of an object adds. */
const addedTags = (name: string | undefined) =>
  name === undefined
    ? []
    : [
        { path: 'tags.crossplane-kind', to: 'thing.sim.crosstie.io' },
        { path: 'tags.crossplane-name', to: name },
      ]

const nameOf = ({ object }: Discovered) => object.metadata.name!
const specOf = (object: KubeObject | undefined) => object!['spec'] as { forProvider: Record<string, unknown> }

const resource = fc.record({
  region: fc.constantFrom('eu', 'us', 'elsewhere'),
  size: fc.option(fc.integer({ min: 0, max: 99 }), { nil: undefined }),
  members: fc.option(fc.uniqueArray(fc.string({ maxLength: 5 }), { maxLength: 3 }), { nil: undefined }),
  scaling: fc.option(fc.record({ min: fc.nat(3), desired: fc.nat(9) }, { noNullPrototype: true }), { nil: undefined }),
  name: fc.option(fc.string({ maxLength: 12 }), { nil: undefined }),
  team: fc.option(fc.constantFrom('payments', 'shop'), { nil: undefined }),
  /** Refers to an earlier resource, if one exists at this distance. */
  parent: fc.option(fc.nat(5), { nil: undefined }),
})

test('OBS2 MR13 discovering, observing and promoting changes nothing outside but adds ownership tags, and then the plan is empty', async () => {
  const worlds = fc.asyncProperty(
    fc.array(resource, { minLength: 1, maxLength: 12 }),
    fc.constantFrom('user-chosen' as const, 'provider-assigned' as const),
    async (resources, names) => {
      const world = new World(names)
      const made: string[] = []
      for (const [i, { region, name, team, parent, ...given }] of resources.entries()) {
        const parentId = parent === undefined ? undefined : made[i - 1 - parent]
        const values = Object.fromEntries(
          Object.entries({ ...given, parentId }).filter(([, value]) => value !== undefined),
        )
        const tags = { ...(name === undefined ? {} : { Name: name }), ...(team ? { team } : {}) }
        made.push(await world.make(region, values, tags, `Thing ${i}`))
      }
      const before = { writes: world.writes, resources: structuredClone(world.cloud.resources) }

      const found = await world.discover()
      const here = made.filter((_, i) => resources[i]!.region !== 'elsewhere')
      assert.deepEqual(found.map(({ externalName }) => externalName).sort(), [...here].sort())
      const objects = found.map(nameOf)
      assert.equal(new Set(objects).size, objects.length, 'names are unique')
      for (const name of objects) assert.deepEqual(isDNS1123Subdomain(name), [], `${name} is a name`)
      assert.deepEqual((await world.discover()).map(nameOf), objects, 'names are the same again')
      assert.equal(world.api.all().length, 0, 'looking writes nothing')

      await world.apply(found)
      await world.settle(objects)
      assert.deepEqual(
        (await world.discover()).map(({ by }) => by?.manages),
        objects.map(() => false),
      )
      for (const { externalName, object } of found) {
        const parentId = resources[made.indexOf(externalName)]!.parent
        const parent = parentId === undefined ? undefined : made[made.indexOf(externalName) - 1 - parentId]
        const reference = specOf(object).forProvider['parentIdRef'] as { name: string } | undefined
        const target = found.find(
          (each) =>
            each.externalName === parent &&
            each.identifiers['region'] === object['spec']!['forProvider' as never]['region'],
        )
        assert.equal(reference?.name, target && nameOf(target), 'references lead to what was found in the same place')
      }
      for (const name of objects) assert.equal((await world.promote(name, true)).outcome, 'ready')
      for (const name of objects) {
        const { outcome, because, tags } = await world.promote(name)
        assert.equal(outcome, 'promoted', because)
        assert.deepEqual(tags, addedTags(name), 'the plan shows exactly the tags')
      }
      assert.deepEqual({ writes: world.writes, resources: world.cloud.resources }, before, 'promoting changes nothing')
      await world.settle(objects)
      for (const name of objects) {
        const planned = await world.plan(name)
        assert.deepEqual([planned.outcome, planned.steps], ['none', []])
        assert.equal((await world.promote(name)).outcome, 'already')
      }
      assert.deepEqual(
        (await world.discover()).map(({ by }) => by?.manages),
        objects.map(() => true),
      )
      const objectOf = new Map(found.map((each) => [each.externalName, nameOf(each)]))
      const tagged = before.resources.map((each) => {
        const tags = Object.fromEntries(addedTags(objectOf.get(each.name)).map(({ path, to }) => [path.slice(5), to]))
        return { ...each, tags: { ...each.tags, ...tags } }
      })
      assert.deepEqual(world.cloud.resources, tagged, 'tags are all that changed outside')
      const [created, updated, deleted] = before.writes
      assert.deepEqual(world.writes, [created, updated! + here.length, deleted], 'one update for each resource')
    },
  )
  await fc.assert(worlds, { numRuns: 60 })
})

test('OBS2 a promotion that would change something outside is refused, and tells what', async () => {
  const world = new World('user-chosen')
  await world.make('eu', { size: 3 }, {}, 'a')
  await world.apply(await world.discover())
  const { metadata, ...rest } = world.api.peek(world.kind.type, { name: 'a' })!
  world.api.seed(world.kind.type, {
    ...rest,
    metadata,
    spec: { ...specOf({ metadata, ...rest } as KubeObject), forProvider: { region: 'eu', size: 9 } },
  } as KubeObject)
  await world.settle(['a'])
  const refused = await world.promote('a')
  assert.equal(refused.outcome, 'refused')
  assert.equal(refused.because, 'managing it would update the external resource (size)')
  assert.deepEqual(refused.plan?.steps[0]?.fields, [{ path: 'size', from: 3, to: 9 }, ...addedTags('a')])
  assert.deepEqual(world.writes, [1, 0, 0])
})

test('OBS2 what changed since it was observed is noticed before anything is done', async () => {
  const world = new World('user-chosen')
  await world.make('eu', { size: 3 }, {}, 'a')
  await world.apply(await world.discover())
  await world.settle(['a'])
  world.cloud.meddle('a', { size: 4 })
  const refused = await world.promote('a')
  assert.deepEqual(
    [refused.outcome, refused.because],
    ['refused', 'managing it would update the external resource (size)'],
  )
  await world.settle(['a'])
  assert.equal((await world.promote('a')).outcome, 'promoted', 'observed again, it is as it is')
  assert.deepEqual(world.writes, [1, 0, 0])
  await world.settle(['a'])
  assert.deepEqual(world.writes, [1, 1, 0], 'the tags are written once')
})

test('OBS3 a typing error in the name or the region creates nothing, and cannot be promoted', async () => {
  const world = new World('user-chosen')
  await world.make('eu', {}, {}, 'real')
  const { type } = world.kind
  const observed = (name: string, externalName: string) => ({
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, annotations: { 'crossplane.io/external-name': externalName } },
    spec: { managementPolicies: ['Observe'], forProvider: { region: 'eu' } },
  })
  await world.api.create(type, observed('typo', 'reel'))
  const unseen = await world.promote('typo')
  assert.deepEqual([unseen.outcome, unseen.because], ['refused', 'it was not observed yet: wait until it is Synced'])
  await world.settle(['typo'])
  const refused = await world.promote('typo')
  assert.equal(refused.outcome, 'refused')
  assert.match(
    refused.because,
    /not seen \(observe failed: external resource does not exist\): check the external name/,
  )
  assert.match((await world.promote('tipo')).because, /there is no Thing tipo/)
  assert.deepEqual(world.writes, [1, 0, 0])
})

test('OBS2 an interrupted promotion is run again: each object is as it was or as it should be', async () => {
  for (let cut = 0; cut < 12; cut++) {
    let left = Number.POSITIVE_INFINITY
    const world: World = new World('user-chosen', () => {
      if (--left === 0) throw new Error('killed')
    })
    for (const name of ['a', 'b', 'c']) await world.make('eu', { size: 3 }, {}, name)
    await world.apply(await world.discover())
    await world.settle(['a', 'b', 'c'])
    left = cut
    for (const name of ['a', 'b', 'c']) await world.promote(name).catch(() => {})
    left = Number.POSITIVE_INFINITY
    for (const name of ['a', 'b', 'c']) {
      const held = specOf(world.api.peek(world.kind.type, { name }))
      const whole = 'flavor' in held.forProvider && 'size' in held.forProvider
      assert.equal(JSON.stringify(held).includes('"*"'), whole, 'nothing is half done')
    }
    const outcomes = []
    for (const name of ['a', 'b', 'c']) outcomes.push((await world.promote(name)).outcome)
    for (const outcome of outcomes) assert.ok(outcome === 'promoted' || outcome === 'already', outcome)
    await world.settle(['a', 'b', 'c'])
    assert.deepEqual(world.writes, [3, 3, 0], 'each gets its tags once')
  }
})

test('what a query owns is not promoted: it goes with its query', async () => {
  const world = new World('user-chosen')
  await world.make('eu', {}, {}, 'a')
  const { type } = world.kind
  await world.api.create(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      name: 'q-a',
      labels: { 'crosstie.io/query': 'uid' },
      annotations: { 'crossplane.io/external-name': 'a' },
      ownerReferences: [{ apiVersion: 'x/v1', kind: 'ThingQuery', name: 'q', uid: 'uid', controller: true }],
    },
    spec: { managementPolicies: ['*'], forProvider: { region: 'eu' } },
  })
  await world.settle(['q-a'])
  assert.match((await world.promote('q-a')).because, /belongs to ThingQuery q, and goes with it: discover the resource/)
  const [found] = await world.discover()
  assert.equal(found?.by, undefined, 'a query stands for nothing')
  assert.deepEqual(world.writes, [1, 0, 0])
})

const filters: readonly { filter: FieldMatch; want: readonly string[]; because: string }[] = [
  { filter: { path: 'tags.team', wanted: 'payments', not: false }, want: ['a', 'b'], because: 'by tag' },
  { filter: { path: 'tags.team', wanted: 'payments', not: true }, want: ['c'], because: 'the rest, tag or no tag' },
  { filter: { path: 'name', wanted: '*', not: false }, want: ['a', 'b', 'c'], because: 'any name' },
  { filter: { path: 'size', wanted: '7', not: false }, want: ['b'], because: 'by any field' },
]

for (const { filter, want, because } of filters) {
  test(`discover --filter ${filter.path}${filter.not ? '!' : ''}=${filter.wanted}`, async () => {
    const world = new World('user-chosen')
    await world.make('eu', { size: 3 }, { team: 'payments' }, 'a')
    await world.make('us', { size: 7 }, { team: 'payments' }, 'b')
    await world.make('us', {}, {}, 'c')
    assert.deepEqual((await world.discover([filter])).map(nameOf), want, because)
  })
}

test('discover goes on with other kinds when one cannot be listed, if somebody is told', async () => {
  const world = new World('user-chosen')
  await world.make('eu', {}, {}, 'a')
  const before = () => {
    throw new Error('access denied')
  }
  const closed = thingOf(new SimulatedCloud({ ...world.cloud.options, before }), { kind: 'Gadget' })
  const reach = { client: world.api, surroundings, budgets: unlimited }
  const kinds = [closed, world.kind]
  const options = {
    reach,
    kinds,
    known: kinds,
    identifiers: { region: ['eu'] },
    providerConfig: 'default',
    filters: [],
  }
  await assert.rejects(discover(options, signal), /cannot list Gadget: access denied/)
  const told: string[] = []
  const failed = (_: unknown, error: unknown) => told.push(String(error))
  assert.deepEqual((await discover({ ...options, failed }, signal)).map(nameOf), ['a'])
  assert.deepEqual(told, ['Error: cannot list Gadget: access denied'])
})

test('discover says what it needs, and what it cannot', async () => {
  const world = new World('user-chosen')
  await assert.rejects(world.discover([{ path: 'tag', wanted: 'x', not: false }]), /Thing has no field 'tag'/)
  const reach = { client: world.api, surroundings, budgets: unlimited }
  const rest = { reach, identifiers: {}, providerConfig: 'default', filters: [] }
  const { kind } = world
  await assert.rejects(
    discover({ ...rest, kinds: [kind], known: [kind] }, signal),
    /Thing is looked for by region: say --region NAME/,
  )
  const mute = thingOf(new SimulatedCloud({ ...world.cloud.options, list: false }))
  await assert.rejects(discover({ ...rest, kinds: [mute], known: [mute] }, signal), /the API of Thing cannot list/)
})
