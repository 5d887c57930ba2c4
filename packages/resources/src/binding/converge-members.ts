import { type Condition, equal, groupResource, isAlreadyExists, isConflict, type KubeObject } from '@crosstie/kube'
import { forEachLimited } from '../concurrency.js'
import { readConnection, writeConnection } from '../connection/copy.js'
import { aggregateType } from '../definition/aggregate.js'
import type { Binding } from '../definition/claim.js'
import {
  type BindableSpec,
  claimAnnotations,
  describeObject,
  describeReference,
  entriesOf,
  firstOf,
  phaseOf,
  referenceTo,
  specOf,
} from '../metadata/binding.js'
import { conditions } from '../status/conditions.js'
import { type Contribution, contributions, readClass } from './class-candidates.js'
import { cyclesOf } from './deletion-order.js'
import {
  causesFirst,
  entriesFor,
  inOrder,
  isFree,
  isMemberOf,
  type Member,
  matching,
  memberId,
  openNeedsOf,
  phaseFor,
} from './members.js'
import { mergeConnections } from './merge-connections.js'
import { attempts, memberName } from './names.js'
import { affixesOf, type For, managedFor } from './provision.js'
import { isReady, isReconciled, nameRefused, whyNotAllReady } from './readiness.js'
import { type BindingRuntime, change, REQUESTS_MAX, report, setPhase } from './runtime.js'
import { refuseTakenNames } from './taken-names.js'

/** The result of `convergeMembers`. */
export interface Convergence {
  readonly aggregate: KubeObject
  readonly ready: boolean
  readonly because: string
  /** Set if the external name of a member cannot be used. */
  readonly refused?: Condition | undefined
  /** Whether the status was written. It is not written again shortly after the last write. */
  readonly reported: boolean
  /** Whether the claim must be reconciled again soon, even without a change. */
  readonly open: boolean
}

/**
 * The minimum interval between progress reports while members become ready. Readiness of all members is reported at
 * once.
 */
export const PROGRESS_SECONDS = 1

/**
 * Reconciles an aggregate on behalf of its claim: provisions missing members, binds matching resources, merges
 * their connection details and reports progress.
 */
export async function convergeMembers(
  runtime: BindingRuntime,
  claim: KubeObject,
  aggregate: KubeObject,
  signal: AbortSignal,
): Promise<Convergence> {
  const matched = await matching(runtime, aggregate)
  const classes = await unprovisioned(runtime, aggregate, matched, signal)
  const made = await provisionMembers(runtime, claim, aggregate, classes, signal)
  const bound = await bindMembers(runtime, aggregate, matched, signal)
  const members = inOrder([...bound, ...made])
  const conflicts = await publish(runtime, claim, aggregate, members, signal)
  return await reportProgress(runtime, aggregate, members, conflicts, signal)
}

/**
 * Returns the reason why a claim must not bind to an aggregate: the aggregate has no main resource for this kind of
 * claim (AGG4). Returns undefined if it has one.
 */
export async function whyUnsuitable(
  runtime: BindingRuntime,
  claim: KubeObject,
  aggregate: KubeObject,
): Promise<string | undefined> {
  const matched = await matching(runtime, aggregate)
  const main = matched.some(
    ({ binding, object }) => binding.role === 'main' && (isFree(object) || isMemberOf(object, aggregate)),
  )
  return main ? undefined : `waiting for ${describeObject(aggregate)}, which has nothing to offer to a ${claim.kind}`
}

/** Returns the classes of the aggregate class that have no member yet. Each class provisions one member. */
async function unprovisioned(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  matched: readonly Member[],
  signal: AbortSignal,
): Promise<{ readonly missing: readonly Contribution[]; readonly all: readonly Contribution[] }> {
  const { classRef } = specOf<BindableSpec>(aggregate)
  const given = classRef && (await readClass(runtime, classRef, signal))
  if (!given) return { missing: [], all: [] }
  const ours = matched.filter(({ object }) => isMemberOf(object, aggregate))
  const classes = new Set(
    ours.map(({ binding, object }) => nameOf(binding, specOf<BindableSpec>(object).classRef?.name)),
  )
  const all = await contributions(runtime, given)
  return { all, missing: all.filter((each) => !classes.has(nameOf(each.binding, each.class.metadata.name))) }
}

/** Returns whether another class of the aggregate would give a resource of this kind the same external name. */
function isAmbiguous(contribution: Contribution, all: readonly Contribution[]): boolean {
  return all.some(
    ({ binding, class: other }) =>
      binding === contribution.binding &&
      other.metadata.name !== contribution.class.metadata.name &&
      equal(affixesOf(other), affixesOf(contribution.class)),
  )
}

const nameOf = ({ managed }: Binding, className: string | undefined): string =>
  `${groupResource(managed.classType)}/${className}`

