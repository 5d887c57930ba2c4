import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionOf, type Client, conditionsOf, type KubeObject } from '@crosstie/kube'
import { annotations, externalNameOf } from '../../metadata/metadata.js'
import { type CloudCall, type CloudCapabilities, SimulatedCloud } from '../../testing/cloud.js'
import { FakeApi } from '../../testing/fakeapi.js'
import { thingOf } from '../../testing/thing.js'
import { type ManagedController, managedController } from '../controller.js'
import { UncertainError } from './create.js'

/**
 * XN2: the process crashes, a response is lost or a call is refused at every request in the lifecycle of a
 * resource, from create over update to delete, for every combination of API capabilities. There is never a second
 * resource and never a leak, and the object becomes ready and is deleted without human help.
 */

// This test throws hundreds of thousands of errors whose stacks are not needed.
Error.stackTraceLimit = 0

/** The number of random runs for each combination. CROSSTIE_SEEDS overrides it. */
const SEEDS = Number(process.env['CROSSTIE_SEEDS'] ?? 10)

type Trouble = 'crash' | 'refused' | 'answer lost'

const troubles: readonly Trouble[] = ['crash', 'refused', 'answer lost']

class Crash extends Error {
  override readonly name = 'Crash'
}

interface Edit {
  readonly managementPolicies: readonly string[]
  readonly size: number
  readonly paused: boolean
}

class Life {
  readonly cloud: SimulatedCloud
  readonly api: FakeApi
  steps = 0
  /** For each point, whether it is before or after a request. */
  readonly sides: string[] = []
  /** Calls that the policies did not allow when the object was last read or patched. */
  readonly forbidden: string[] = []
  /** The user who edits objects between any two steps; undefined after the last edit. */
  user: User | undefined
  #now = Date.UTC(2026, 0, 1)
  /** The difference between the clock of this process and the clock of the cloud. */
  #skew = 0
  #policies: readonly string[] = []
  #dead = false
  #controller: ManagedController

