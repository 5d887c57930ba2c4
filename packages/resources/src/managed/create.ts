import { createHash } from 'node:crypto'
import { isConflict, type Json, messageOf } from '@crosstie/kube'
import type { Created, Present, Sight } from '../external/external.js'
import { awaitApproval, noteExecuted } from './approval.js'
import { askedBefore, forgetAsked, noteAsked, noteRefused, repeatsByToken, toAsk } from './asked.js'
import { beginning, underWayFor } from './begun.js'
import { callExternal } from './call.js'
import { conditions } from './conditions.js'
import { differencesOf, mergeInit } from './difference.js'
import type { Gathered } from './gather.js'
import type { Next } from './kit.js'
import {
  annotations,
  createHistoryOf,
  externalNameOf,
  finalizer,
  isDeleted,
  tagKey,
  tagsIn,
  withFinalizer,
} from './meta.js'
import { adoptionPolicyOf, isProvisionedByClass, ownershipOf, uidTag } from './ownership.js'
import { ownershipTags } from './ownership-tags.js'
import { noteKeys } from './ownkeys.js'
import { refuseReserved } from './reservation.js'
import { noteGiven } from './rotation.js'
import { learnSecrets, publish, withGeneratedValues, withPlaceholders, withSensitiveValues } from './secrets.js'
import { Failure, step, type Turn, type Values } from './turn.js'

/**
 * Creates the external resource exactly once.
 *
 * The intent is durable before the call, the answer after it. Whoever comes
 * back after a crash in between knows that a create was begun, and finds what
 * it made by its token, its tags or its natural key before making another.
 */
export async function createExternal({ turn, client, sight }: Gathered): Promise<Next> {
  const { kit } = turn
  const { kind } = kit
  await publish(turn, sight.connection ?? {})
  const wanted = toAsk(turn, mergeInit(kind.parameters, turn.forProvider, turn.initProvider))
  const telling = {
    reason: 'CannotCreateExternalResource',
    prefix: 'create failed: ',
    conditions: [conditions.creating()],
  }
  const given = await step(telling, () => withSensitiveValues(turn, wanted))
  const tags = tagsFor(turn, given)
  const held = await awaitApproval(turn, {
    call: 'Create',
    externalName: turn.externalName,
    forProvider: withPlaceholders(turn, given),
    tags,
  })
  if (held) return held
  const forProvider = await step(telling, () => withGeneratedValues(turn, given))
  await forgetAbsent(turn)
  await writeIntent(turn, wanted)

  const created = await attemptCreate(turn, async () => {
    await refuseReserved(turn)
    return await callExternal(turn, 'Create', () => {
      // Others count on what was begun taking effect soon, or not at all.
      if (kind.idempotentCreate && beginning(turn))
        throw new Error('it took too long until the provider could be asked')
      return kind.external.create({
        client,
        managed: turn.managed,
        externalName: turn.externalName,
        forProvider,
        token: createToken(turn),
        tags,
        signal: turn.signal,
      })
    })
  })
  await writeAnswer(turn, created.externalName)
  // What only the create told cannot be asked for again: that it could not be kept is news, whatever the reason.
  await publish(turn, created.connection ?? {}, { conditions: [conditions.creating()], evenConflicts: true })
  turn.event('Normal', 'CreatedExternalResource', 'Successfully requested creation of external resource')
  turn.know({ name: turn.externalName })
  if (created.sight) turn.saw(created.sight)
  const known = created.sight?.ready !== undefined
  await turn.report(...(known ? [] : [conditions.creating()]), conditions.reconcileSuccess())
  return known ? turn.poll() : { after: 'backoff', progress: true }
}

/**
 * The resource that the status names is gone. The record is removed before another is created, so that the name of the
 * new one is never taken for a mistake, whenever the process ends.
 */
async function forgetAbsent(turn: Turn): Promise<void> {
  if (turn.recordedName === '') return
  const telling = {
    reason: 'CannotUpdateManagedResource',
    prefix: 'cannot update managed resource status: ',
    both: true,
  }
  await step({ ...telling, conditions: [conditions.creating()] }, () => turn.recordExistence({}))
}

/**
 * Written from the revision that we read: a conflict here stops us before
 * anything was made. If we die after it, the note says that a create may have happened.
 */
