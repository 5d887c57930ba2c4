import { type Condition, equal, groupResource, isAlreadyExists, isConflict, type KubeObject } from '@crosstie/kube'
import type { Binding } from '../claim/define.js'
import { change, forEach, type Kit, report, setPhase } from '../claim/kit.js'
import { attempts, partName } from '../claim/names.js'
import { isLookedAfter, isReady, nameRefused, whyNotAllReady } from '../claim/why.js'
import {
  called,
  calledBy,
  claimAnnotations,
  type OfferSpec,
  phaseOf,
  referenceTo,
  someOf,
  specOf,
} from '../claim/words.js'
import { type Contribution, contributions, readClass } from '../class/candidates.js'
import { affixesOf, type For, managedFor } from '../class/provision.js'
import { refuseTakenNames } from '../class/taken.js'
import { readConnection, writeConnection } from '../connection/copy.js'
import { conditions } from '../managed/conditions.js'
import { mergeConnections } from './connection.js'
import { aggregateType } from './define.js'
import { circles } from './order.js'
import {
  causesFirst,
  entriesFor,
  entriesOf,
  inOrder,
  isFree,
  isPartOf,
  matching,
  openNeedsOf,
  type Part,
  partId,
  phaseFor,
} from './parts.js'

export interface Settled {
  readonly aggregate: KubeObject
  readonly ready: boolean
  readonly because: string
  /** The external name of a member cannot be used. */
  readonly refused?: Condition | undefined
  /** Are people told all of that? Not so soon after they were told last. */
  readonly told: boolean
  /** There is more to be told soon, if nothing changes by then. */
  readonly open: boolean
}

/**
 * While parts come to be, people are told how far they are now and then, not
 * with each of them. That all are ready is told at once.
 */
export const SETTLING_SECONDS = 1

/**
 * Looks after an aggregate on behalf of its claim: provisions the parts that
 * are missing, binds those that match, brings their connection details
 * together, and tells how far all of them are.
 */
export async function settleAggregate(
  kit: Kit,
  claim: KubeObject,
  aggregate: KubeObject,
  signal: AbortSignal,
): Promise<Settled> {
  const matched = await matching(kit, aggregate)
  const classes = await unprovisioned(kit, aggregate, matched, signal)
  const made = await provisionParts(kit, claim, aggregate, classes, signal)
  const bound = await bindParts(kit, aggregate, matched, signal)
  const parts = inOrder([...bound, ...made])
  const conflicts = await publish(kit, claim, aggregate, parts, signal)
  return await tell(kit, aggregate, parts, conflicts, signal)
}

/** Why a claim must not bind to an aggregate: none of its parts is what was asked for (AGG4). */
export async function whyNonsense(kit: Kit, claim: KubeObject, aggregate: KubeObject): Promise<string | undefined> {
  const matched = await matching(kit, aggregate)
  const main = matched.some(
    ({ binding, object }) => binding.role === 'main' && (isFree(object) || isPartOf(object, aggregate)),
  )
  return main ? undefined : `waiting for ${called(aggregate)}, which has nothing to offer to a ${claim.kind}`
}

/** The classes of the aggregate's class that have no part here yet. One class gives one part. */
async function unprovisioned(
  kit: Kit,
  aggregate: KubeObject,
  matched: readonly Part[],
  signal: AbortSignal,
): Promise<{ readonly missing: readonly Contribution[]; readonly all: readonly Contribution[] }> {
  const { classRef } = specOf<OfferSpec>(aggregate)
  const given = classRef && (await readClass(kit, classRef, signal))
  if (!given) return { missing: [], all: [] }
  const ours = matched.filter(({ object }) => isPartOf(object, aggregate))
  const classes = new Set(ours.map(({ binding, object }) => nameOf(binding, specOf<OfferSpec>(object).classRef?.name)))
  const all = await contributions(kit, given)
  return { all, missing: all.filter((each) => !classes.has(nameOf(each.binding, each.class.metadata.name))) }
}

/** Would another class of the aggregate give a resource of this kind the same external name? */
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

