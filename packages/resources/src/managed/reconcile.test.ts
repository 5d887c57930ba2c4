import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Next } from '@crosstie/controller'
import { apiVersionOf, type Condition, conditionsOf, type KubeObject, Metrics, stringify } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import { absent } from '../definition/external.js'
import { defineManaged } from '../definition/managed.js'
import { s } from '../definition/schema.js'
import { budgets } from '../external/budget.js'
import { tagKey } from '../metadata/metadata.js'
import { type CloudOptions, SimulatedCloud, throttled } from '../testing/cloud.js'
import { FakeApi } from '../testing/fakeapi.js'
import { thingOf } from '../testing/thing.js'
import { type ManagedController, managedController } from './controller.js'
import { managedMetrics } from './metrics.js'
import type { ManagedOptions } from './runtime.js'

const yes: Omit<CloudOptions, 'clock'> = { naming: 'provider-assigned', tags: true, tokens: false, list: false }

/** One control plane with one cloud. */
class Setting {
  now = Date.UTC(2026, 0, 1)
  readonly events: string[] = []
  readonly writes: string[] = []
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  readonly controller: ManagedController

  constructor(cloud: Partial<CloudOptions> = {}, options: Partial<ManagedOptions> = {}) {
    const clock = { now: () => this.now }
    this.cloud = new SimulatedCloud({ ...yes, ...cloud, clock })
    this.api = new FakeApi({
      now: clock.now,
      before: ({ verb, name }) => {
        if (verb !== 'get' && verb !== 'list') this.writes.push(`${verb} ${name}`)
      },
    })
    this.controller = managedController(thingOf(this.cloud), {
      client: this.api,
      clock,
      events: { event: (_, type, reason, message) => this.events.push(`${type} ${reason}: ${message}`) },
      ...options,
    })
  }