async function writeIntent(turn: Turn, wanted: Values): Promise<void> {
  const { kind, clock } = turn.kit
  const { history, managed } = turn
  const notes: Record<string, string | null> = {}
  if (externalNameOf(managed) === '' && turn.externalName !== '') notes[annotations.externalName] = turn.externalName
  if (isNameOfClaim(turn)) notes[annotations.externalName] = null
  const asked = noteAsked(turn, wanted)
  if (asked !== undefined) notes[annotations.asked] = asked
  if (!kind.idempotentCreate) {
    // Strictly after what is noted already, whatever the clock says: else it would not count as newer.
    const last = Math.max(history.succeeded ?? 0, history.failed ?? 0)
    notes[annotations.createPending] = new Date(Math.max(clock.now(), last + 1)).toISOString()
  } else {
    const note = beginning(turn)
    if (note !== undefined) notes[annotations.creating] = note
  }
  const finalizers = withFinalizer(managed.metadata.finalizers, finalizer)
  const complete = finalizers === managed.metadata.finalizers
  if (complete && Object.keys(notes).length === 0) return
  const telling = { reason: 'CannotUpdateManagedResource', prefix: 'cannot update managed resource: ', both: true }
  await step({ ...telling, conditions: [conditions.creating()] }, () =>
    turn.patchMetadata({ ...(complete ? {} : { finalizers }), annotations: notes }),
  )
}

/**
 * The provider assigns the name, and nothing has the one that a claim asked for. It is removed before the create, so that
 * a name on the object is from then on the provider's answer, and never a resource that others create meanwhile.
 */
function isNameOfClaim({ kit, spec, managed, history }: Turn): boolean {
  const { pending, succeeded, failed } = history
  const first = (pending ?? succeeded ?? failed) === undefined
  return kit.kind.name === 'assigned' && isProvisionedByClass(spec) && first && externalNameOf(managed) !== ''
}

/**
 * A create that failed for sure is noted; one that may have taken effect stays
 * pending, to be looked for. A name that it got nevertheless is kept.
 */
async function attemptCreate(turn: Turn, create: () => Promise<Created>): Promise<Created> {
  const { state } = turn
  const inDoubt = state.creating
  const ended = () => {
    state.creating = inDoubt
  }
  state.creating = inDoubt + 1
  try {
    const created = await create()
    ended()
    return created
  } catch (error) {
    if (!isUncertain(error)) {
      ended()
      noteRefused(turn)
    }
    turn.know({ inDoubt: isUncertain(error) || repeatsByToken(turn) })
    await learnSecrets(turn)
    if (!isConflict(error)) turn.event('Warning', 'CannotCreateExternalResource', messageOf(error))
    await noteFailure(turn, error)
    const message = `create failed: ${messageOf(error)}`
    throw new Failure({ message, conditions: [conditions.creating()] }, { cause: error })
  }
}

async function noteFailure(turn: Turn, error: unknown): Promise<void> {
  const { kind } = turn.kit
  const notes: Record<string, string> = {}
  const name = (error as { externalName?: unknown }).externalName
  if (typeof name === 'string' && name !== '') notes[annotations.externalName] = name
  // That this one came to nothing says nothing of one before it that nobody looked for.
  const denied = adoptionPolicyOf(turn.spec) !== 'AllowAndDelete'
  if (denied && kind.naturalKey && !kind.idempotentCreate && notes[annotations.externalName] !== undefined) {
    // The resource exists and is ours, however much of it is missing: the next reconcile completes it.
    notes[annotations.createSucceeded] = endOfCreate(turn)
  } else if (!isUncertain(error) && !kind.idempotentCreate && !repeatsByToken(turn) && !isStillInDoubt(turn)) {
    notes[annotations.createFailed] = endOfCreate(turn)
  }
  if (Object.keys(notes).length === 0) return
  // Admission accepts another name only in a write that records a step of a create.
  const { pending } = createHistoryOf(turn.managed)
  if (notes[annotations.createFailed] === undefined && pending !== undefined) {
    notes[annotations.createPending] = new Date(Math.max(turn.kit.clock.now(), pending + 1)).toISOString()
  }
  try {
    await writeCritical(turn, notes)
  } catch (failed) {
    turn.event('Warning', 'CannotUpdateManagedResource', `${criticalPrefix}${messageOf(failed)}`)
  }
}