async function provisionParts(
  kit: Kit,
  claim: KubeObject,
  aggregate: KubeObject,
  { missing, all }: { readonly missing: readonly Contribution[]; readonly all: readonly Contribution[] },
  signal: AbortSignal,
): Promise<readonly Part[]> {
  // All of them are configured before the first is made: a class that does not suit the claim stops them all.
  const wanted = missing.map((contribution) => {
    const ambiguous = isAmbiguous(contribution, all)
    return { contribution, at: configured({ claim, aggregate, ambiguous }, contribution) }
  })
  await refuseTakenNames(
    kit,
    wanted.map(({ contribution: { binding }, at }) => ({ binding, object: at(0) })),
  )
  const made: Part[] = []
  await forEach(wanted, async ({ contribution: { binding }, at }) => {
    made.push({ binding, object: await makePart(kit, aggregate, binding.managed.type, at, signal) })
  })
  const described = made.map(({ object }) => `${called(object)} with ${calledBy(specOf<OfferSpec>(object).classRef!)}`)
  if (made.length > 0) kit.events.event(claim, 'Normal', 'Provisioned', `Provisioned ${someOf(described)}`)
  return made
}

type Configured = (attempt: number) => KubeObject

function configured(owner: For, { binding, class: given }: Contribution): Configured {
  const { type } = binding.managed
  const name = (attempt: number) => partName(owner.claim, type, given.metadata.name!, attempt)
  const first = managedFor(binding, owner, given, name(0))
  return (attempt) => (attempt === 0 ? first : managedFor(binding, owner, given, name(attempt)))
}