  async create(
    spec: { forProvider?: object } & Record<string, unknown> = {},
    name = 'a',
    metadata: object = {},
  ): Promise<void> {
    const { type } = this.controller
    await this.api.create(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, ...metadata },
      spec: {
        managementPolicies: ['*'],
        deletionPolicy: 'Delete',
        ...spec,
        forProvider: { region: 'r1', flavor: 'sweet', ...spec.forProvider },
      },
    })
  }

  /** Edits the spec as a user. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
  edit(change: (spec: any) => unknown, name = 'a'): void {
    const object = this.object(name)
    const metadata = { ...object.metadata, generation: object.metadata.generation! + 1 }
    this.api.seed(this.controller.type, { ...object, metadata, spec: change(object['spec']) })
  }

  object(name = 'a'): KubeObject {
    return this.api.peek(this.controller.type, { name })!
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into specs of any shape.
  get spec(): any {
    return this.object()['spec']
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into status of any shape.
  get atProvider(): any {
    return (this.object()['status'] as { atProvider?: unknown } | undefined)?.atProvider
  }

  condition(type: string, name = 'a'): Condition | undefined {
    return conditionsOf(this.object(name)).find((condition) => condition.type === type)
  }

  async reconcile(name = 'a'): Promise<Next> {
    return await this.controller.reconcile({ name }, new AbortController().signal)
  }

  async settle(name = 'a'): Promise<void> {
    for (let i = 0; i < 5; i++) {
      await this.reconcile(name)
      this.now += 10_000
    }
  }

  get only() {
    assert.equal(this.cloud.resources.length, 1)
    return this.cloud.resources[0]!
  }
}

const without = (...names: string[]) =>
  ['Create', 'Update', 'Delete', 'Observe', 'LateInitialize'].filter((n) => !names.includes(n))

test('XN1 XN2 an assigned name is noted after the create', async () => {
  const set = new Setting()
  await set.create()
  await set.settle()
  assert.equal(set.object().metadata.annotations?.['crossplane.io/external-name'], set.only.name)
  assert.equal(set.condition('Ready')?.status, 'True')
})

test('four writes make a resource ready, and none keep it so', async () => {
  const set = new Setting()
  await set.create()
  set.writes.length = 0
  await set.settle()
  assert.deepEqual(set.writes.slice(0, 4), ['patch a', 'patch a', 'updateStatus a', 'apply a'])
  set.writes.length = 0
  const calls = { ...set.cloud.calls }
  await set.reconcile()
  assert.deepEqual(set.writes, [])
  assert.equal(set.cloud.calls.get, calls.get + 1)
})

test('MR6 POL4 empty fields are filled from the cloud, set ones never, and none without LateInitialize', async () => {
  const set = new Setting()
  await set.create()
  await set.settle()
  assert.equal(set.spec.forProvider.size, 3, 'the cloud chose it')
  const given = new Setting()
  await given.create({ forProvider: { size: 5 } })
  await given.settle()
  assert.equal(given.spec.forProvider.size, 5)
  const off = new Setting()
  await off.create({ managementPolicies: without('LateInitialize') })
  await off.settle()
  assert.equal(off.spec.forProvider.size, undefined)
  assert.equal(off.atProvider.size, 3)
})

test('INI1 INI3 initProvider counts at creation only, deep in nested objects, and forProvider wins', async () => {
  const set = new Setting()
  await set.create({
    managementPolicies: without('LateInitialize'),
    forProvider: { size: 7, scaling: { min: 1 } },
    initProvider: { size: 1, scaling: { min: 9, desired: 2 }, members: ['u1', 'u2'] },
  })
  await set.settle()
  assert.deepEqual(set.only.values, {
    flavor: 'sweet',
    size: 7,
    scaling: { min: 1, desired: 2 },
    members: ['u1', 'u2'],
  })
  set.cloud.meddle(set.only.name, { scaling: { min: 1, desired: 5 }, members: ['u3'] })
  await set.settle()
  assert.deepEqual(set.only.values['scaling'], { min: 1, desired: 5 }, 'the autoscaler has its way')
  assert.deepEqual(set.only.values['members'], ['u3'])
  assert.equal(set.condition('Drifted'), undefined)
})

test('INI1 what initProvider gave is not late-initialized into forProvider', async () => {
  const set = new Setting()
  await set.create({ initProvider: { scaling: { desired: 2 } } })
  await set.settle()
  assert.equal(set.spec.forProvider.scaling?.desired, undefined)
  assert.equal(set.spec.forProvider.size, 3)
})

test('MR14 drift that may not be corrected is a condition with the fields, and one event', async () => {
  const set = new Setting()
  await set.create({ managementPolicies: without('Update'), forProvider: { size: 2 } })
  await set.settle()
  set.cloud.meddle(set.only.name, { size: 9 })
  set.events.length = 0
  await set.settle()
  const drifted = set.condition('Drifted')
  assert.equal(drifted?.status, 'True')
  assert.equal(drifted?.reason, 'NotAllowed')
  assert.equal(drifted?.message, 'size: wanted 2, is 9')
  assert.equal(set.only.values['size'], 9)
  assert.equal(set.events.length, 1)
  set.cloud.meddle(set.only.name, { size: 2 })
  await set.settle()
  assert.equal(set.condition('Drifted')?.status, 'False')
})

test('MR14 drift is told since when it lasts, with an event for each change of what differs', async () => {
  const set = new Setting()
  await set.create({ managementPolicies: without('Update'), forProvider: { size: 2, scaling: { min: 1 } } })
  await set.settle()
  set.cloud.meddle(set.only.name, { size: 9 })
  await set.settle()
  const since = set.condition('Drifted')?.lastTransitionTime
  assert.ok(since)
  set.events.length = 0
  set.now += 3_600_000
  await set.settle()
  assert.deepEqual(set.events, [], 'what lasts is no news')
  set.cloud.meddle(set.only.name, { scaling: { min: 7 } })
  await set.settle()
  assert.equal(set.condition('Drifted')?.message, 'size: wanted 2, is 9; scaling.min: wanted 1, is 7')
  assert.equal(set.condition('Drifted')?.lastTransitionTime, since, 'more differs, and has not begun anew')
  assert.equal(set.events.length, 1)
  set.cloud.meddle(set.only.name, { size: 2, scaling: { min: 1 } })
  set.now += 60_000
  await set.settle()
  assert.equal(set.condition('Drifted')?.status, 'False')
  assert.notEqual(set.condition('Drifted')?.lastTransitionTime, since)
})

test('how long it took to be ready, how long drift lasted, and every call to the provider are counted', async () => {
  const metrics = new Metrics()
  const refused = { now: false }
  const before = () => {
    if (refused.now) throw new Error('not today')
  }
  const set = new Setting({ createSeconds: 20, before }, { metrics: managedMetrics(metrics) })
  const value = (name: string, ...labels: readonly string[]) => {
    const found = metrics
      .expose()
      .split('\n')
      .find((line) => line.startsWith(name) && labels.every((l) => line.includes(l)))
    return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(' ')))
  }
  await set.create({ managementPolicies: without('Update'), forProvider: { size: 2 } })
  await set.settle()
  assert.equal(value('crosstie_managed_ready_seconds_count'), 1)
  const seconds = value('crosstie_managed_ready_seconds_sum')!
  assert.ok(seconds >= 20 && seconds <= 30, `${seconds}`)
  set.cloud.meddle(set.only.name, { size: 9 })
  await set.reconcile()
  set.now += 90_000
  set.cloud.meddle(set.only.name, { size: 2 })
  await set.reconcile()
  assert.equal(value('crosstie_managed_drift_seconds_total'), 90)
  const calls = (call: string, failed: boolean) =>
    value('crosstie_external_calls_total', `call="${call}"`, `failed="${failed}"`)
  const looks = calls('Observe', false)!
  await set.reconcile()
  refused.now = true
  await set.reconcile()
  assert.deepEqual([calls('Create', false), calls('Observe', false), calls('Observe', true)], [1, looks + 1, 1])
  assert.equal(value('crosstie_managed_observed'), 1)
})

test('MR14 drift is corrected, and that is told with the fields', async () => {
  const set = new Setting()
  await set.create({ forProvider: { size: 2 } })
  await set.settle()
  set.cloud.meddle(set.only.name, { size: 9 })
  await set.reconcile()
  assert.equal(set.only.values['size'], 2)
  assert.equal(set.condition('Drifted')?.reason, 'Corrected')
  assert.match(set.events.at(-1)!, /Normal UpdatedExternalResource: .*size: wanted 2, is 9/)
})

test('MR11 an immutable field that changed anyway shows as drift and is never sent', async () => {
  const set = new Setting()
  await set.create()
  await set.settle()
  set.edit((spec) => ({ ...spec, forProvider: { ...spec.forProvider, flavor: 'sour' } }))
  await set.settle()
  assert.equal(set.condition('Drifted')?.reason, 'Immutable')
  assert.equal(set.only.values['flavor'], 'sweet')
  assert.equal(set.cloud.calls.update, 0)
})

for (const path of ['tags[', 'size.', 'sise', 'tags.team.more', ''])
  test(`INI5 ignoreChanges ${JSON.stringify(path)} is reported on a server without the rule, and nothing is done`, async () => {
    const set = new Setting()
    await set.create({ forProvider: { size: 2 } })
    for (let i = 0; i < 4; i++) await set.reconcile()
    set.cloud.meddle(set.only.name, { size: 9 })
    set.edit((spec) => ({ ...spec, ignoreChanges: ['flavor', path] }))
    await set.reconcile()
    assert.equal(set.only.values['size'], 9)
    const synced = set.condition('Synced')
    assert.equal(synced?.status, 'False')
    assert.ok(synced.message?.startsWith(`spec.ignoreChanges: ${JSON.stringify(path)} is not a path`), synced.message)
    set.edit((spec) => ({ ...spec, ignoreChanges: ['flavor'] }))
    await set.reconcile()
    assert.equal(set.only.values['size'], 2)
    assert.equal(set.condition('Synced')?.status, 'True')
  })

test('INI5 ignoreChanges leaves paths alone, with wildcards and map keys, and can be turned off', async () => {
  const spec = { forProvider: { size: 2, tags: { team: 'a', cost: 'b' } }, ignoreChanges: ['size', 'tags.team'] }
  const set = new Setting()
  await set.create(spec)
  await set.settle()
  set.cloud.meddle(set.only.name, { size: 9 }, { team: 'x', cost: 'y' })
  await set.settle()
  assert.equal(set.only.values['size'], 9)
  assert.equal(set.only.tags['cost'], 'b', 'not ignored, so corrected')
  assert.equal(set.condition('Drifted')?.reason, 'Ignored')
  const off = new Setting({}, { features: { ignoreChanges: false } })
  await off.create(spec)
  await off.settle()
  off.cloud.meddle(off.only.name, { size: 9 })
  await off.settle()
  assert.equal(off.only.values['size'], 2)
})

test('MR13 INI4 default tags are set, and do not fight with tags of others', async () => {
  const set = new Setting()
  await set.create({ forProvider: { tags: { team: 'a' } }, providerConfigRef: { name: 'acme' } })
  await set.settle()
  const { tags } = set.only
  assert.equal(tags['crossplane-kind'], 'thing.sim.crosstie.io')
  assert.equal(tags['crossplane-name'], 'a')
  assert.equal(tags['crossplane-provider'], 'acme')
  set.cloud.meddle(set.only.name, {}, { billing: '42' })
  const before = set.cloud.calls.update
  await set.settle()
  assert.equal(set.cloud.calls.update, before)
  assert.deepEqual(set.spec.forProvider.tags, { team: 'a' })
  assert.equal(set.condition('Drifted'), undefined)
})

test('INI4 a tag that the spec names no longer is removed, and those of others stay', async () => {
  const set = new Setting()
  await set.create({ forProvider: { tags: { team: 'a', cost: 'b', 'crossplane-name': 'a' } } })
  await set.settle()
  set.cloud.meddle(set.only.name, {}, { billing: '42' })
  set.edit((spec) => ({ ...spec, forProvider: { ...spec.forProvider, tags: { team: 'a' } } }))
  await set.settle()
  assert.deepEqual(Object.keys(set.only.tags).sort(), [
    'billing',
    'crossplane-kind',
    'crossplane-name',
    'crosstie-uid',
    'team',
  ])
  assert.equal(set.cloud.calls.update, 1)
  // Another owner sets this tag.
  set.cloud.meddle(set.only.name, {}, { cost: 'theirs' })
  await set.settle()
  assert.equal(set.only.tags['cost'], 'theirs')
  set.edit((spec) => ({ ...spec, forProvider: { ...spec.forProvider, tags: undefined } }))
  await set.settle()
  assert.equal(set.only.tags['team'], undefined, 'the whole map was removed')
  assert.equal(set.only.tags['billing'], '42')
  const { resourceVersion } = set.object().metadata
  await set.settle()
  assert.equal(set.object().metadata.resourceVersion, resourceVersion, 'and all is quiet')
})

for (const [because, spec, left] of [
  ['it is ignored', { ignoreChanges: ['tags.cost'] }, true],
  ['all tags are ignored', { ignoreChanges: ['tags[*]'] }, true],
  ['it was meant for the creation, too', { initProvider: { tags: { cost: 'b' } } }, true],
  ['updates are not allowed', { managementPolicies: ['Observe', 'Create', 'Delete'] }, true],
  ['nothing speaks against it', {}, false],
] as const) {
  test(`INI4 a tag that was removed from the spec ${left ? 'stays' : 'goes'} when ${because}`, async () => {
    const set = new Setting()
    await set.create({ ...spec, forProvider: { tags: { team: 'a', cost: 'b' } } })
    await set.settle()
    set.edit((held) => ({ ...held, forProvider: { ...held.forProvider, tags: { team: 'a' } } }))
    await set.settle()
    assert.equal(set.only.tags['cost'], left ? 'b' : undefined)
    if (because === 'updates are not allowed') {
      assert.equal(set.condition('Drifted')?.message, 'tags.cost: wanted absent, is "b"')
    }
    if (!because.includes('ignored')) return
    set.edit((held) => ({ ...held, ignoreChanges: [] }))
    await set.settle()
    assert.equal(set.only.tags['cost'], undefined, 'ours still, once it is ignored no longer')
  })
}

test('POL5 OBS3 observing an absent resource is an error and makes nothing', async () => {
  const set = new Setting({ naming: 'user-chosen' })
  await set.create({ managementPolicies: ['Observe'] }, 'a', { annotations: { 'crossplane.io/external-name': 'typo' } })
  const next = await set.reconcile()
  assert.equal(next.after, 'poll')
  assert.equal(set.condition('Synced')?.message, 'observe failed: external resource does not exist')
  assert.equal(set.cloud.made, 0)
})

test('POL5 an observed resource is reported and published, its spec never written, and it outlives its object', async () => {
  const set = new Setting({ naming: 'user-chosen' })
  await set.cloud.create({ name: 'theirs', region: 'r1', values: { flavor: 'sour', size: 8 }, tags: {}, token: '' })
  await set.create(
    {
      managementPolicies: ['Observe'],
      writeConnectionSecretToRef: { name: 's', namespace: 'ns' },
      forProvider: { flavor: undefined },
    },
    'a',
    { annotations: { 'crossplane.io/external-name': 'theirs' } },
  )
  const before = set.spec
  await set.settle()
  assert.deepEqual(set.spec, before)
  assert.equal(set.atProvider.size, 8)
  const secret = set.api.peek(secretType, { name: 's', namespace: 'ns' }) as
    | { data?: Record<string, string> }
    | undefined
  assert.equal(Buffer.from(secret?.data?.['endpoint'] ?? '', 'base64').toString(), 'https://theirs.example.org')
  await set.api.delete(set.controller.type, { name: 'a' })
  await set.settle()
  assert.equal(set.object(), undefined)
  assert.equal(set.only.name, 'theirs')
})

test('OBS1 AGG6 an observed resource can be referenced, by name or by selector', async () => {
  const set = new Setting({ naming: 'user-chosen' })
  await set.cloud.create({ name: 'vpc-123', region: 'r1', values: { flavor: 'sour' }, tags: {}, token: '' })
  const metadata = { annotations: { 'crossplane.io/external-name': 'vpc-123' }, labels: { net: 'main' } }
  await set.create({ managementPolicies: ['Observe'] }, 'existing', metadata)
  await set.create({ forProvider: { parentIdSelector: { matchLabels: { net: 'main' } } } })
  await set.settle('existing')
  await set.settle()
  assert.equal(set.spec.forProvider.parentId, 'vpc-123')
  assert.deepEqual(set.spec.forProvider.parentIdRef, { name: 'existing' })
  assert.equal(set.cloud.resources.find(({ name }) => name === 'a')?.values['parentId'], 'vpc-123')
})

test('MR10 nothing is called until a required reference resolves', async () => {
  const set = new Setting({ naming: 'user-chosen' })
  await set.create({ forProvider: { parentIdRef: { name: 'later' } } })
  assert.equal((await set.reconcile()).after, 'backoff')
  assert.deepEqual(set.cloud.calls, { create: 0, get: 0, list: 0, update: 0, delete: 0 })
  await set.create({}, 'later')
  await set.settle('later')
  await set.settle()
  assert.equal(set.spec.forProvider.parentId, 'later')
})

test('MR15 pausing is told once, and ends when the annotation goes', async () => {
  const set = new Setting()
  await set.create({}, 'a', { annotations: { 'crossplane.io/paused': 'true' } })
  await set.settle()
  assert.equal(set.condition('Synced')?.reason, 'ReconcilePaused')
  assert.equal(set.events.length, 1)
  const { metadata } = set.object()
  set.api.seed(set.controller.type, {
    ...set.object(),
    metadata: { ...metadata, annotations: { 'crossplane.io/paused': 'no' } },
  })
  await set.settle()
  assert.equal(set.condition('Ready')?.status, 'True')
})

test('POL8 with the gate off policies and initProvider are ignored, and that is told', async () => {
  const set = new Setting({}, { features: { managementPolicies: false } })
  await set.create({ managementPolicies: ['Observe'], initProvider: { size: 1 } })
  await set.settle()
  assert.equal(set.only.values['size'], 3)
  assert.deepEqual(
    set.events.filter((event) => event.includes('FieldIgnored')),
    [
      'Warning FieldIgnored: spec.managementPolicies and spec.initProvider ignored: the feature management policies is not enabled',
    ],
  )
})

test('a poll interval and a request to reconcile are heeded', async () => {
  const set = new Setting({}, { minPollSeconds: 20 })
  await set.create({}, 'a', {
    annotations: { 'crossplane.io/poll-interval': '1h30m', 'crossplane.io/reconcile-requested-at': 'now' },
  })
  await set.settle()
  assert.deepEqual(await set.reconcile(), { after: 'poll', seconds: 5400 })
  assert.equal((set.object()['status'] as { lastHandledReconcileAt: string }).lastHandledReconcileAt, 'now')
})

test('MR9 canaries in every sensitive place are seen nowhere but in Secrets', async () => {
  const canary = 'c4n4ry-do-not-show'
  const set = new Setting({
    naming: 'user-chosen',
    before: (call) => {
      if (call === 'update') throw new Error(`the cloud says ${canary} is weak, ${encodeURIComponent(canary)}`)
    },
  })
  set.api.seed(secretType, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'in', namespace: 'ns' },
    data: { pw: Buffer.from(canary).toString('base64') },
  })
  await set.create({
    forProvider: { size: 1, passwordSecretRef: { name: 'in', namespace: 'ns', key: 'pw' } },
    writeConnectionSecretToRef: { name: 'out', namespace: 'ns' },
  })
  await set.settle()
  set.cloud.meddle('a', { size: 5 })
  await set.settle()
  assert.equal(set.condition('Synced')?.reason, 'ReconcileError')
  const elsewhere = set.api.all().filter(({ kind }) => kind !== 'Secret')
  const shown = stringify(elsewhere) + set.events.join('\n')
  for (const form of [canary, Buffer.from(canary).toString('base64')]) assert.ok(!shown.includes(form))
  assert.match(set.condition('Synced')!.message!, /<redacted>/)
  const out = set.api.peek(secretType, { name: 'out', namespace: 'ns' }) as
    | { data?: Record<string, string> }
    | undefined
  assert.equal(Buffer.from(out?.data?.['password'] ?? '', 'base64').toString(), canary)
})

test('throttling slows down everything with the same credentials, and nothing breaks', async () => {
  let calls = 0
  const waited: number[] = []
  const set: Setting = new Setting(
    {
      naming: 'user-chosen',
      before: () => {
        if (++calls === 3) throw throttled()
      },
    },
    {
      budgets: budgets({
        perSecond: 10,
        burst: 5,
        clock: { now: () => set.now },
        sleep: async (milliseconds) => {
          waited.push(milliseconds)
          set.now += milliseconds
        },
      }),
    },
  )
  for (const name of ['a', 'b', 'c']) await set.create({}, name)
  for (let i = 0; i < 4; i++) for (const name of ['a', 'b', 'c']) await set.reconcile(name)
  assert.ok(waited.length > 0)
  assert.equal(set.cloud.resources.length, 3)
})

test('many settled objects are observed by one list, and drift is confirmed before it is corrected', async () => {
  const set = new Setting({ naming: 'user-chosen', list: true })
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`)
  for (const name of names) {
    await set.create({ forProvider: { size: 3 } }, name)
    await set.reconcile(name)
  }
  set.now += 60_000
  for (const name of names) await set.reconcile(name)
  const before = { ...set.cloud.calls }
  set.now += 60_000
  for (const name of names) await set.reconcile(name)
  assert.equal(set.cloud.calls.list - before.list, 1)
  assert.equal(set.cloud.calls.get - before.get, 0)
  set.cloud.meddle('n7', { size: 9 })
  set.now += 60_000
  for (const name of names) await set.reconcile(name)
  assert.equal(set.cloud.resources.find(({ name }) => name === 'n7')?.values['size'], 3)
  assert.equal(set.cloud.calls.update, 1)
})

test('MR9 a required sensitive value that nobody gave is made up, kept before the create, and the same on every attempt', async () => {
  const used: string[] = []
  const kind = defineManaged({
    group: 'sql.test.crossplane.io',
    version: 'v1',
    kind: 'User',
    parameters: s.object({ password: s.sensitive({ length: 20 }) }),
    observation: s.object({}),
    naming: 'user-chosen',
    connect: () => null,
    observe: async () => absent,
    create: async ({ forProvider }) => {
      used.push(forProvider.password)
      throw new Error(`no: ${forProvider.password}`)
    },
    update: async () => {},
    delete: async () => {},
  })
  const api = new FakeApi()
  const controller = managedController(kind, { client: api })
  const user = (name: string, more: object) => ({
    apiVersion: apiVersionOf(kind.type),
    kind: 'User',
    metadata: { name },
    spec: { managementPolicies: ['*'], deletionPolicy: 'Delete', forProvider: {}, ...more },
  })
  const signal = new AbortController().signal
  await api.create(kind.type, user('keeps', { writeConnectionSecretToRef: { name: 'conn', namespace: 'ns' } }))
  await controller.reconcile({ name: 'keeps' }, signal)
  await controller.reconcile({ name: 'keeps' }, signal)
  assert.equal(used.length, 2)
  assert.equal(used[0], used[1])
  assert.equal(used[0]!.length, 20)
  const secret = api.peek(secretType, { name: 'conn', namespace: 'ns' }) as
    | { data?: Record<string, string> }
    | undefined
  assert.equal(Buffer.from(secret?.data?.['password'] ?? '', 'base64').toString(), used[0])
  const object = api.peek(kind.type, { name: 'keeps' })!
  assert.ok(!stringify(object).includes(used[0]!))
  await api.create(kind.type, user('cannot', {}))
  await controller.reconcile({ name: 'cannot' }, signal)
  const said = conditionsOf(api.peek(kind.type, { name: 'cannot' })!).find(({ type }) => type === 'Synced')
  assert.match(said?.message ?? '', /set passwordSecretRef, or writeConnectionSecretToRef/)
})

test('what is not ready yet may be looked at more often', async () => {
  const set = new Setting({ createSeconds: 100 }, { unreadySeconds: 5 })
  await set.create()
  await set.reconcile()
  assert.deepEqual(await set.reconcile(), { after: 'poll', seconds: 5 })
})

test('an object goes even when the Secret it took a password from is gone', async () => {
  const set = new Setting({ naming: 'user-chosen' })
  const data = { pw: Buffer.from('hidden').toString('base64') }
  set.api.seed(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'in', namespace: 'ns' }, data })
  await set.create({ forProvider: { passwordSecretRef: { name: 'in', namespace: 'ns', key: 'pw' } } })
  await set.settle()
  set.api.remove(secretType, { name: 'in', namespace: 'ns' })
  await set.reconcile()
  assert.match(set.condition('Synced')?.message ?? '', /no key pw in Secret ns\/in/)
  await set.api.delete(set.controller.type, { name: 'a' })
  await set.settle()
  assert.equal(set.object(), undefined)
  assert.equal(set.cloud.resources.length, 0)
})

test('XN2 a name is noted even when the time for the reconcile ran out during the create', async () => {
  const stop = new AbortController()
  const set = new Setting({ tags: false, after: (call) => (call === 'create' ? stop.abort() : undefined) })
  await set.create()
  await set.controller.reconcile({ name: 'a' }, stop.signal)
  assert.equal(set.object().metadata.annotations?.['crossplane.io/external-name'], set.only.name)
})

test('XN2 a clock that stands still does not make a finished create look unfinished', async () => {
  const set = new Setting({ tags: false })
  await set.create()
  await set.reconcile()
  await set.cloud.delete(set.only.name)
  set.now -= 3_600_000
  for (let i = 0; i < 3; i++) await set.reconcile()
  assert.doesNotMatch(set.condition('Synced')?.message ?? '', /cannot determine/)
})

interface UseCase {
  readonly spec: { forProvider?: object } & Record<string, unknown>
  readonly outside: { values?: Readonly<Record<string, unknown>>; tags?: Readonly<Record<string, string>> }
}

/** The use cases of ignoreChanges, each with a corresponding field of the test kind. */
const useCases: Record<string, UseCase> = {
  'AutoScalingGroup desiredCapacity, scaled by the autoscaler': {
    spec: { managementPolicies: without('LateInitialize'), forProvider: { scaling: { min: 1 } } },
    outside: { values: { scaling: { min: 1, desired: 4 } } },
  },
  'DynamoDB readCapacity, required at creation, scaled afterwards': {
    spec: { managementPolicies: without('LateInitialize'), initProvider: { size: 1 } },
    outside: { values: { size: 50 } },
  },
  'EKS NodeGroup scalingConfig.desiredSize': {
    spec: {
      managementPolicies: without('LateInitialize'),
      initProvider: { scaling: { desired: 1 } },
      forProvider: { scaling: { min: 1 } },
    },
    outside: { values: { scaling: { min: 1, desired: 3 } } },
  },
  'node pool version under auto-upgrade': {
    spec: { managementPolicies: without('LateInitialize') },
    outside: { values: { size: 34 } },
  },
  'group members managed elsewhere after creation': {
    spec: { managementPolicies: without('LateInitialize'), initProvider: { members: ['u1'] } },
    outside: { values: { members: ['u1', 'u2'] } },
  },
  'tags added by an outside system': {
    spec: { forProvider: { tags: { team: 'a' } } },
    outside: { tags: { 'cost-center': '42' } },
  },
}

for (const [name, { spec, outside }] of Object.entries(useCases)) {
  test(`INI3 ${name}`, async () => {
    const set = new Setting()
    await set.create(spec)
    await set.settle()
    set.cloud.meddle(set.only.name, outside.values ?? {}, outside.tags)
    const { values, tags } = set.only
    await set.settle()
    assert.deepEqual([set.only.values, set.only.tags], [values, tags], 'left to whoever changed it')
    assert.equal(set.cloud.calls.update, 0)
    assert.equal(set.condition('Drifted'), undefined)
    assert.equal(set.condition('Synced')?.status, 'True')
  })
}

test('MR13 keys of tags lose what a provider does not allow in them', () => {
  assert.deepEqual(
    (['any', 'dashes', 'alphanumeric'] as const).map((allowed) => tagKey('crossplane.io/kind-name', allowed)),
    ['crossplane.io/kind-name', 'crossplane-io-kind-name', 'crossplaneiokindname'],
  )
})
