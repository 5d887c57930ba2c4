import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Server, startServer } from '@crosstie/apiserver'
import { silentLog } from '@crosstie/controller'
import {
  apiVersionOf,
  type Client,
  conditionsOf,
  type KubeObject,
  Metrics,
  StatusError,
  systemClock,
  type WatchEvent,
  type WatchOptions,
} from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources'
import { defineProviderConfig, ThrottledError } from '@crosstie/resources/provider'
import { type CloudCall, SimulatedCloud, thingOf, throttled } from '@crosstie/resources/testing'
import { ControlPlane } from './control-plane.js'

/** Objects of each kind. */
const COUNT = 1_100
/** Calls a second with one set of credentials; five seconds of it may be saved up. */
const PER_SECOND = 200
const BURST = 5 * PER_SECOND
const PATIENCE_MS = 300_000
const LONG = { timeout: 600_000 }
/** So seldom that nothing is looked at without a reason while a test runs. */
const NEVER = 24 * 3600

const config = defineProviderConfig({ group: 'sim.crosstie.io' })

/** A cloud that each kind has to itself, and with it its credentials and their budget. */
class Metered {
  readonly kind: ManagedKind
  readonly cloud: SimulatedCloud
  /** Thrown at every call while it lasts. */
  outage: (() => Error) | undefined
  #calls = 0
  #since = Date.now()
  #above = 0

  constructor(
    kind: string,
    readonly credentials: string,
    list: boolean,
  ) {
    const before = (_: CloudCall) => this.#count()
    this.cloud = new SimulatedCloud({
      naming: 'provider-assigned',
      tags: true,
      tokens: true,
      list,
      clock: systemClock,
      before,
    })
    this.kind = thingOf(this.cloud, { kind, consistencySeconds: 0, providerConfig: config })
  }

  /** Calls since the last `begin`. */
  get calls(): number {
    return this.#calls
  }

  begin(): void {
    this.#calls = 0
    this.#since = Date.now()
  }

  /** However fast or slow all of it went: no call came before its budget allowed it. */
  get keptBudget(): boolean {
    return this.#above === 0
  }

