import {
  type Client,
  type Clock,
  type Condition,
  conditionsOf,
  equal,
  groupResource,
  type Json,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
  setConditions,
  systemClock,
  timestamp,
} from '@crosstie/kube'
import { aggregateType } from '../aggregate/define.js'
import type { EventRecorder } from '../managed/kit.js'
import { OwnWrites } from '../managed/ownwrites.js'
import { SecretUsers } from '../managed/secretusers.js'
import type { Binding, ClaimKind } from './define.js'
import { type Find, findOn } from './find.js'
import { bindingManager, keyOf, type Reference, refersTo } from './words.js'

export interface ClaimOptions {
  readonly client: Client
  /** All combinations that this process owns; those of other kinds of claims are ignored. */
  readonly bindings: readonly Binding[]
  readonly events?: EventRecorder
  readonly clock?: Clock
  /** How often a claim that is well is looked at again. */
  readonly pollSeconds?: number
  /** All objects of a kind with these labels. Absent: the server is asked. */
  readonly find?: Find
}

/** Everything that looking after claims or aggregates needs. */
export interface Kit {
  readonly client: Client
  readonly bindings: readonly Binding[]
  readonly events: EventRecorder
  readonly clock: Clock
  readonly pollSeconds: number
  readonly find: Find
  /** What is left of aggregates that are being deleted, by their names. */
  readonly leaving: Map<string, Leaving>
  /** Our own writes, until they come back as changes. */
  readonly ownWrites: OwnWrites
  /** When people were last told how far an aggregate is, by its uid. */
  readonly told: Map<string, number>
  /** Which claims read or write which Secrets. */
  readonly secretUsers: SecretUsers
}

/** The parts of a deleted aggregate that were there when it was deleted: none comes to life later. */
export interface Leaving {
  readonly uid: string
  /** A revision of the server from which on the aggregate was deleted. */
  readonly since: string
  /** By their ids, those that were not seen to be gone. */
  readonly parts: Map<string, Binding>
}

export interface ClaimKit extends Kit {
  readonly kind: ClaimKind
  /** Claims that wait for a class, or for what they refer to by `Kind/name`, by uid. */
  readonly waiting: Map<string, { readonly key: ObjectKey; readonly what: string }>
  /** Which claim an aggregate is bound to, by the aggregate's name. */
  readonly claimOf: Map<string, ObjectKey>
  /** Offers that say they are for a claim, by the claim's namespace and name: also for one that is gone. */
  readonly offers: Map<string, Map<string, NotedOffer>>
}

/** An offer, and the uid of the claim that it says it is for. */
export interface NotedOffer {
  readonly type: ResourceType
  readonly name: string
  readonly uid: string | undefined
}

export function kitFor(options: ClaimOptions): Kit {
  const { client } = options
  return {
    client,
    bindings: options.bindings,
    events: options.events ?? { event: () => {} },
    clock: options.clock ?? systemClock,
    pollSeconds: options.pollSeconds ?? 60,
    ownWrites: new OwnWrites(),
    told: new Map(),
    secretUsers: new SecretUsers(),
    find: options.find ?? findOn(client),
    leaving: new Map(),
  }
}

export function claimKitFor(kind: ClaimKind, options: ClaimOptions): ClaimKit {
  const name = groupResource(kind.type)
  return {
    ...kitFor(options),
    bindings: options.bindings.filter(({ claim }) => groupResource(claim.type) === name),
    kind,
    waiting: new Map(),
    claimOf: new Map(),
    offers: new Map(),
  }
}

/** The kind of offer that a claim refers to, if anybody here may bind the two. */
export function offerType(kit: Kit, reference: Reference): ResourceType | undefined {
  if (refersTo(reference, aggregateType)) return aggregateType
  return kit.bindings.find(({ role, managed }) => role === 'main' && refersTo(reference, managed.type))?.managed.type
}

/**
 * Writes the status if it says anything new, from the revision that was read.
 * The object as it is then.
 */
export async function report(
  kit: Kit,
  type: ResourceType,
  object: KubeObject,
  fields: Readonly<Record<string, unknown>>,
  said: readonly Condition[],
  signal: AbortSignal,
): Promise<KubeObject> {
  const old = (object['status'] ?? {}) as Readonly<Record<string, unknown>>
  const held = conditionsOf(object)
  const wanted = said.map((condition) => ({ ...condition, observedGeneration: object.metadata.generation }))
  const set = setConditions(held, ...(wanted as Condition[]))
  const same = Object.entries(fields).every(([name, value]) => equal(value, old[name]))
  if (set === held && same) return object
  const lastTransitionTime = timestamp(kit.clock.now())
  const conditions = set.map((condition) =>
    wanted.includes(condition as never) ? { ...condition, lastTransitionTime } : condition,
  )
  const status = { ...old, ...fields, conditions }
  const written = await kit.client.update(type, { ...object, status }, { subresource: 'status', signal })
  kit.ownWrites.add(written)
  return written
}

/** Sets the binding phase of an object that others report on too: nothing else of its status is touched. */
export async function setPhase(
  kit: Kit,
  type: ResourceType,
  object: KubeObject,
  phase: string,
  signal: AbortSignal,
): Promise<void> {
  const status = object['status'] as { bindingPhase?: string } | undefined
  if (status?.bindingPhase === phase) return
  const patch = { status: { bindingPhase: phase } }
  await kit.client.patch(type, keyOf(object), { type: 'merge', patch }, { subresource: 'status', signal })
}

/** Changes an object from the revision that was read: a conflict if somebody wrote in between. */
export async function change(
  kit: Kit,
  type: ResourceType,
  object: KubeObject,
  patch: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { resourceVersion, uid } = object.metadata
  const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion, uid }
  const whole = { ...patch, metadata } as unknown as Json
  const options = { fieldManager: bindingManager, signal }
  const written = await kit.client.patch(type, keyOf(object), { type: 'merge', patch: whole }, options)
  kit.ownWrites.add(written)
  return written
}

/** Runs something for each, a few at once. */
export async function forEach<T>(items: readonly T[], run: (item: T) => Promise<void>, atOnce = 16): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