/**
 * An earlier create, of which the end is unknown, may be why this one failed: the resource exists already. Objects that
 * may not adopt would otherwise take their own resource for another owner's.
 */
function isStillInDoubt({ kit, spec, history }: Turn): boolean {
  const { kind, clock, callSeconds } = kit
  if (!kind.naturalKey || !history.incomplete || adoptionPolicyOf(spec) === 'AllowAndDelete') return false
  return clock.now() - history.pending! < Math.max(callSeconds, kind.consistencySeconds) * 1000
}

const criticalPrefix = 'cannot update managed resource annotations: cannot update critical annotations: '

/** Now, but never before the beginning that we noted: clocks may step back. */
function endOfCreate({ kit, managed }: Turn): string {
  return new Date(Math.max(kit.clock.now(), createHistoryOf(managed).pending ?? 0)).toISOString()
}

async function writeAnswer(turn: Turn, answered: string | undefined): Promise<void> {
  const { kind } = turn.kit
  const notes: Record<string, string | null> = {
    ...noteGiven(turn),
    ...noteKeys(turn),
    ...noteExecuted(turn),
    ...forgetAsked(turn),
  }
  if (!kind.idempotentCreate) notes[annotations.createSucceeded] = endOfCreate(turn)
  if (answered && answered !== externalNameOf(turn.managed)) notes[annotations.externalName] = answered
  if (Object.keys(notes).length === 0) return
  const telling = {
    reason: 'CannotUpdateManagedResource',
    prefix: criticalPrefix,
    both: true,
    conditions: [conditions.creating()],
  }
  await step(telling, () => writeCritical(turn, notes))
}

const ATTEMPTS = 5
const CRITICAL_MS = 10_000

/**
 * Annotations that must not be lost are written whatever revision the object
 * has, more than once if need be, and even when the time for the rest is up.
 */
async function writeCritical(turn: Turn, notes: Readonly<Record<string, string | null>>): Promise<void> {
  const { kit, managed } = turn
  const { name, namespace } = managed.metadata
  const key = { name: name!, ...(namespace ? { namespace } : {}) }
  const patch = { metadata: { annotations: notes } } as unknown as Json
  for (let attempt = 1; ; attempt++) {
    try {
      const options = turn.signal.aborted ? { signal: AbortSignal.timeout(CRITICAL_MS) } : {}
      turn.managed = await kit.client.patch(kit.kind.type, key, { type: 'merge', patch }, options)
      return
    } catch (error) {
      if (attempt >= ATTEMPTS) throw error
    }
  }
}

const uncertainCodes = new Set([
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
])

/** The answer was lost: what was asked for may have happened. Providers throw it where they know. */
export class UncertainError extends Error {
  override readonly name = 'UncertainError'
}

function isUncertain(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e.name === 'UncertainError' || e.name === 'TimeoutError' || e.name === 'AbortError') return true
    if (uncertainCodes.has((e as { code?: string }).code ?? '')) return true
  }
  return false
}