  constructor(
    capabilities: CloudCapabilities,
    private readonly at: number,
    private readonly trouble: Trouble,
    readonly objects: readonly string[],
    /** Strikes with random troubles at this rate, instead of one trouble at one point. */
    private readonly dice?: { readonly random: () => number; readonly often: number },
    /** Reads come from a cache that may be a few writes behind. */
    private readonly stale?: () => number,
  ) {
    const clock = { now: () => this.#now }
    this.api = new FakeApi({
      now: clock.now,
      before: () => {
        this.user?.act(this)
        this.#point('before', 'api')
      },
      after: ({ verb, name }) => {
        // A process that reads the object, or patches the revision that it read, knows the current policies.
        if (verb === 'get' || verb === 'patch') this.#policies = policiesOf(this.object(name)) ?? this.#policies
        this.#point('after', 'api')
      },
    })
    this.cloud = new SimulatedCloud({
      ...capabilities,
      clock,
      consistencySeconds: 4,
      createSeconds: 6,
      before: (call) => {
        const action = actions[call]
        const allowed = this.#policies.includes('*') || this.#policies.includes(action ?? '')
        if (action && !allowed) this.forbidden.push(`${call} under [${this.#policies}]`)
        this.user?.act(this)
        this.#point('before', 'cloud')
      },
      after: () => this.#point('after', 'cloud'),
    })
    this.#controller = this.#start()
  }

  #start(): ManagedController {
    this.#dead = false
    // The next process may run on another machine with a different clock.
    this.#skew = this.dice ? Math.round(this.dice.random() * 4_000) - 2_000 : 0
    const client = this.stale ? staleReads(this.api, this.stale) : this.api
    return managedController(thingOf(this.cloud), { client, clock: { now: () => this.#now + this.#skew } })
  }

  /** Each request passes this point twice: before it is sent and after it took effect. */
  #point(side: 'before' | 'after', of: 'api' | 'cloud'): void {
    if (this.#dead) throw new Crash('dead')
    const hit = this.dice ? this.dice.random() < this.dice.often : this.steps + 1 === this.at
    this.steps++
    this.sides.push(side)
    if (!hit) return
    this.#strike(this.dice ? troubles[Math.floor(this.dice.random() * troubles.length)]! : this.trouble, side, of)
  }

  #strike(trouble: Trouble, side: 'before' | 'after', of: 'api' | 'cloud'): void {
    if (trouble === 'crash') {
      this.#dead = true
      throw new Crash('dies here')
    }
    if (trouble === 'refused' && side === 'before') throw new Error('refused')
    if (trouble === 'answer lost' && side === 'after') {
      throw of === 'cloud' ? new UncertainError('the answer was lost') : new Error('the answer was lost')
    }
  }

  get type() {
    return this.#controller.type
  }

  object(name: string): KubeObject | undefined {
    return this.api.peek(this.type, { name })
  }

  /** Reconciles all objects repeatedly until `well` returns true or the attempts are used up. */
  async until(well: () => boolean): Promise<boolean> {
    for (let i = 0; i < 80; i++) {
      const edited = this.user !== undefined
      let resting = 0
      for (const name of this.objects) {
        try {
          const { after } = await this.#controller.reconcile({ name }, new AbortController().signal)
          if (after === 'never') resting++
        } catch {
          // A control loop would retry later.
        }
        if (this.#dead) this.#controller = this.#start()
      }
      if (well()) return true
      if (this.user) this.user.act(this)
      else if (resting === this.objects.length && !edited) return false
      this.#now += this.dice ? Math.floor(this.dice.random() * 6_000) : 3_000
    }
    return false
  }

  seed(): void {
    for (const name of this.objects) {
      this.api.seed(this.type, {
        apiVersion: apiVersionOf(this.type),
        kind: this.type.kind,
        metadata: { name, uid: `uid-${name}`, generation: 1 },
        spec: {
          managementPolicies: ['*'],
          deletionPolicy: 'Delete',
          forProvider: { region: 'r1', flavor: 'sweet', size: 1 },
        },
      })
    }
  }

  /** Changes the spec, the policies and the pause annotation of an object. */
  edit(name: string, { managementPolicies, size, paused }: Edit): void {
    this.change(name, (object) => {
      const spec = object['spec'] as { forProvider: object }
      const { [annotations.paused]: _, ...notes } = object.metadata.annotations ?? {}
      return {
        ...object,
        metadata: {
          ...object.metadata,
          generation: object.metadata.generation! + 1,
          annotations: paused ? { ...notes, [annotations.paused]: 'true' } : notes,
        },
        spec: { ...spec, managementPolicies, forProvider: { ...spec.forProvider, size } },
      }
    })
  }

  /** Changes an object as a user, without trouble. */
  change(name: string, change: (object: KubeObject) => KubeObject): void {
    const object = this.object(name)
    if (object) this.api.seed(this.type, change(object))
  }
}

const actions: Readonly<Partial<Record<CloudCall, string>>> = { create: 'Create', update: 'Update', delete: 'Delete' }

const policiesOf = (object: KubeObject | undefined): readonly string[] | undefined =>
  (object?.['spec'] as { managementPolicies?: readonly string[] } | undefined)?.managementPolicies

/** Edits objects at any time, even during a reconciliation: size, policies and pause. */
class User {
  #edits = 0

  constructor(private readonly random: () => number) {}

  act(life: Life): void {
    if (this.random() > 0.15) return
    if (++this.#edits > 12) {
      this.rest(life)
      return
    }
    const name = life.objects[Math.floor(this.random() * life.objects.length)]!
    const policies = ['*', '*', 'Observe', 'Observe,Create', 'Observe,Update', 'Observe,Create,Delete', '']
    const chosen = policies[Math.floor(this.random() * policies.length)]!
    const size = 1 + Math.floor(this.random() * 4)
    const paused = this.random() < 0.2
    life.edit(name, { managementPolicies: chosen === '' ? [] : chosen.split(','), size, paused })
  }

  /** Stops editing and allows all actions. */
  rest(life: Life): void {
    life.user = undefined
    for (const name of life.objects) life.edit(name, { managementPolicies: ['*'], size: 1, paused: false })
  }
}

/** Returns a small seeded random number generator, so that a failing seed can be rerun. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Returns an API client with the reads of an informer cache: each read may return one of the last few states. */
function staleReads(api: FakeApi, random: () => number): Client {
  const states = new Map<string, KubeObject[]>()
  const remember = (object: KubeObject) => {
    const held = states.get(object.metadata.name!) ?? []
    if (held.at(-1)?.metadata.resourceVersion !== object.metadata.resourceVersion) held.push(object)
    states.set(object.metadata.name!, held.slice(-4))
    return states.get(object.metadata.name!)!
  }
  return new Proxy(api as Client, {
    get(target, name) {
      const member = target[name as keyof Client] as (...args: unknown[]) => Promise<KubeObject>
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        const answer = await member.apply(target, args)
        if (name === 'list' || answer?.kind !== 'Thing') return answer
        const known = remember(answer)
        return name === 'get' && random() < 0.5 ? known[Math.floor(random() * known.length)]! : answer
      }
    },
  })
}

/** Reports whether the object is ready and in sync, and names a resource in the cloud (XN1). */
const isReady = (life: Life, name: string) => {
  const object = life.object(name)
  const is = (type: string) => conditionsOf(object!).some((c) => c.type === type && c.status === 'True')
  return !!object && is('Ready') && is('Synced') && life.cloud.resources.some((r) => r.name === externalNameOf(object))
}

/** Runs one lifecycle and returns its violations. */
async function live(
  capabilities: CloudCapabilities,
  at: number,
  trouble: Trouble,
  objects: readonly string[],
  then: Then = 'waits',
  dice?: { readonly random: () => number; readonly often: number },
  more: { readonly stale?: () => number; readonly edits?: () => number } = {},
): Promise<{ sides: readonly string[]; wrong: string[]; stopped: boolean }> {
  const life = new Life(capabilities, at, trouble, objects, dice, more.stale)
  const wrong: string[] = []
  life.seed()
  if (more.edits) life.user = new User(more.edits)
  if (then !== 'waits') await life.until(() => life.steps >= at)
  if (then === 'edits') {
    for (const name of objects) life.edit(name, { managementPolicies: ['*'], size: 5, paused: false })
  }
  if (then !== 'deletes') {
    const ready = await life.until(() => !life.user && objects.every((name) => isReady(life, name)))
    life.user?.rest(life)
    if (!ready) wrong.push('never ready')
    for (const name of objects) life.edit(name, { managementPolicies: ['*'], size: 2, paused: false })
    const updated = await life.until(() => life.cloud.resources.every(({ values }) => values['size'] === 2))
    if (!updated) wrong.push('never updated')
  }
  if (life.cloud.resources.length > objects.length) wrong.push('duplicate')
  for (const name of objects) {
    life.change(name, (object) => {
      if ((object.metadata.finalizers ?? []).length > 0) {
        return {
          ...object,
          metadata: { ...object.metadata, deletionTimestamp: 'now', generation: object.metadata.generation! + 1 },
        }
      }
      life.api.remove(life.type, { name })
      return object
    })
    const left = life.object(name)
    if (left && (left.metadata.finalizers ?? []).length === 0) life.api.remove(life.type, { name })
  }
  const gone = await life.until(() => objects.every((name) => !life.object(name)))
  const said = objects.flatMap((name) => conditionsOf(life.object(name) ?? ({ metadata: {} } as KubeObject)))
  const stopped = said.some(({ message }) => message?.startsWith('cannot determine creation result'))
  if (!gone) wrong.push('stuck')
  if (life.cloud.resources.length > 0) wrong.push('leak')
  if (life.cloud.mostAtOnce > objects.length) wrong.push('duplicate')
  wrong.push(...life.forbidden)
  return { sides: life.sides, wrong, stopped }
}

/**
 * Reports whether a violation is acceptable when the result of a create cannot be determined and the object stops
 * and reports this. A second resource or a forbidden call is never acceptable.
 */
const isResidue = (wrong: string): boolean => ['never ready', 'never updated', 'stuck', 'leak'].includes(wrong)

/** The reaction of the user to a trouble. */
type Then = 'waits' | 'edits' | 'deletes'

/** One object, one that is edited or deleted during the run, and two with the same spec. */
const lives: readonly (readonly [objects: readonly string[], then: Then])[] = [
  [['a'], 'waits'],
  [['a'], 'edits'],
  [['a'], 'deletes'],
  [['a', 'b'], 'waits'],
]

for (const naming of ['user-chosen', 'provider-assigned'] as const) {
  for (let bits = 0; bits < 8; bits++) {
    const capabilities = { naming, tags: (bits & 1) > 0, tokens: (bits & 2) > 0, list: (bits & 4) > 0 }
    const { tags, tokens, list } = capabilities
    const offers =
      [tags ? 'tags' : '', tokens ? 'tokens' : '', list ? 'list' : ''].filter(Boolean).join(', ') || 'nothing'
    const residue = naming === 'provider-assigned' && bits === 0

    test(`XN2 troubles everywhere, over seeds: ${naming} names, API offers ${offers}`, async () => {
      const failures: string[] = []
      for (let seed = 1; seed <= SEEDS; seed++) {
        const random = randomOf(seed * 16 + bits * 2 + (naming === 'user-chosen' ? 1 : 0))
        const dice = { random, often: 0.02 + random() * 0.1 }
        const { wrong, stopped } = await live(capabilities, 0, 'refused', ['a', 'b'], 'waits', dice)
        const counts = wrong.filter((what) => !(residue && stopped && isResidue(what)))
        if (counts.length > 0) failures.push(`seed ${seed}: ${counts.join(', ')}`)
      }
      assert.deepEqual(failures, [])
    })

    test(`XN2 troubles and stale reads, over seeds: ${naming} names, API offers ${offers}`, async () => {
      const failures: string[] = []
      for (let seed = 1; seed <= SEEDS; seed++) {
        const random = randomOf(seed * 16 + bits * 2 + (naming === 'user-chosen' ? 1 : 0))
        const dice = { random, often: random() * 0.06 }
        const { wrong, stopped } = await live(capabilities, 0, 'refused', ['a', 'b'], 'waits', dice, { stale: random })
        const counts = wrong.filter((what) => !(residue && stopped && isResidue(what)))
        if (counts.length > 0) failures.push(`seed ${seed}: ${counts.join(', ')}`)
      }
      assert.deepEqual(failures, [])
    })

    test(`XN2 troubles and edits in flight, over seeds: ${naming} names, API offers ${offers}`, async () => {
      const failures: string[] = []
      for (let seed = 1; seed <= SEEDS; seed++) {
        const random = randomOf(seed * 16 + bits * 2 + (naming === 'user-chosen' ? 1 : 0))
        const dice = { random, often: random() * 0.08 }
        const { wrong, stopped } = await live(capabilities, 0, 'refused', ['a', 'b'], 'waits', dice, { edits: random })
        const counts = wrong.filter((what) => !(residue && stopped && isResidue(what)))
        if (counts.length > 0) failures.push(`seed ${seed}: ${counts.join(', ')}`)
      }
      assert.deepEqual(failures, [])
    })

    test(`XN2 crash sweep: ${naming} names, API offers ${offers}`, async () => {
      const failures: string[] = []
      for (const [objects, then] of lives) {
        const { sides, wrong: without } = await live(capabilities, Number.POSITIVE_INFINITY, 'refused', objects)
        assert.deepEqual(without, [], 'without any trouble')
        for (const [i, side] of sides.entries()) {
          for (const trouble of ['crash', side === 'before' ? 'refused' : 'answer lost'] as const) {
            const { wrong, stopped } = await live(capabilities, i + 1, trouble, objects, then)
            const when = `${trouble} at ${i + 1}, the user ${then}, ${objects.length} object(s)`
            // A refused call certainly had no effect, so the object must recover.
            const excused = residue && stopped && trouble !== 'refused'
            const counts = wrong.filter((what) => !(excused && isResidue(what)))
            if (counts.length > 0) failures.push(`${when}: ${counts.join(', ')}`)
          }
        }
      }
      assert.deepEqual(failures, [])
    })
  }
}
