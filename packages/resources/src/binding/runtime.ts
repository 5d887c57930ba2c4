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

/** The maximum number of concurrent requests of one reconciliation to the API server. */
export const REQUESTS_MAX = 16

/** The options of the controllers of claims and aggregates. */
export interface ClaimOptions {
  readonly client: Client
  /** All bindings of this process. Those of other kinds of claims are ignored. */
  readonly bindings: readonly Binding[]
  readonly events?: EventReporter
  readonly clock?: Clock
  /** The interval between reconciliations of a claim without changes. Defaults to 60. */
  readonly pollSeconds?: number
  /** Finds all objects of a kind with these labels. Defaults to a query of the server. */
  readonly find?: Find
}

/** The dependencies of the controllers of claims and aggregates. */
export interface BindingRuntime {
  readonly client: Client
  readonly bindings: readonly Binding[]
  readonly events: EventReporter
  readonly clock: Clock
  readonly pollSeconds: number
  readonly find: Find
  /** Writes of this process whose watch events have not arrived yet. */
  readonly selfWrites: SelfWrites
  /** The in-memory state of aggregates. */
  readonly aggregates: ObjectMemory<AggregateState>
  /** The claims that read or write each Secret. */
  readonly secretUsers: SecretUsers
}

/** The dependencies of the controller of one kind of claim. */
export interface ClaimRuntime extends BindingRuntime {
  readonly kind: ClaimKind
  /** Owns the in-memory state of claims. All of it is dropped here. */
  readonly memory: ObjectMemory<undefined>
  readonly waiting: WaitingClaims
  readonly bound: BoundAggregates
  /** Objects that refer to a claim, by the namespace and name of the claim. The claim may no longer exist. */
  readonly bindables: Map<string, Map<string, RememberedBindable>>
}

/** An object that refers to a claim, and the uid of that claim. */
export interface RememberedBindable {
  readonly type: ResourceType
  readonly name: string
  readonly uid: string | undefined
}

/** Returns the runtime of the controller of aggregates. */
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

/** Returns the runtime of the controller of one kind of claim. */
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

/** Returns the type that a claim refers to, if it is an aggregate or has a main binding in this process. */
export function bindableType(runtime: BindingRuntime, reference: Reference): ResourceType | undefined {
  if (refersTo(reference, aggregateType)) return aggregateType
  return runtime.bindings.find(({ role, managed }) => role === 'main' && refersTo(reference, managed.type))?.managed
    .type
}

/** Writes the status and remembers the write. Returns the written object, or the same object if nothing changed. */
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

/** Sets the binding phase of an object whose status has other writers too. Other fields of the status do not change. */
export async function setPhase(
  runtime: BindingRuntime,
  type: ResourceType,
  object: KubeObject,
  phase: string,
  signal: AbortSignal,
): Promise<void> {
  if (phaseOf(object) !== phase) await patchStatus(runtime.client, type, keyOf(object), { bindingPhase: phase }, signal)
}

/** Patches an object. Fails with a conflict if the object changed since it was read. */
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
