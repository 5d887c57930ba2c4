import { type Condition, ignoring, isConflict, isNotFound, type KubeObject, type ObjectKey } from '@crosstie/kube'
import type { Binding } from '../claim/define.js'
import { change, forEach, type Kit, type Leaving, report, setPhase } from '../claim/kit.js'
import { whyNotReady } from '../claim/why.js'
import {
  aggregateFinalizer,
  called,
  calledBy,
  keyOf,
  type OfferSpec,
  phaseOf,
  refersTo,
  specOf,
} from '../claim/words.js'
import { conditions } from '../managed/conditions.js'
import type { Next } from '../managed/kit.js'
import { isDeleted, withoutFinalizer } from '../managed/meta.js'
import { aggregateType } from './define.js'
import { departure } from './order.js'
import { type Entry, entriesFor, entriesOf, isPartOf, matching, needsOf, type Part, partId } from './parts.js'
import { leavesQuickly, SETTLING_SECONDS, wasTold } from './settle.js'

/**
 * Takes a deleted aggregate apart: every part by its own policy (AGG8), and
 * those that others need after those others. Aggregates that stay are looked
 * after by the claims that they are bound to.
 */
export async function reconcileAggregate(kit: Kit, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  const aggregate = await read(kit, key, signal)
  if (!aggregate) kit.leaving.delete(key.name)
  if (!aggregate || !isDeleted(aggregate)) return { after: 'never' }
  if (!aggregate.metadata.finalizers?.includes(aggregateFinalizer)) return { after: 'never' }
  try {
    return await takeApart(kit, aggregate, signal)
  } catch (error) {
    if (isConflict(error)) return { after: 'backoff' }
    throw error
  }
}

async function takeApart(kit: Kit, aggregate: KubeObject, signal: AbortSignal): Promise<Next> {
  const parts = await partsOf(kit, aggregate, signal)
  const byId = new Map(parts.map((part) => [partId(part.object), part]))
  const isRetained = ({ object }: Part) =>
    (specOf<OfferSpec>(object).reclaimPolicy ?? 'Retain') === 'Retain' && !isDeleted(object)
  const plan = departure(
    parts.map((part) => ({ id: partId(part.object), needs: needsOf(part, parts), retained: isRetained(part) })),
  )
  await forEach(
    plan.kept.map((id) => byId.get(id)!),
    async (part) => letStay(kit, aggregate, part, signal),
  )
  await forEach(
    plan.now.map((id) => byId.get(id)!),
    async (part) => remove(kit, part, signal),
  )

  const leaving = [...plan.now, ...plan.later.map(({ id }) => id)]
  const strangers = entriesOf(aggregate).filter((entry) => !isKnown(kit, entry))
  if (leaving.length === 0 && strangers.length === 0) return await release(kit, aggregate, signal)
  // That parts go in a circle is news, however soon they are gone.
  const soonGone = plan.cycles.length === 0 && leavesQuickly(kit, aggregate)
  if (soonGone || wasTold(kit, aggregate)) return { after: 'poll', seconds: SETTLING_SECONDS }
  const describe = (id: string) => called(byId.get(id)!.object)
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
    ...strangers.map((entry) => `nobody here knows how to delete ${calledBy(entry)}`),
    ...(plan.kept.length > 0 ? [`retained: ${plan.kept.slice(0, SHOWN).map(describe).join(', ')}`] : []),
  ].join('; ')
  const said: Condition = { ...conditions.deleting(), message }
  const aggregatedResources = entriesFor(kit, aggregate, parts, ({ object }) => phaseOf(object) ?? 'Unbindable')
  await report(kit, aggregateType, aggregate, { aggregatedResources }, [said], signal)
  kit.told.set(aggregate.metadata.uid!, kit.clock.now())
  if (plan.cycles.length > 0 && !isTold(aggregate))
    kit.events.event(aggregate, 'Warning', 'CircularReferences', message)
  // A member without finalizers is gone at once, and no change of it says so.
  const soon = plan.now.some((id) => (byId.get(id)?.object.metadata.finalizers ?? []).length === 0)
  return { after: 'poll', seconds: soon ? 1 : kit.pollSeconds }
}

