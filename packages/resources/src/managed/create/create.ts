import { createHash } from 'node:crypto'
import type { Next } from '@crosstie/controller'
import { isConflict, type Json, messageOf } from '@crosstie/kube'
import type { Created, Observed, Present } from '../../definition/external.js'
import {
  annotations,
  createHistoryOf,
  externalNameOf,
  finalizer,
  isDeleted,
  tagKey,
  tagsIn,
  withFinalizer,
} from '../../metadata/metadata.js'
import { conditions } from '../../status/conditions.js'
import { callExternal } from '../external-call.js'
import { differencesOf, mergeInit } from '../observe/difference.js'
import type { Gathered } from '../observe/gather.js'
import { adoptionPolicyOf, isProvisionedByClass, ownershipOf, uidTag } from '../ownership/ownership.js'
import { ownershipTags } from '../ownership/ownership-tags.js'
import { refuseReserved } from '../ownership/reservation.js'
import { awaitApproval, noteExecuted } from '../policy/approval.js'
import { Failure, type Reconciliation, step, type Values } from '../reconciliation.js'
import { noteGiven } from '../secrets/rotation.js'
import {
  learnSecrets,
  publish,
  withGeneratedValues,
  withPlaceholders,
  withSensitiveValues,
} from '../secrets/secrets.js'
import { noteKeys } from '../update/applied-keys.js'
import { intentAgeLeft, intentNote } from './create-intent.js'
import {
  noteRefusal,
  repeatsByToken,
  requestedBefore,
  requestNote,
  valuesToRequest,
  withoutRequestNote,
} from './create-request.js'

/**
 * Creates the external resource exactly once.
 *
 * The intent is durable before the call, and the answer after it. After a crash in between, the next process sees
 * that a create was started. It searches for the resource by token, tags or natural key before it creates another
 * one.
 */
export async function createExternal({ reconciliation, client, observed }: Gathered): Promise<Next> {
  const { runtime } = reconciliation
  const { kind } = runtime
  await publish(reconciliation, observed.connection ?? {})
  const wanted = valuesToRequest(
    reconciliation,
    mergeInit(kind.parameters, reconciliation.forProvider, reconciliation.initProvider),
  )
  const report = {
    reason: 'CannotCreateExternalResource',
    prefix: 'create failed: ',
    conditions: [conditions.creating()],
  }
  const given = await step(report, () => withSensitiveValues(reconciliation, wanted))
  const tags = tagsFor(reconciliation, given)
  const held = await awaitApproval(reconciliation, {
    call: 'Create',
    externalName: reconciliation.externalName,
    forProvider: withPlaceholders(reconciliation, given),
    tags,
  })
  if (held) return held
  const forProvider = await step(report, () => withGeneratedValues(reconciliation, given))
  await forgetAbsent(reconciliation)
  await writeIntent(reconciliation, wanted)

  const created = await attemptCreate(reconciliation, async () => {
    await refuseReserved(reconciliation)
    return await callExternal(reconciliation, 'Create', () => {
      // Other processes rely on a started create to take effect soon or never.
      if (kind.idempotentCreate && intentNote(reconciliation))
        throw new Error('it took too long until the provider could be asked')
      return kind.external.create({
        client,
        managed: reconciliation.managed,
        externalName: reconciliation.externalName,
        forProvider,
        token: createToken(reconciliation),
        tags,
        signal: reconciliation.signal,
      })
    })
  })
  await writeAnswer(reconciliation, created.externalName)
  // Details that only the create returns cannot be read again, so a failure to store them is always reported.
  await publish(reconciliation, created.connection ?? {}, { conditions: [conditions.creating()], evenConflicts: true })
  reconciliation.event('Normal', 'CreatedExternalResource', 'Successfully requested creation of external resource')
  reconciliation.know({ name: reconciliation.externalName })
  if (created.observed) reconciliation.saw(created.observed)
  const known = created.observed?.ready !== undefined
  await reconciliation.report(...(known ? [] : [conditions.creating()]), conditions.reconcileSuccess())
  return known ? reconciliation.poll() : { after: 'backoff', progress: true }
}

/**
 * Removes the record of a resource that no longer exists, before another one is created. The name of the new
 * resource is then never mistaken for a wrong name, even after a crash.
 */
async function forgetAbsent(reconciliation: Reconciliation): Promise<void> {
  if (reconciliation.recordedName === '') return
  const report = {
    reason: 'CannotUpdateManagedResource',
    prefix: 'cannot update managed resource status: ',
    both: true,
  }
  await step({ ...report, conditions: [conditions.creating()] }, () => reconciliation.recordExistence({}))
}