  #count(): void {
    this.#calls++
    const allowed = BURST + PER_SECOND * ((Date.now() - this.#since) / 1000 + 0.01)
    if (this.#calls > allowed) this.#above++
    if (this.outage) throw this.outage()
  }
}

describe('load: some thousands of resources', LONG, () => {
  const single = new Metered('Thing', 'single', false)
  const listed = new Metered('Gadget', 'listed', true)
  const all = [single, listed]
  let dataDir: string
  let server: Server
  let client: Client
  let watches: Interruptible
  let plane: ControlPlane | undefined
  let metrics: Metrics
  let configWrites = 0

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'crosstie-load-'))
    server = await startServer({ dataDir, host: '127.0.0.1', port: 0 })
    client = server.client()
    watches = new Interruptible(client)
  })

  after(async () => {
    await plane?.stop(0)
    await server?.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Ends the control plane, if there is one, and starts another. */
  async function restart(pollSeconds: number): Promise<void> {
    await plane?.stop()
    metrics = new Metrics()
    for (const each of all) each.begin()
    plane = new ControlPlane({
      registry: { providers: [], kinds: all.map(({ kind }) => kind), claims: [], bindings: [] },
      client: watches.client,
      metrics,
      log: silentLog,
      pollSeconds,
      callsPerSecond: PER_SECOND,
    })
    await plane.served
  }

  /** Of the whole store: as long as it stays the same nobody wrote anything at all. */
  const revision = async () => (await client.list(config.type)).metadata.resourceVersion

  const list = async ({ kind }: Metered) => (await client.list(kind.type)).items

  const counted = (name: string, { kind }: Metered) => {
    const lines = metrics.expose().split('\n')
    const ours = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(`kind="${kind.type.kind}"`))
    return ours.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  async function makeConfig(name: string): Promise<void> {
    const { type } = config
    const spec = { credentials: { source: 'None' } }
    await client.create(type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name }, spec })
  }

  async function looks(each: Metered, times: number): Promise<void> {
    const from = counted('crosstie_managed_reconciles_total', each)
    const enough = from + times * COUNT
    await until(`all were looked at ${times} times`, () => counted('crosstie_managed_reconciles_total', each) >= enough)
  }

  async function observedAll(): Promise<void> {
    for (const each of all) {
      await until('all are observed', () => counted('crosstie_managed_observed', each) === COUNT)
    }
  }

  async function inStep(): Promise<void> {
    for (const each of all) {
      await until(`all ${each.kind.type.kind}s are in step`, async () => (await list(each)).every(isInStep))
    }
  }

  /** What is told late (events, the number of users) has been told: a whole round goes by without a write. */
  async function quiet(): Promise<void> {
    let before: string | undefined
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
      before = await revision()
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      if (before === (await revision())) return
    }
    assert.fail('there is always something to write')
  }

  async function edit(each: Metered, names: readonly string[], size: number): Promise<void> {
    const patch = { spec: { forProvider: { size } } }
    await inBatches(names, (name) => client.patch(each.kind.type, { name }, { type: 'merge', patch }))
  }

  const atSize = ({ cloud }: Metered, size: number) =>
    cloud.resources.filter(({ values }) => values['size'] === size).length

  test('all are made once, within the budget of their credentials', LONG, async () => {
    await restart(NEVER)
    const watching = new AbortController()
    const since = Date.now()
    const following = (async () => {
      for await (const { type } of client.watch(config.type, { signal: watching.signal })) {
        if (type === 'MODIFIED') configWrites++
      }
    })().catch(() => {})
    for (const { credentials } of all) await makeConfig(credentials)
    const numbers = Array.from({ length: COUNT }, (_, i) => i)
    for (const { kind, credentials } of all) {
      await inBatches(numbers, async (i) => {
        const secret = { name: `${credentials}-${i}`, namespace: 'default' }
        const spec = {
          providerConfigRef: { name: credentials },
          forProvider: { region: 'r', flavor: 'sweet', size: 1 },
          ...(i % 10 === 0 ? { writeConnectionSecretToRef: secret } : {}),
        }
        const metadata = { name: `${credentials}-${i}` }
        await client.create(kind.type, { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, metadata, spec })
      })
    }
    await inStep()
    const users = async (name: string) =>
      ((await client.get(config.type, { name }))['status'] as { users?: number } | undefined)?.users
    for (const { cloud, credentials, keptBudget } of all) {
      assert.equal(cloud.made, COUNT)
      assert.equal(cloud.resources.length, COUNT)
      assert.ok(keptBudget)
      await until('its users are counted', async () => (await users(credentials)) === COUNT)
    }
    const seconds = (Date.now() - since) / 1000
    watching.abort()
    await following
    assert.ok(configWrites <= all.length * (seconds + 3), `${configWrites} writes of ProviderConfigs in ${seconds} s`)
  })

  test('nothing is written while nothing changes, and many are observed by one list', LONG, async () => {
    await quiet()
    const before = await revision()
    const versions = await Promise.all(all.map(list))
    await restart(1)
    const { get, list: lists } = listed.cloud.calls
    const since = Date.now()
    // Whatever is looked at after a start is looked at again, twice.
    for (const each of all) await looks(each, 3)
    const seconds = (Date.now() - since) / 1000
    assert.equal(await revision(), before, 'three rounds, and not one write')
    assert.deepEqual((await Promise.all(all.map(list))).flat().map(versionOf), versions.flat().map(versionOf))
    // A list is worth it from the third object on, and good for a quarter of the interval.
    assert.ok(listed.cloud.calls.get - get <= 2, 'hardly any is asked for by itself')
    const asked = listed.cloud.calls.list - lists
    assert.ok(asked <= 4 * seconds + 2, `${asked} lists in ${seconds} s`)
    for (const { keptBudget } of all) assert.ok(keptBudget)
  })

  test('a restart observes all again, within the budget, and writes nothing', LONG, async () => {
    const before = await revision()
    await restart(NEVER)
    await observedAll()
    assert.equal(single.calls, COUNT)
    assert.ok(listed.calls < COUNT / 10, `${listed.calls} calls where a list tells it all`)
    await quiet()
    assert.equal(await revision(), before)
    for (const { keptBudget } of all) assert.ok(keptBudget)
  })

  test(
    'watches that begin anew, and a ProviderConfig that changes, are no reason to look at everything',
    LONG,
    async () => {
      for (const each of all) each.begin()
      const before = await revision()
      await watches.expire()
      assert.equal(await revision(), before, 'a new list with nothing new')
      const name = single.credentials
      const patch = {
        metadata: { annotations: { rotated: 'today' } },
        spec: { credentials: { source: 'InjectedIdentity' } },
      }
      await client.patch(config.type, { name }, { type: 'merge', patch })
      await quiet()
      assert.deepEqual(
        all.map(({ calls }) => calls),
        [0, 0],
      )
      assert.equal(Number(await revision()) - Number(before), 1, 'but for the change itself')
    },
  )

  test('an edit of all of them is one update each, within the budget', LONG, async () => {
    for (const each of all) each.begin()
    await Promise.all(all.map(async (each) => edit(each, (await list(each)).map(nameOf), 2)))
    for (const each of all) await until('all are of the new size', () => atSize(each, 2) === COUNT)
    await inStep()
    for (const { cloud, keptBudget } of all) {
      assert.equal(cloud.calls.update, COUNT)
      assert.equal(cloud.made, COUNT)
      assert.ok(keptBudget)
    }
  })

  test('a cloud that throttles is asked less, and all is well soon after', LONG, async () => {
    await quiet()
    single.begin()
    single.outage = throttled
    const names = (await list(single)).map(nameOf).slice(0, COUNT / 10)
    const began = Date.now()
    await edit(single, names, 3)
    const failing = async () => (await list(single)).filter((object) => !isInStep(object)).length
    await until('some had to wait', async () => (await failing()) > 10)
    const seconds = (Date.now() - began) / 1000
    // The first answer halves the pace and takes what was saved up; what is on its way then may still arrive.
    assert.ok(single.calls <= 128 + (PER_SECOND / 2) * seconds, `${single.calls} calls in ${seconds} s of an outage`)
    single.outage = undefined
    await until('all are of the new size', () => atSize(single, 3) === names.length)
    await inStep()
    assert.ok(single.keptBudget)
    assert.equal(single.cloud.made, COUNT)
    await quiet()
  })

  test(
    'those who wait for credentials that are used up keep nobody with others waiting, and say nothing',
    LONG,
    async () => {
      await makeConfig('other')
      const objects = await list(single)
      const [victim = ''] = objects.map(nameOf)
      single.outage = () => new ThrottledError('come again tomorrow', { retryAfterSeconds: 24 * 3600 })
      await edit(single, [victim], 4)
      await until('one was told so', async () => isFailing(await client.get(single.kind.type, { name: victim })))
      single.outage = undefined
      const told = await list(single)
      // More than may be worked on at once, all of one kind.
      await edit(single, objects.map(nameOf).slice(1, 400), 4)
      await inBatches(
        Array.from({ length: 20 }, (_, i) => i),
        async (i) => {
          const { type } = single.kind
          const forProvider = { region: 'r', flavor: 'sweet', size: 5 }
          const named = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: `other-${i}` } }
          await client.create(type, {
            ...named,
            spec: { providerConfigRef: { name: 'other' }, forProvider },
          } as KubeObject)
        },
      )
      await until('those with other credentials are made', () => atSize(single, 5) === 20)
      await until('and well', async () => (await list(single)).filter(isOther).every(isInStep))
      const status = (found: readonly KubeObject[]) =>
        found.filter((object) => !isOther(object)).map((object) => JSON.stringify(object['status']))
      assert.ok(isDeepStrictEqual(status(await list(single)), status(told)), 'of the others there is no news')
      assert.equal(atSize(single, 4), 0)
    },
  )
})