/** The same for every attempt to make one resource: it changes only once a create is known to have succeeded. */
function createToken({ managed }: Turn): string {
  const { uid = '', annotations: notes = {} } = managed.metadata
  const digest = createHash('sha256')
    .update(`${uid}/${notes[annotations.createSucceeded] ?? ''}`)
    .digest('hex')
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

/** The spec's tags, and those by which we and others know whose the resource is (MR13). */
export function tagsFor(turn: Turn, forProvider: Values): Readonly<Record<string, string>> {
  const { tags } = turn.kit.kind
  if (!tags) return {}
  return { ...tagsIn(forProvider, tags.field), ...ownTags(turn) }
}

/** The same for an update. The tag with the uid is proof of a create, so a resource that others created does not get it. */
export function tagsForUpdate(turn: Turn, observed: Sight, desired: Values): Readonly<Record<string, string>> {
  const { kind } = turn.kit
  if (kind.tags && observed.exists && ownershipOf(kind, turn.managed, observed) !== 'own')
    return tagsIn(desired, kind.tags.field)
  return tagsFor(turn, desired)
}

/** The tags that tell the resource of this object from all others. */
export function identityTags(turn: Turn): Readonly<Record<string, string>> {
  const key = tagKey(uidTag, turn.kit.kind.tags?.keys ?? 'any')
  return { [key]: turn.managed.metadata.uid ?? '' }
}

function ownTags(turn: Turn): Readonly<Record<string, string>> {
  return { ...ownershipTags(turn.kit.kind, turn.managed), ...identityTags(turn) }
}

/**
 * Can what a create made be found by looking, when its name was never heard? A resource that only looks alike is not
 * enough for an object that may not adopt.
 */
function canBeFound({ kit: { kind }, spec }: Turn): boolean {
  if (kind.naturalKey || kind.tags !== undefined) return true
  return kind.external.list !== undefined && adoptionPolicyOf(spec) === 'AllowAndDelete'
}

/**
 * Looks for what an interrupted create made, by tag, else by natural key: a
 * resource that is all the spec wanted and that no other object stands for.
 */
export async function searchLost(turn: Turn, client: unknown): Promise<Present | undefined> {
  const { kit, history, managed } = turn
  const { kind } = kit
  if (kind.naturalKey || !kind.external.list || !history.attempted) return undefined
  const list = kind.external.list.bind(kind.external)
  const tags = kind.tags && identityTags(turn)
  const call = { client, forProvider: turn.forProvider, signal: turn.signal, ...(tags ? { tags } : {}) }
  const candidates = (await callExternal(turn, 'List', () => list(call)))
    .filter((candidate) => candidate.externalName)
    .sort((a, b) => (a.externalName! < b.externalName! ? -1 : 1))
  if (kind.tags && tags) {
    const { field } = kind.tags
    const carries = (held: Record<string, string> = {}) =>
      Object.entries(tags).every(([key, value]) => held[key] === value)
    return candidates.find(({ atProvider }) => carries(atProvider[field] as Record<string, string> | undefined))
  }
  if (adoptionPolicyOf(turn.spec) !== 'AllowAndDelete') return undefined
  return await searchByNaturalKey(turn, candidates, managed.metadata.uid ?? '')
}

async function searchByNaturalKey(
  turn: Turn,
  candidates: readonly Present[],
  uid: string,
): Promise<Present | undefined> {
  const { kit, history } = turn
  const asked = askedBefore(turn)
  const wanted = asked.length > 0 ? asked : [mergeInit(kit.kind.parameters, turn.forProvider, turn.initProvider)]
  const fits = candidates.filter(
    ({ atProvider, createdAt }) =>
      wanted.some((values) => differencesOf(kit.kind.parameters, values, atProvider).length === 0) &&
      (createdAt === undefined || Date.parse(createdAt) >= history.pending! - CLOCK_SKEW),
  )
  if (fits.length === 0) return undefined
  const { items } = await kit.api.list(kit.kind.type, { signal: turn.signal })
  const taken = new Set(items.filter(({ metadata }) => metadata.uid !== uid).map(externalNameOf))
  const found = fits.find(
    ({ externalName }) => !taken.has(externalName!) && kit.reservedNames.isFree(externalName!, uid),
  )
  if (found) kit.reservedNames.reserve(found.externalName!, uid)
  return found
}

/** By how much the provider's clock may be behind ours. */
const CLOCK_SKEW = 60_000

/** A create was begun, nobody saw its end, and looking for what it made cannot have an answer yet. */
export function createInDoubt(turn: Turn): boolean {
  const { kit, history, managed } = turn
  const { kind, clock } = kit
  if (kind.idempotentCreate) return isDeleted(managed) && underWayFor(turn) > 0
  if (!history.incomplete || clock.now() - history.pending! >= kind.consistencySeconds * 1000) return false
  if (isDeleted(managed)) return canBeFound(turn)
  // Repeating it is harmless where the name or the token is the same.
  return !kind.naturalKey && !kind.token && canBeFound(turn)
}

/** Only a repeated create can tell the name of what an interrupted one made. */
export function nameOnlyByToken(turn: Turn): boolean {
  const { kit, history, externalName } = turn
  return history.incomplete && kit.kind.token && externalName === '' && !canBeFound(turn)
}

/** Neither token, nor list, nor a name of our choosing: only a human can tell what became of the create. */
export function needsHuman(turn: Turn): boolean {
  const { kit, history } = turn
  return history.incomplete && !kit.kind.token && !canBeFound(turn)
}