/**
 * Writes the create intent, based on the revision that was read. A conflict stops the reconciliation before
 * anything is created. After a crash, the note says that a create may have happened.
 */
async function writeIntent(reconciliation: Reconciliation, wanted: Values): Promise<void> {
  const { kind, clock } = reconciliation.runtime
  const { history, managed } = reconciliation
  const notes: Record<string, string | null> = {}
  if (externalNameOf(managed) === '' && reconciliation.externalName !== '')
    notes[annotations.externalName] = reconciliation.externalName
  if (isNameOfClaim(reconciliation)) notes[annotations.externalName] = null
  const asked = requestNote(reconciliation, wanted)
  if (asked !== undefined) notes[annotations.asked] = asked
  if (!kind.idempotentCreate) {
    // The time must be later than all recorded times, whatever the clock says. Otherwise it would not count as
    // newer.
    const last = Math.max(history.succeeded ?? 0, history.failed ?? 0)
    notes[annotations.createPending] = new Date(Math.max(clock.now(), last + 1)).toISOString()
  } else {
    const note = intentNote(reconciliation)
    if (note !== undefined) notes[annotations.creating] = note
  }
  const finalizers = withFinalizer(managed.metadata.finalizers, finalizer)
  const complete = finalizers === managed.metadata.finalizers
  if (complete && Object.keys(notes).length === 0) return
  const report = { reason: 'CannotUpdateManagedResource', prefix: 'cannot update managed resource: ', both: true }
  await step({ ...report, conditions: [conditions.creating()] }, () =>
    reconciliation.patchMetadata({ ...(complete ? {} : { finalizers }), annotations: notes }),
  )
}

/**
 * Reports whether the name on the object is the one that a claim requested, while the provider assigns names and
 * nothing has that name. It is removed before the create. From then on, a name on the object is the provider's
 * answer and never a resource that others create in the meantime.
 */
function isNameOfClaim({ runtime, spec, managed, history }: Reconciliation): boolean {
  const { pending, succeeded, failed } = history
  const first = (pending ?? succeeded ?? failed) === undefined
  return (
    runtime.kind.naming === 'provider-assigned' && isProvisionedByClass(spec) && first && externalNameOf(managed) !== ''
  )
}

/**
 * Runs a create. A definite failure is recorded. A create that may have taken effect stays pending, and the next
 * reconciliation searches for its resource. A name that the failed create returned is recorded.
 */
async function attemptCreate(reconciliation: Reconciliation, create: () => Promise<Created>): Promise<Created> {
  const { state } = reconciliation
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
      noteRefusal(reconciliation)
    }
    reconciliation.know({ inDoubt: isUncertain(error) || repeatsByToken(reconciliation) })
    await learnSecrets(reconciliation)
    if (!isConflict(error)) reconciliation.event('Warning', 'CannotCreateExternalResource', messageOf(error))
    await noteFailure(reconciliation, error)
    const message = `create failed: ${messageOf(error)}`
    throw new Failure({ message, conditions: [conditions.creating()] }, { cause: error })
  }
}

async function noteFailure(reconciliation: Reconciliation, error: unknown): Promise<void> {
  const { kind } = reconciliation.runtime
  const notes: Record<string, string> = {}
  const name = (error as { externalName?: unknown }).externalName
  if (typeof name === 'string' && name !== '') notes[annotations.externalName] = name
  // The failure of this create says nothing about an earlier create that was not searched for.
  const denied = adoptionPolicyOf(reconciliation.spec) !== 'AllowAndDelete'
  if (denied && kind.naturalKey && !kind.idempotentCreate && notes[annotations.externalName] !== undefined) {
    // The resource exists and belongs to this object, even if it is incomplete. The next reconcile completes it.
    notes[annotations.createSucceeded] = endOfCreate(reconciliation)
  } else if (
    !isUncertain(error) &&
    !kind.idempotentCreate &&
    !repeatsByToken(reconciliation) &&
    !isStillInDoubt(reconciliation)
  ) {
    notes[annotations.createFailed] = endOfCreate(reconciliation)
  }
  if (Object.keys(notes).length === 0) return
  // Admission accepts another name only in a write that records a step of a create.
  const { pending } = createHistoryOf(reconciliation.managed)
  if (notes[annotations.createFailed] === undefined && pending !== undefined) {
    notes[annotations.createPending] = new Date(Math.max(reconciliation.runtime.clock.now(), pending + 1)).toISOString()
  }
  try {
    await writeCritical(reconciliation, notes)
  } catch (failed) {
    reconciliation.event('Warning', 'CannotUpdateManagedResource', `${criticalPrefix}${messageOf(failed)}`)
  }
}