const isFailing = (object: KubeObject) =>
  conditionsOf(object).some(({ type, status }) => type === 'Synced' && status === 'False')
const isOther = ({ metadata }: KubeObject) => metadata.name!.startsWith('other-')

const versionOf = ({ metadata }: KubeObject) => `${metadata.name} ${metadata.resourceVersion}`
const nameOf = ({ metadata }: KubeObject) => metadata.name!

function isInStep(object: KubeObject): boolean {
  const told = (type: string) => conditionsOf(object).find((condition) => condition.type === type)
  const { generation } = object.metadata
  return (
    told('Ready')?.status === 'True' &&
    told('Synced')?.status === 'True' &&
    told('Synced')?.observedGeneration === generation
  )
}

/** Some at once, as the server writes them to disk together. */
async function inBatches<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += 100) await Promise.all(items.slice(i, i + 100).map(run))
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail(`it never came to be that ${what}`)
}

/** A client whose watches can be told that the server forgot where they were. */
class Interruptible {
  readonly client: Client
  #running = new Set<() => void>()
  #begun = 0

  constructor(client: Client) {
    const watch = (type: never, options: WatchOptions) => this.#watch(client.watch(type, options))
    this.client = new Proxy(client, {
      get(target, name) {
        if (name === 'watch') return watch
        const member = target[name as keyof Client]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  /** Resolves when all that were watching watch again. */
  async expire(): Promise<void> {
    const enough = this.#begun + this.#running.size
    for (const end of [...this.#running]) end()
    await until('all watch again', () => this.#begun >= enough)
  }

  async *#watch(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
    this.#begun++
    let end = () => {}
    const expired = new Promise<never>((_, reject) => {
      end = () => reject(new StatusError(410, 'Expired', 'too old resource version'))
    })
    expired.catch(() => {})
    this.#running.add(end)
    const iterator = events[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), expired])
        if (next.done) return
        yield next.value
      }
    } finally {
      this.#running.delete(end)
      void iterator.return?.()
    }
  }
}