async function provisionMembers(
  runtime: BindingRuntime,
  claim: KubeObject,
  aggregate: KubeObject,
  { missing, all }: { readonly missing: readonly Contribution[]; readonly all: readonly Contribution[] },
  signal: AbortSignal,
): Promise<readonly Member[]> {
  // All members are configured before the first is created, so that an incompatible class prevents a partial
  // aggregate.
  const wanted = missing.map((contribution) => {
    const ambiguous = isAmbiguous(contribution, all)
    return { contribution, at: configured({ claim, aggregate, ambiguous }, contribution) }
  })
  await refuseTakenNames(
    runtime,
    wanted.map(({ contribution: { binding }, at }) => ({ binding, object: at(0) })),
  )
  const made: Member[] = []
  await forEachLimited(wanted, REQUESTS_MAX, async ({ contribution: { binding }, at }) => {
    made.push({ binding, object: await createMember(runtime, aggregate, binding.managed.type, at, signal) })
  })
  const described = made.map(
    ({ object }) => `${describeObject(object)} with ${describeReference(specOf<BindableSpec>(object).classRef!)}`,
  )
  if (made.length > 0) runtime.events.event(claim, 'Normal', 'Provisioned', `Provisioned ${firstOf(described)}`)
  return made
}

type Configured = (attempt: number) => KubeObject

function configured(owner: For, { binding, class: given }: Contribution): Configured {
  const { type } = binding.managed
  const name = (attempt: number) => memberName(owner.claim, type, given.metadata.name!, attempt)
  const first = managedFor(binding, owner, given, name(0))
  return (attempt) => (attempt === 0 ? first : managedFor(binding, owner, given, name(attempt)))
}