/**
 * Reports whether an earlier create with unknown result may have caused this failure, because the resource already
 * exists. Otherwise, an object that may not adopt would take its own resource for one of another owner.
 */
function isStillInDoubt({ runtime, spec, history }: Reconciliation): boolean {
  const { kind, clock, callSeconds } = runtime
  if (!kind.naturalKey || !history.incomplete || adoptionPolicyOf(spec) === 'AllowAndDelete') return false
  return clock.now() - history.pending! < Math.max(callSeconds, kind.consistencySeconds) * 1000
}

const criticalPrefix = 'cannot update managed resource annotations: cannot update critical annotations: '

/** Returns the current time, but never a time before the recorded start, because clocks may step back. */
function endOfCreate({ runtime, managed }: Reconciliation): string {
  return new Date(Math.max(runtime.clock.now(), createHistoryOf(managed).pending ?? 0)).toISOString()
}

async function writeAnswer(reconciliation: Reconciliation, answered: string | undefined): Promise<void> {
  const { kind } = reconciliation.runtime
  const notes: Record<string, string | null> = {
    ...noteGiven(reconciliation),
    ...noteKeys(reconciliation),
    ...noteExecuted(reconciliation),
    ...withoutRequestNote(reconciliation),
  }
  if (!kind.idempotentCreate) notes[annotations.createSucceeded] = endOfCreate(reconciliation)
  if (answered && answered !== externalNameOf(reconciliation.managed)) notes[annotations.externalName] = answered
  if (Object.keys(notes).length === 0) return
  const report = {
    reason: 'CannotUpdateManagedResource',
    prefix: criticalPrefix,
    both: true,
    conditions: [conditions.creating()],
  }
  await step(report, () => writeCritical(reconciliation, notes))
}

const ATTEMPTS = 5
const CRITICAL_MS = 10_000

/**
 * Writes annotations that must not be lost: without a resourceVersion, with retries, and even after the deadline of
 * the reconciliation.
 */