/** Its name follows from claim and class: whoever comes second finds it made. */
async function makePart(
  kit: Kit,
  aggregate: KubeObject,
  type: Part['binding']['managed']['type'],
  at: Configured,
  signal: AbortSignal,
): Promise<KubeObject> {
  for (const attempt of attempts) {
    const wanted = at(attempt)
    try {
      return await kit.client.create(type, wanted, { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const there = await kit.client.get(type, { name: wanted.metadata.name! }, { signal })
      if (isPartOf(there, aggregate)) return there
    }
  }
  throw new Error(`all names that were tried for a ${type.kind} are taken`)
}

/** What is free and matches is bound, from the revision in which it was free; one resource has one aggregate (AGG5). */
async function bindParts(
  kit: Kit,
  aggregate: KubeObject,
  matched: readonly Part[],
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const parts = matched.filter(({ object }) => isPartOf(object, aggregate))
  const free = matched.filter(({ object }) => isFree(object))
  await forEach(free, async ({ binding, object }) => {
    try {
      const spec = { aggregateRef: referenceTo(aggregate) }
      parts.push({ binding, object: await change(kit, binding.managed.type, object, { spec }, signal) })
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  })
  return parts
}

/** Brings the connection details of all parts together. The parts' own Secrets stay as they are. */
async function publish(
  kit: Kit,
  claim: KubeObject,
  aggregate: KubeObject,
  parts: readonly Part[],
  signal: AbortSignal,
) {
  const to = specOf<OfferSpec>(aggregate).writeConnectionSecretsToRef
  if (!to) return []
  const published = await Promise.all(
    parts.map(async ({ object }) => {
      const from = specOf<OfferSpec>(object).writeConnectionSecretToRef
      if (from) kit.secretUsers.add(`${from.namespace}/${from.name}`, claim)
      const data = from && (await readConnection(kit.client, object, from, signal))
      const prefix = object.metadata.annotations?.[claimAnnotations.secretPrefix] ?? ''
      return { by: called(object), prefix, data: data ?? {} }
    }),
  )
  const { data, conflicts } = mergeConnections(published)
  const written = Object.keys(data).length > 0 && (await writeConnection(kit.client, aggregate, to, data, signal))
  if (written) kit.ownWrites.add(written)
  return conflicts
}

async function tell(
  kit: Kit,
  aggregate: KubeObject,
  parts: readonly Part[],
  conflicts: Awaited<ReturnType<typeof publish>>,
  signal: AbortSignal,
): Promise<Settled> {
  await forEach(parts, async ({ binding, object }) => {
    const phase = phaseFor(isReady(object), object)
    if (phase === 'Unbindable' && (isYoung(kit, object) || !isLookedAfter(object))) return
    if (phase === 'Bound' && phaseOf(object) !== 'Bound') {
      kit.events.event(object, 'Normal', 'BoundToAggregate', `Bound to ${called(aggregate)}`)
    }
    await setPhase(kit, binding.managed.type, object, phase, signal)
  })
  const aggregatedResources = entriesFor(kit, aggregate, parts, ({ object }) => phaseFor(isReady(object), object))
  const unready = causesFirst(parts.filter(({ object }) => !isReady(object))).map(({ object }) => object)
  const here = new Set(parts.map(({ object }) => object.metadata.uid))
  const elsewhere = aggregatedResources.filter((entry) => entry.bindingPhase !== 'Bound' && !here.has(entry.uid))
  const ready = parts.length > 0 && unready.length === 0 && elsewhere.length === 0
  const because =
    unready.length > 0
      ? (whyNever(parts) ?? whyNotAllReady(unready))
      : `waiting for ${elsewhere.map((entry) => calledBy(entry)).join(', ') || 'parts'}`
  const refused = nameRefused(unready)
  if (!ready && wasTold(kit, aggregate)) return { aggregate, ready, because, refused, told: false, open: true }
  const waiting: Condition = { type: 'Ready', status: 'False', reason: 'Waiting', message: because }
  const said = [
    ready ? conditions.available() : (refused ?? waiting),
    conditions.reconcileSuccess(),
    ...keyCondition(aggregate, conflicts),
  ]
  const fields = { aggregatedResources, bindingPhase: 'Bound' }
  const known = new Set(entriesOf(aggregate).map(({ uid }) => uid))
  const written = await report(kit, aggregateType, aggregate, fields, said, signal)
  if (ready) kit.told.delete(aggregate.metadata.uid!)
  else kit.told.set(aggregate.metadata.uid!, kit.clock.now())
  const fresh = written !== aggregate ? aggregatedResources.filter(({ uid }) => !known.has(uid)) : []
  if (fresh.length > 0) kit.events.event(aggregate, 'Normal', 'Aggregated', `Aggregated ${someOf(fresh.map(calledBy))}`)
  tellConflicts(kit, aggregate, conflicts)
  const open = unready.some((object) => isYoung(kit, object))
  return { aggregate: written, ready, because, refused, told: true, open }
}

/** Nobody but whoever wrote the classes can help parts that wait for each other. */
function whyNever(parts: readonly Part[]): string | undefined {
  const unready = parts.filter(({ object }) => !isReady(object))
  const byId = new Map(unready.map((part) => [partId(part.object), part]))
  const waiting = unready.map((part) => ({ id: partId(part.object), needs: openNeedsOf(part, unready) }))
  const [circle] = circles(waiting)
  if (!circle) return undefined
  const names = circle.map((id) => called(byId.get(id)!.object)).join(', ')
  return `these refer to each other in a circle, so that none can be made first: ${names}`
}

/** Was it told moments ago how far the aggregate is? */
export const wasTold = ({ told, clock }: Kit, { metadata: { uid } }: KubeObject): boolean =>
  clock.now() - (told.get(uid!) ?? 0) < SETTLING_SECONDS * 1000

/** Times have seconds: what is of the one before may change in no time. */
const isRecent = ({ clock }: Kit, time: string): boolean =>
  clock.now() - Date.parse(time) < (SETTLING_SECONDS + 1) * 1000

/** It may be ready in no time. */
const isYoung = (kit: Kit, { metadata }: KubeObject): boolean => isRecent(kit, metadata.creationTimestamp!)

/** It may be gone in no time: what it waits for is told if it is not. */
export const leavesQuickly = (kit: Kit, { metadata }: KubeObject): boolean => isRecent(kit, metadata.deletionTimestamp!)

const KEYS = 'ConnectionKeysUnique'

function keyCondition(aggregate: KubeObject, conflicts: Awaited<ReturnType<typeof publish>>): readonly Condition[] {
  if (conflicts.length > 0) {
    return [{ type: KEYS, status: 'False', reason: 'SeveralValues', message: describe(conflicts) }]
  }
  const held = (aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions
  return held?.some(({ type }) => type === KEYS) ? [{ type: KEYS, status: 'True', reason: 'Unique' }] : []
}

function tellConflicts(kit: Kit, aggregate: KubeObject, conflicts: Awaited<ReturnType<typeof publish>>): void {
  if (conflicts.length === 0) return
  const held = (aggregate['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions
  const message = describe(conflicts)
  if (held?.some((condition) => condition.type === KEYS && condition.message === message)) return
  kit.events.event(aggregate, 'Warning', 'ConnectionKeyConflict', message)
}

const describe = (conflicts: Awaited<ReturnType<typeof publish>>): string =>
  conflicts
    .map(
      ({ key, used, unused }) => `key ${key} is published by ${used}, whose value is used, and by ${unused.join(', ')}`,
    )
    .join('; ')
