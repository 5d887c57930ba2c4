import type { Next } from '@crosstie/controller'
import { type Condition, ignoring, isConflict, isNotFound, type KubeObject, type ObjectKey } from '@crosstie/kube'
import { forEachLimited } from '../concurrency.js'
import { aggregateType } from '../definition/aggregate.js'
import type { Binding } from '../definition/claim.js'
import {
  aggregateFinalizer,
  type BindableSpec,
  describeObject,
  describeReference,
  type Entry,
  entriesOf,
  keyOf,
  phaseOf,
  refersTo,
  specOf,
} from '../metadata/binding.js'
import { isDeleted, withoutFinalizer } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { leavesQuickly, PROGRESS_SECONDS, wasReportedRecently } from './converge-members.js'
import { departure } from './deletion-order.js'
import { entriesFor, isMemberOf, type Member, matching, memberId, needsOf } from './members.js'
import type { AggregateDeletion } from './memory.js'
import { whyNotReady } from './readiness.js'
import { type BindingRuntime, change, REQUESTS_MAX, report, setPhase } from './runtime.js'

/**
 * Deletes the members of a deleted aggregate, each by its own reclaim policy (AGG8). A member is deleted after the
 * members that refer to it. Other aggregates are reconciled by their claims.
 */
export async function reconcileAggregate(runtime: BindingRuntime, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  const aggregate = await read(runtime, key, signal)
  if (!aggregate || !isDeleted(aggregate)) return { after: 'never' }
  if (!aggregate.metadata.finalizers?.includes(aggregateFinalizer)) return { after: 'never' }
  try {
    return await takeApart(runtime, aggregate, signal)
  } catch (error) {
    if (isConflict(error)) return { after: 'backoff' }
    throw error
  }
}

async function takeApart(runtime: BindingRuntime, aggregate: KubeObject, signal: AbortSignal): Promise<Next> {
  const members = await membersOf(runtime, aggregate, signal)
  const byId = new Map(members.map((member) => [memberId(member.object), member]))
  const isRetained = ({ object }: Member) =>
    (specOf<BindableSpec>(object).reclaimPolicy ?? 'Retain') === 'Retain' && !isDeleted(object)
  const plan = departure(
    members.map((member) => ({
      id: memberId(member.object),
      needs: needsOf(member, members),
      retained: isRetained(member),
    })),
  )
  await forEachLimited(
    plan.kept.map((id) => byId.get(id)!),
    REQUESTS_MAX,
    async (member) => retain(runtime, aggregate, member, signal),
  )
  await forEachLimited(
    plan.now.map((id) => byId.get(id)!),
    REQUESTS_MAX,
    async (member) => remove(runtime, member, signal),
  )

  const leaving = [...plan.now, ...plan.later.map(({ id }) => id)]
  const strangers = entriesOf(aggregate).filter((entry) => !isKnown(runtime, entry))
  if (leaving.length === 0 && strangers.length === 0) return await release(runtime, aggregate, signal)
  // A cycle is always reported, even if the members are gone soon.
  const soonGone = plan.cycles.length === 0 && leavesQuickly(runtime, aggregate)
  if (soonGone || wasReportedRecently(runtime, aggregate)) return { after: 'poll', seconds: PROGRESS_SECONDS }
  const describe = (id: string) => describeObject(byId.get(id)!.object)
  const message = [
    ...plan.now
      .slice(0, SHOWN)
      .map((id) => `waiting for ${describe(id)} to be deleted: ${whyNotReady(byId.get(id)!.object)}`),
    ...plan.later
      .slice(0, SHOWN)
      .map(
        ({ id, neededBy }) =>
          `${describe(id)} goes after ${neededBy.slice(0, SHOWN).map(describe).join(', ') || 'those it goes with'}`,
      ),
    ...plan.cycles.map(
      (cycle) => `these refer to each other in a circle and go together: ${cycle.map(describe).join(', ')}`,
    ),
    ...strangers.map((entry) => `nobody here knows how to delete ${describeReference(entry)}`),
    ...(plan.kept.length > 0 ? [`retained: ${plan.kept.slice(0, SHOWN).map(describe).join(', ')}`] : []),
  ].join('; ')
  const said: Condition = { ...conditions.deleting(), message }
  const aggregatedResources = entriesFor(runtime, aggregate, members, ({ object }) => phaseOf(object) ?? 'Unbindable')
  await report(runtime, aggregateType, aggregate, { aggregatedResources }, [said], signal)
  runtime.aggregates.of(aggregate).reportedAt = runtime.clock.now()
  if (plan.cycles.length > 0 && !isCycleReported(aggregate))
    runtime.events.event(aggregate, 'Warning', 'CircularReferences', message)
  // A member without finalizers is gone at once, and no watch event of this controller reports that.
  const soon = plan.now.some((id) => (byId.get(id)?.object.metadata.finalizers ?? []).length === 0)
  return { after: 'poll', seconds: soon ? 1 : runtime.pollSeconds }
}