async function writeCritical(
  reconciliation: Reconciliation,
  notes: Readonly<Record<string, string | null>>,
): Promise<void> {
  const { runtime, managed } = reconciliation
  const { name, namespace } = managed.metadata
  const key = { name: name!, ...(namespace ? { namespace } : {}) }
  const patch = { metadata: { annotations: notes } } as unknown as Json
  for (let attempt = 1; ; attempt++) {
    try {
      const options = reconciliation.signal.aborted ? { signal: AbortSignal.timeout(CRITICAL_MS) } : {}
      reconciliation.managed = await runtime.client.patch(runtime.kind.type, key, { type: 'merge', patch }, options)
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

/**
 * The response was lost, so the request may have succeeded. Thrown by `create`, it leads to a search before another
 * create.
 */
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

/**
 * Returns the idempotency token. It is the same for every attempt and changes only after a create is known to have
 * succeeded.
 */
function createToken({ managed }: Reconciliation): string {
  const { uid = '', annotations: notes = {} } = managed.metadata
  const digest = createHash('sha256')
    .update(`${uid}/${notes[annotations.createSucceeded] ?? ''}`)
    .digest('hex')
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

/** Returns the tags of the spec and the tags that identify the owner of the resource (MR13). */
export function tagsFor(reconciliation: Reconciliation, forProvider: Values): Readonly<Record<string, string>> {
  const { tags } = reconciliation.runtime.kind
  if (!tags) return {}
  return { ...tagsIn(forProvider, tags.field), ...ownTags(reconciliation) }
}

/**
 * Returns the tags for an update. The tag with the uid proves a create, so a resource that others created does not
 * get it.
 */
export function tagsForUpdate(
  reconciliation: Reconciliation,
  observed: Observed,
  desired: Values,
): Readonly<Record<string, string>> {
  const { kind } = reconciliation.runtime
  if (kind.tags && observed.exists && ownershipOf(kind, reconciliation.managed, observed) !== 'own')
    return tagsIn(desired, kind.tags.field)
  return tagsFor(reconciliation, desired)
}

/** Returns the tags that identify the external resource of this object. */
export function identityTags(reconciliation: Reconciliation): Readonly<Record<string, string>> {
  const key = tagKey(uidTag, reconciliation.runtime.kind.tags?.keys ?? 'any')
  return { [key]: reconciliation.managed.metadata.uid ?? '' }
}

function ownTags(reconciliation: Reconciliation): Readonly<Record<string, string>> {
  return { ...ownershipTags(reconciliation.runtime.kind, reconciliation.managed), ...identityTags(reconciliation) }
}

/**
 * Reports whether a search can find a created resource whose name is unknown. A resource that only matches the spec
 * is not sufficient for an object that may not adopt.
 */
function canBeFound({ runtime: { kind }, spec }: Reconciliation): boolean {
  if (kind.naturalKey || kind.tags !== undefined) return true
  return kind.external.list !== undefined && adoptionPolicyOf(spec) === 'AllowAndDelete'
}

/**
 * Searches for the resource of an interrupted create: by its tags, or else by fields that match the request. A
 * resource that another object manages does not count.
 */
export async function findLost(reconciliation: Reconciliation, client: unknown): Promise<Present | undefined> {
  const { runtime, history, managed } = reconciliation
  const { kind } = runtime
  if (kind.naturalKey || !kind.external.list || !history.attempted) return undefined
  const list = kind.external.list.bind(kind.external)
  const tags = kind.tags && identityTags(reconciliation)
  const call = {
    client,
    forProvider: reconciliation.forProvider,
    signal: reconciliation.signal,
    ...(tags ? { tags } : {}),
  }
  const candidates = (await callExternal(reconciliation, 'List', () => list(call)))
    .filter((candidate) => candidate.externalName)
    .sort((a, b) => (a.externalName! < b.externalName! ? -1 : 1))
  if (kind.tags && tags) {
    const { field } = kind.tags
    const carries = (held: Record<string, string> = {}) =>
      Object.entries(tags).every(([key, value]) => held[key] === value)
    return candidates.find(({ atProvider }) => carries(atProvider[field] as Record<string, string> | undefined))
  }
  if (adoptionPolicyOf(reconciliation.spec) !== 'AllowAndDelete') return undefined
  return await findByMatchingFields(reconciliation, candidates, managed.metadata.uid ?? '')
}

async function findByMatchingFields(
  reconciliation: Reconciliation,
  candidates: readonly Present[],
  uid: string,
): Promise<Present | undefined> {
  const { runtime, history } = reconciliation
  const asked = requestedBefore(reconciliation)
  const wanted =
    asked.length > 0
      ? asked
      : [mergeInit(runtime.kind.parameters, reconciliation.forProvider, reconciliation.initProvider)]
  const fits = candidates.filter(
    ({ atProvider, createdAt }) =>
      wanted.some((values) => differencesOf(runtime.kind.parameters, values, atProvider).length === 0) &&
      (createdAt === undefined || Date.parse(createdAt) >= history.pending! - CLOCK_SKEW),
  )
  if (fits.length === 0) return undefined
  const { items } = await runtime.api.list(runtime.kind.type, { signal: reconciliation.signal })
  const taken = new Set(items.filter(({ metadata }) => metadata.uid !== uid).map(externalNameOf))
  const found = fits.find(
    ({ externalName }) => !taken.has(externalName!) && runtime.reservedNames.isFree(externalName!, uid),
  )
  if (found) runtime.reservedNames.reserve(found.externalName!, uid)
  return found
}

/** The maximum by which the provider's clock may be behind the clock of this process, in milliseconds. */
const CLOCK_SKEW = 60_000

/** Reports whether a create was started, its result is unknown, and a search cannot be conclusive yet. */
export function createInDoubt(reconciliation: Reconciliation): boolean {
  const { runtime, history, managed } = reconciliation
  const { kind, clock } = runtime
  if (kind.idempotentCreate) return isDeleted(managed) && intentAgeLeft(reconciliation) > 0
  if (!history.incomplete || clock.now() - history.pending! >= kind.consistencySeconds * 1000) return false
  if (isDeleted(managed)) return canBeFound(reconciliation)
  // A repeated create is harmless if the name or the token is the same.
  return !kind.naturalKey && !kind.token && canBeFound(reconciliation)
}

/** Reports whether only a repeated create can return the name of the resource of an interrupted one. */
export function nameOnlyByToken(reconciliation: Reconciliation): boolean {
  const { runtime, history, externalName } = reconciliation
  return history.incomplete && runtime.kind.token && externalName === '' && !canBeFound(reconciliation)
}

/** Reports whether only a person can determine the result of a create: there is neither a token nor a way to search. */
export function needsHuman(reconciliation: Reconciliation): boolean {
  const { runtime, history } = reconciliation
  return history.incomplete && !runtime.kind.token && !canBeFound(reconciliation)
}