const SHOWN = 5

const isTold = (aggregate: KubeObject): boolean =>
  ((aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []).some(
    ({ message }) => message?.includes('in a circle') ?? false,
  )

const isKnown = (kit: Kit, entry: Entry): boolean => kit.bindings.some(({ managed }) => refersTo(entry, managed.type))

/**
 * All that is bound to the aggregate, also what lost its labels. To not know of
 * a part could mean to delete what it needs: so what we remember has to be at
 * least as new as the aggregate's deletion, else the server is asked, and none
 * that was known is forgotten before it is gone. What others make later never
 * comes to life.
 */
async function partsOf(kit: Kit, aggregate: KubeObject, signal: AbortSignal): Promise<readonly Part[]> {
  const { parts, since } = leavingOf(kit, aggregate)
  const found = await boundTo(kit, aggregate, since)
  const ids = new Set(found.map(({ object }) => partId(object)))
  const unseen = [...parts].filter(([id]) => !ids.has(id))
  for (const { object, binding } of found) parts.set(partId(object), binding)
  const more: Part[] = []
  await forEach(unseen, async ([id, binding]) => {
    const object = await readPart(kit, binding, id, since, signal)
    if (object && isPartOf(object, aggregate)) more.push({ binding, object })
    else parts.delete(id)
  })
  return [...found, ...more]
}

function leavingOf(kit: Kit, aggregate: KubeObject): Leaving {
  const { name, uid, resourceVersion } = aggregate.metadata
  const known = kit.leaving.get(name!)
  if (known && known.uid === uid) return known
  const parts = new Map(entriesOf(aggregate).flatMap((entry) => partOf(kit, entry)))
  const leaving = { uid: uid!, since: resourceVersion!, parts }
  kit.leaving.set(name!, leaving)
  return leaving
}

async function boundTo(kit: Kit, aggregate: KubeObject, since: string): Promise<readonly Part[]> {
  return (await matching(kit, aggregate, since)).filter(({ object }) => isPartOf(object, aggregate))
}

function partOf(kit: Kit, entry: Entry): readonly (readonly [id: string, Binding])[] {
  const binding = kit.bindings.find(({ managed }) => refersTo(entry, managed.type))
  return binding ? [[`${entry.kind}/${entry.name}`, binding]] : []
}

async function readPart(kit: Kit, { managed }: Binding, id: string, since: string, signal: AbortSignal) {
  const key = { name: id.slice(id.indexOf('/') + 1) }
  return await kit.client.get(managed.type, key, { resourceVersion: since, signal }).catch(ignoring(isNotFound))
}

async function letStay(kit: Kit, aggregate: KubeObject, { binding, object }: Part, signal: AbortSignal): Promise<void> {
  if (phaseOf(object) === 'Released') return
  await setPhase(kit, binding.managed.type, object, 'Released', signal)
  kit.events.event(object, 'Normal', 'Released', `Retained: ${called(aggregate)} was deleted`)
}

async function remove(kit: Kit, { binding, object }: Part, signal: AbortSignal): Promise<void> {
  if (isDeleted(object)) return
  const options = { preconditions: { uid: object.metadata.uid! }, signal }
  await kit.client.delete(binding.managed.type, keyOf(object), options).catch(ignoring(isNotFound, isConflict))
}

async function release(kit: Kit, aggregate: KubeObject, signal: AbortSignal): Promise<Next> {
  kit.leaving.delete(aggregate.metadata.name!)
  kit.told.delete(aggregate.metadata.uid!)
  const finalizers = withoutFinalizer(aggregate.metadata.finalizers, aggregateFinalizer)
  await change(kit, aggregateType, aggregate, { metadata: { finalizers } }, signal).catch(ignoring(isNotFound))
  return { after: 'never' }
}

async function read(kit: Kit, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return await kit.client.get(aggregateType, key, { signal }).catch(ignoring(isNotFound))
}