const SHOWN = 5

const isCycleReported = (aggregate: KubeObject): boolean =>
  ((aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []).some(
    ({ message }) => message?.includes('in a circle') ?? false,
  )

const isKnown = (runtime: BindingRuntime, entry: Entry): boolean =>
  runtime.bindings.some(({ managed }) => refersTo(entry, managed.type))

/**
 * Returns all resources bound to the aggregate, including those that lost their labels. A missed member could lead to
 * the deletion of a resource that it needs. Therefore cached data must be at least as new as the deletion of the
 * aggregate, or the server is queried. A known member is dropped only once it is gone. Members that are created later
 * never get an external resource.
 */
async function membersOf(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  signal: AbortSignal,
): Promise<readonly Member[]> {
  const { members, since } = deletionOf(runtime, aggregate)
  const found = await boundTo(runtime, aggregate, since)
  const ids = new Set(found.map(({ object }) => memberId(object)))
  const unseen = [...members].filter(([id]) => !ids.has(id))
  for (const { object, binding } of found) members.set(memberId(object), binding)
  const more: Member[] = []
  await forEachLimited(unseen, REQUESTS_MAX, async ([id, binding]) => {
    const object = await readMember(runtime, binding, id, since, signal)
    if (object && isMemberOf(object, aggregate)) more.push({ binding, object })
    else members.delete(id)
  })
  return [...found, ...more]
}

function deletionOf(runtime: BindingRuntime, aggregate: KubeObject): AggregateDeletion {
  const state = runtime.aggregates.of(aggregate)
  state.deletion ??= {
    since: aggregate.metadata.resourceVersion!,
    members: new Map(entriesOf(aggregate).flatMap((entry) => memberOf(runtime, entry))),
  }
  return state.deletion
}

async function boundTo(runtime: BindingRuntime, aggregate: KubeObject, since: string): Promise<readonly Member[]> {
  return (await matching(runtime, aggregate, since)).filter(({ object }) => isMemberOf(object, aggregate))
}

function memberOf(runtime: BindingRuntime, entry: Entry): readonly (readonly [id: string, Binding])[] {
  const binding = runtime.bindings.find(({ managed }) => refersTo(entry, managed.type))
  return binding ? [[`${entry.kind}/${entry.name}`, binding]] : []
}

async function readMember(
  runtime: BindingRuntime,
  { managed }: Binding,
  id: string,
  since: string,
  signal: AbortSignal,
) {
  const key = { name: id.slice(id.indexOf('/') + 1) }
  return await runtime.client.get(managed.type, key, { resourceVersion: since, signal }).catch(ignoring(isNotFound))
}

async function retain(
  runtime: BindingRuntime,
  aggregate: KubeObject,
  { binding, object }: Member,
  signal: AbortSignal,
): Promise<void> {
  if (phaseOf(object) === 'Released') return
  await setPhase(runtime, binding.managed.type, object, 'Released', signal)
  runtime.events.event(object, 'Normal', 'Released', `Retained: ${describeObject(aggregate)} was deleted`)
}

async function remove(runtime: BindingRuntime, { binding, object }: Member, signal: AbortSignal): Promise<void> {
  if (isDeleted(object)) return
  const options = { preconditions: { uid: object.metadata.uid! }, signal }
  await runtime.client.delete(binding.managed.type, keyOf(object), options).catch(ignoring(isNotFound, isConflict))
}

async function release(runtime: BindingRuntime, aggregate: KubeObject, signal: AbortSignal): Promise<Next> {
  runtime.aggregates.drop(aggregate.metadata.uid!)
  const finalizers = withoutFinalizer(aggregate.metadata.finalizers, aggregateFinalizer)
  await change(runtime, aggregateType, aggregate, { metadata: { finalizers } }, signal).catch(ignoring(isNotFound))
  return { after: 'never' }
}

async function read(runtime: BindingRuntime, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return await runtime.client.get(aggregateType, key, { signal }).catch(ignoring(isNotFound))
}
