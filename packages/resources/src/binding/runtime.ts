import {
  type Client,
  type Clock,
  type Condition,
  groupResource,
  type Json,
  type KubeObject,
  type ResourceType,
  systemClock,
} from '@crosstie/kube'
import { aggregateType } from '../definition/aggregate.js'
import type { Binding, ClaimKind } from '../definition/claim.js'
import { ObjectMemory } from '../memory/object-memory.js'
import { SecretUsers } from '../memory/secret-users.js'
import { SelfWrites } from '../memory/self-writes.js'
import { bindingManager, keyOf, phaseOf, type Reference, refersTo } from '../metadata/binding.js'
import type { EventReporter } from '../status/events.js'
import { forGeneration, patchStatus, writeStatus } from '../status/write.js'
import { type Find, findOn } from './find.js'
import { type AggregateState, BoundAggregates, newAggregateState, WaitingClaims } from './memory.js'

/** How many requests a reconciliation sends to the API server at a time. */
export const REQUESTS_MAX = 16

export interface ClaimOptions {
  readonly client: Client
  /** All combinations that this process owns; those of other kinds of claims are ignored. */
  readonly bindings: readonly Binding[]
  readonly events?: EventReporter
  readonly clock?: Clock
  /** How often a claim that is well is looked at again. */
  readonly pollSeconds?: number
  /** All objects of a kind with these labels. Absent: the server is asked. */
  readonly find?: Find
}

/** Everything that looking after claims or aggregates needs. */
export interface BindingRuntime {
  readonly client: Client
  readonly bindings: readonly Binding[]
  readonly events: EventReporter
  readonly clock: Clock
  readonly pollSeconds: number
  readonly find: Find
  /** Our own writes, until they come back as changes. */
  readonly selfWrites: SelfWrites
  /** What this process remembers about aggregates. */
  readonly aggregates: ObjectMemory<AggregateState>
  /** Which claims read or write which Secrets. */
  readonly secretUsers: SecretUsers
}

export interface ClaimRuntime extends BindingRuntime {
  readonly kind: ClaimKind
  /** The one owner of what this process remembers about claims, and the one way to drop it. */
  readonly memory: ObjectMemory<undefined>
  readonly waiting: WaitingClaims
  readonly bound: BoundAggregates
  /** Offers that say they are for a claim, by the claim's namespace and name: also for one that is gone. */
  readonly bindables: Map<string, Map<string, RememberedBindable>>
}

/** An offer, and the uid of the claim that it says it is for. */
export interface RememberedBindable {
  readonly type: ResourceType
  readonly name: string
  readonly uid: string | undefined
}

export function bindingRuntimeFor(options: ClaimOptions): BindingRuntime {
  const { client } = options
  return {
    client,
    bindings: options.bindings,
    events: options.events ?? { event: () => {} },
    clock: options.clock ?? systemClock,
    pollSeconds: options.pollSeconds ?? 60,
    selfWrites: new SelfWrites(),
    aggregates: new ObjectMemory(newAggregateState),
    secretUsers: new SecretUsers(),
    find: options.find ?? findOn(client),
  }
}

export function claimRuntimeFor(kind: ClaimKind, options: ClaimOptions): ClaimRuntime {
  const name = groupResource(kind.type)
  const shared = bindingRuntimeFor(options)
  const waiting = new WaitingClaims()
  const bound = new BoundAggregates(shared.aggregates)
  return {
    ...shared,
    bindings: options.bindings.filter(({ claim }) => groupResource(claim.type) === name),
    kind,
    memory: new ObjectMemory(() => undefined, [waiting, bound, shared.secretUsers]),
    waiting,
    bound,
    bindables: new Map(),
  }
}

/** The kind of offer that a claim refers to, if anybody here may bind the two. */
export function bindableType(runtime: BindingRuntime, reference: Reference): ResourceType | undefined {
  if (refersTo(reference, aggregateType)) return aggregateType
  return runtime.bindings.find(({ role, managed }) => role === 'main' && refersTo(reference, managed.type))?.managed
    .type
}

/** Writes the status and remembers the write. Returns the object as it was written, or the same object if nothing changed. */
export async function report(
  runtime: BindingRuntime,
  type: ResourceType,
  object: KubeObject,
  fields: Readonly<Record<string, unknown>>,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<KubeObject> {
  const change = { fields, conditions: forGeneration(object, conditions) }
  const written = await writeStatus(runtime.client, type, object, change, { now: runtime.clock.now(), signal })
  if (written !== object) runtime.selfWrites.add(written)
  return written
}

/** Sets the binding phase of an object that others report on too: nothing else of its status is touched. */
export async function setPhase(
  runtime: BindingRuntime,
  type: ResourceType,
  object: KubeObject,
  phase: string,
  signal: AbortSignal,
): Promise<void> {
  if (phaseOf(object) !== phase) await patchStatus(runtime.client, type, keyOf(object), { bindingPhase: phase }, signal)
}

/** Changes an object from the revision that was read: a conflict if somebody wrote in between. */
export async function change(
  runtime: BindingRuntime,
  type: ResourceType,
  object: KubeObject,
  patch: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { resourceVersion, uid } = object.metadata
  const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion, uid }
  const whole = { ...patch, metadata } as unknown as Json
  const options = { fieldManager: bindingManager, signal }
  const written = await runtime.client.patch(type, keyOf(object), { type: 'merge', patch: whole }, options)
  runtime.selfWrites.add(written)
  return written
}