/** Creates a member. Its name is derived from claim and class, so a repeated create finds the existing member. */
async function createMember(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  type: Member['binding']['managed']['type'],
  at: Configured,
  signal: AbortSignal,
): Promise<KubeObject> {
  for (const attempt of attempts) {
    const wanted = at(attempt)
    try {
      return await runtime.client.create(type, wanted, { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const there = await runtime.client.get(type, { name: wanted.metadata.name! }, { signal })
      if (isMemberOf(there, aggregate)) return there
    }
  }
  throw new Error(`all names that were tried for a ${type.kind} are taken`)
}

/**
 * Binds free resources that match, from the revision in which they were free. A resource belongs to at most one
 * aggregate (AGG5).
 */
async function bindMembers(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  matched: readonly Member[],
  signal: AbortSignal,
): Promise<readonly Member[]> {
  const members = matched.filter(({ object }) => isMemberOf(object, aggregate))
  const free = matched.filter(({ object }) => isFree(object))
  await forEachLimited(free, REQUESTS_MAX, async ({ binding, object }) => {
    try {
      const spec = { aggregateRef: referenceTo(aggregate) }
      members.push({ binding, object: await change(runtime, binding.managed.type, object, { spec }, signal) })
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  })
  return members
}

/** Writes the merged connection details of all members. The Secrets of the members do not change. */
async function publish(
  runtime: BindingRuntime,
  claim: KubeObject,
  aggregate: KubeObject,
  members: readonly Member[],
  signal: AbortSignal,
) {
  const to = specOf<BindableSpec>(aggregate).writeConnectionSecretsToRef
  if (!to) return []
  const published = await Promise.all(
    members.map(async ({ object }) => {
      const from = specOf<BindableSpec>(object).writeConnectionSecretToRef
      if (from) runtime.secretUsers.add(`${from.namespace}/${from.name}`, claim)
      const data = from && (await readConnection(runtime.client, object, from, signal))
      const prefix = object.metadata.annotations?.[claimAnnotations.secretPrefix] ?? ''
      return { by: describeObject(object), prefix, data: data ?? {} }
    }),
  )
  const { data, conflicts } = mergeConnections(published)
  const written = Object.keys(data).length > 0 && (await writeConnection(runtime.client, aggregate, to, data, signal))
  if (written) runtime.selfWrites.add(written)
  return conflicts
}

async function reportProgress(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  members: readonly Member[],
  conflicts: Awaited<ReturnType<typeof publish>>,
  signal: AbortSignal,
): Promise<Convergence> {
  await forEachLimited(members, REQUESTS_MAX, async ({ binding, object }) => {
    const phase = phaseFor(isReady(object), object)
    if (phase === 'Unbindable' && (isYoung(runtime, object) || !isReconciled(object))) return
    if (phase === 'Bound' && phaseOf(object) !== 'Bound') {
      runtime.events.event(object, 'Normal', 'BoundToAggregate', `Bound to ${describeObject(aggregate)}`)
    }
    await setPhase(runtime, binding.managed.type, object, phase, signal)
  })
  const aggregatedResources = entriesFor(runtime, aggregate, members, ({ object }) => phaseFor(isReady(object), object))
  const unready = causesFirst(members.filter(({ object }) => !isReady(object))).map(({ object }) => object)
  const here = new Set(members.map(({ object }) => object.metadata.uid))
  const elsewhere = aggregatedResources.filter((entry) => entry.bindingPhase !== 'Bound' && !here.has(entry.uid))
  const ready = members.length > 0 && unready.length === 0 && elsewhere.length === 0
  const because =
    unready.length > 0
      ? (whyNever(members) ?? whyNotAllReady(unready))
      : `waiting for ${elsewhere.map((entry) => describeReference(entry)).join(', ') || 'parts'}`
  const refused = nameRefused(unready)
  if (!ready && wasReportedRecently(runtime, aggregate))
    return { aggregate, ready, because, refused, reported: false, open: true }
  const waiting: Condition = { type: 'Ready', status: 'False', reason: 'Waiting', message: because }
  const said = [
    ready ? conditions.available() : (refused ?? waiting),
    conditions.reconcileSuccess(),
    ...keyCondition(aggregate, conflicts),
  ]
  const fields = { aggregatedResources, bindingPhase: 'Bound' }
  const known = new Set(entriesOf(aggregate).map(({ uid }) => uid))
  const written = await report(runtime, aggregateType, aggregate, fields, said, signal)
  runtime.aggregates.of(aggregate).reportedAt = ready ? 0 : runtime.clock.now()
  const fresh = written !== aggregate ? aggregatedResources.filter(({ uid }) => !known.has(uid)) : []
  if (fresh.length > 0)
    runtime.events.event(aggregate, 'Normal', 'Aggregated', `Aggregated ${firstOf(fresh.map(describeReference))}`)
  reportConflicts(runtime, aggregate, conflicts)
  const open = unready.some((object) => isYoung(runtime, object))
  return { aggregate: written, ready, because, refused, reported: true, open }
}

/** Returns a message if members wait for each other in a cycle. Only the author of the classes can fix that. */
function whyNever(members: readonly Member[]): string | undefined {
  const unready = members.filter(({ object }) => !isReady(object))
  const byId = new Map(unready.map((member) => [memberId(member.object), member]))
  const waiting = unready.map((member) => ({ id: memberId(member.object), needs: openNeedsOf(member, unready) }))
  const [circle] = cyclesOf(waiting)
  if (!circle) return undefined
  const names = circle.map((id) => describeObject(byId.get(id)!.object)).join(', ')
  return `these refer to each other in a circle, so that none can be made first: ${names}`
}

/** Returns whether the progress of the aggregate was reported less than PROGRESS_SECONDS ago. */
export const wasReportedRecently = ({ aggregates, clock }: BindingRuntime, aggregate: KubeObject): boolean =>
  clock.now() - aggregates.of(aggregate).reportedAt < PROGRESS_SECONDS * 1000

/** Timestamps have a resolution of one second, so one second is added. */
const isRecent = ({ clock }: BindingRuntime, time: string): boolean =>
  clock.now() - Date.parse(time) < (PROGRESS_SECONDS + 1) * 1000

/** Returns whether the object was created recently and may become ready soon. */
const isYoung = (runtime: BindingRuntime, { metadata }: KubeObject): boolean =>
  isRecent(runtime, metadata.creationTimestamp!)

/** Returns whether the object was deleted recently and may be gone soon. Its progress is reported only after that. */
export const leavesQuickly = (runtime: BindingRuntime, { metadata }: KubeObject): boolean =>
  isRecent(runtime, metadata.deletionTimestamp!)

const KEYS = 'ConnectionKeysUnique'

function keyCondition(aggregate: KubeObject, conflicts: Awaited<ReturnType<typeof publish>>): readonly Condition[] {
  if (conflicts.length > 0) {
    return [{ type: KEYS, status: 'False', reason: 'SeveralValues', message: describe(conflicts) }]
  }
  const held = (aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions
  return held?.some(({ type }) => type === KEYS) ? [{ type: KEYS, status: 'True', reason: 'Unique' }] : []
}

function reportConflicts(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  conflicts: Awaited<ReturnType<typeof publish>>,
): void {
  if (conflicts.length === 0) return
  const held = (aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions
  const message = describe(conflicts)
  if (held?.some((condition) => condition.type === KEYS && condition.message === message)) return
  runtime.events.event(aggregate, 'Warning', 'ConnectionKeyConflict', message)
}

const describe = (conflicts: Awaited<ReturnType<typeof publish>>): string =>
  conflicts
    .map(
      ({ key, used, unused }) => `key ${key} is published by ${used}, whose value is used, and by ${unused.join(', ')}`,
    )
    .join('; ')
