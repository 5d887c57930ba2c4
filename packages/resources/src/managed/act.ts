import type { Next } from '@crosstie/controller'
import { type Condition, conditionsOf, ignoring, isNotFound } from '@crosstie/kube'
import type { Difference, Observed } from '../definition/external.js'
import { annotations, externalNameOf, finalizer, withFinalizer, withoutFinalizer } from '../metadata/metadata.js'
import { conditions, drifts } from '../status/conditions.js'
import { createExternal, tagsForUpdate } from './create/create.js'
import { intentAgeLeft, intentFulfilled } from './create/create-intent.js'
import { withoutRequestNote } from './create/create-request.js'
import type { Decision } from './decide.js'
import { deleteOrphan } from './delete/orphaned-member.js'
import { callExternal } from './external-call.js'
import { describe } from './observe/describe.js'
import { changedValues } from './observe/difference.js'
import type { Gathered } from './observe/gather.js'
import { lostNameMessage } from './ownership/external-name.js'
import { applyOwn } from './ownership/field-ownership.js'
import { unreserve } from './ownership/reservation.js'
import { awaitApproval, noteExecuted, nothingToApprove } from './policy/approval.js'
import { type Reconciliation, step, type Values } from './reconciliation.js'
import { noteGiven, withRotated } from './secrets/rotation.js'
import { connectionSecretOf, publish } from './secrets/secrets.js'
import { byMap, noteKeys } from './update/applied-keys.js'
import { isBackingOff, loopOf, noteCorrection } from './update/update-loop.js'

export const lateInitManager = 'managed.crossplane.io/late-initializer'

/** What follows from each decision. */
export const act: Readonly<Record<Decision['do'], (gathered: Gathered, decision: Decision) => Promise<Next>>> = {
  create: createExternal,
  delete: deleteExternal,
  release: ({ reconciliation }) => release(reconciliation),
  wait,
  fail: failAbsent,
  stop: ({ reconciliation }) => stopUnnamed(reconciliation),
  refuse: ({ reconciliation }, { because }) => refuse(reconciliation, conditions.externalNameTaken(because)),
  converge,
}

async function wait({ reconciliation, facts, aggregate }: Gathered, { because, announced }: Decision): Promise<Next> {
  if (announced) reconciliation.event('Normal', 'PendingExternalResource', because)
  if (aggregate === 'gone' && !reconciliation.history.attempted) await deleteOrphan(reconciliation)
  const milliseconds = facts.createInDoubt ? intentAgeLeft(reconciliation) : 0
  return milliseconds > 0 ? { after: 'poll', seconds: milliseconds / 1000 } : { after: 'backoff', progress: true }
}

async function failAbsent({ reconciliation }: Gathered, { because }: Decision): Promise<Next> {
  reconciliation.event('Warning', 'CannotObserveExternalResource', because)
  const unnoted = notesOfName(reconciliation, undefined)
  if (unnoted) await noteName(reconciliation, unnoted)
  reconciliation.know({})
  await reconciliation.report(conditions.reconcileError(`observe failed: ${because}`))
  return reconciliation.poll()
}

/** The external resource cannot be identified: a person has to name it. */
async function stopUnnamed(reconciliation: Reconciliation): Promise<Next> {
  const message = lostNameMessage(reconciliation)
  reconciliation.event('Warning', 'ExternalNameLost', message)
  await reconciliation.report(conditions.externalNameLost(message))
  return reconciliation.poll()
}

export const refuseName = (reconciliation: Reconciliation, because: string): Promise<Next> =>
  refuse(reconciliation, conditions.externalNameForbidden(because))

/** Nothing outside is touched, and nothing of it is published. Emits one event for each new reason. */
async function refuse(reconciliation: Reconciliation, condition: Condition): Promise<Next> {
  const { reason, message = '' } = condition
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Synced')
  if (held?.reason !== reason || held.message !== message) reconciliation.event('Warning', reason, message)
  await reconciliation.report(conditions.unavailable(message), condition)
  return reconciliation.poll()
}

async function deleteExternal({ reconciliation, client, observed, forProvider }: Gathered): Promise<Next> {
  const { kind } = reconciliation.runtime
  const externalName = (observed.exists && observed.externalName) || reconciliation.externalName
  const report = {
    reason: 'CannotDeleteExternalResource',
    prefix: 'delete failed: ',
    conditions: [conditions.deleting()],
  }
  const call = { externalName, forProvider }
  const held = await awaitApproval(reconciliation, { call: 'Delete', ...call, ...observedIn(observed) })
  if (held) return held
  await step({ ...report, evenConflicts: true }, () =>
    callExternal(reconciliation, 'Delete', () =>
      kind.external.delete({ client, managed: reconciliation.managed, ...call, signal: reconciliation.signal }),
    ),
  )
  reconciliation.event('Normal', 'DeletedExternalResource', 'Successfully requested deletion of external resource')
  await reconciliation.report(conditions.deleting(), conditions.reconcileSuccess())
  return { after: 'backoff', progress: true }
}

const observedIn = (observed: Observed): { observed?: Values } =>
  observed.exists ? { observed: observed.atProvider } : {}

/** Lets the object go. Nothing outside is touched. */
export async function release(reconciliation: Reconciliation): Promise<Next> {
  const { managed, runtime } = reconciliation
  if (managed.metadata.finalizers?.includes(finalizer)) {
    const finalizers = withoutFinalizer(managed.metadata.finalizers, finalizer)
    await step({ prefix: 'cannot update object: ', conditions: [conditions.deleting()] }, () =>
      reconciliation.patchMetadata({ finalizers }).catch(ignoring(isNotFound)),
    )
  }
  await unreserve(reconciliation)
  runtime.memory.drop(managed.metadata.uid ?? '')
  return { after: 'never' }
}

/** The external resource is there and wanted: note it, fill in what was left open, correct it, report. */
async function converge(gathered: Gathered, decision: Decision): Promise<Next> {
  const { reconciliation, observed, fill, facts } = gathered
  if (!observed.exists) throw new Error('only what exists can settle')
  const changedByUser = isChangedByUser(gathered, decision)
  if (connectionSecretOf(reconciliation.managed)) await publish(reconciliation, observed.connection ?? {})
  await noteExisting(reconciliation, observed.externalName)
  intentFulfilled(reconciliation)
  const differing = decision.calls.includes('Update')
  // The update that completes a loop may still have an effect.
  const looping = differing && loopOf(reconciliation, decision.differences) !== undefined
  const updating = differing && !isBackingOff(reconciliation, decision.differences)
  const call = updating ? updateCall(gathered, decision.differences) : undefined
  const held = call && (await awaitApproval(reconciliation, { call: 'Update', ...call, ...observedIn(observed) }))
  if (held) return held
  if (decision.lateInitialize) await lateInitialize(reconciliation, fill)
  const sent = call && (await update(gathered, call))
  if (sent) noteCorrection(reconciliation, decision.differences, observed.ready === true)
  if (!differing) {
    nothingToApprove(reconciliation)
    reconciliation.state.corrections = undefined
  }
  if (sent || facts.upToDate) await noteApplied(gathered)
  const drift = drifted(gathered, decision, { changedByUser, looping, unsent: sent === false })
  await reconciliation.report(conditions.reconcileSuccess(), ...(drift ? [drift] : []))
  return reconciliation.poll()
}

/** A new value in a Secret is a change by the user, too. */
function isChangedByUser({ reconciliation, rotated }: Gathered, { differences }: Decision): boolean {
  return !reconciliation.alreadyReported || (rotated.length > 0 && rotated.length === differences.length)
}

async function noteApplied(gathered: Gathered): Promise<void> {
  const annotations = notesOfApplied(gathered)
  if (!annotations) return
  await step({ prefix: 'cannot update object: ' }, () => gathered.reconciliation.patchMetadata({ annotations }))
}

/** Records the external name and the finalizer of an external resource that exists. */
async function noteExisting(reconciliation: Reconciliation, seen: string | undefined): Promise<void> {
  const unnoted = notesOfName(reconciliation, seen, true)
  // Admission accepts another name only when the status says the same.
  const renamed = unnoted?.annotations?.[annotations.externalName]
  if (renamed && reconciliation.recordedName !== '') await reconciliation.recordExistence({ name: renamed })
  if (unnoted) await noteName(reconciliation, unnoted)
}

async function lateInitialize(reconciliation: Reconciliation, fill: Values): Promise<void> {
  const failure = { reason: 'CannotUpdateManagedResource', prefix: 'cannot update managed resource: ' }
  // The apply has no resourceVersion, so a conflict does not mean that another writer was faster.
  await step({ ...failure, evenConflicts: true }, async () => {
    reconciliation.managed = await applyOwn(reconciliation, lateInitManager, { forProvider: fill })
  })
}

/**
 * What is to be noted of what the provider was given, if that is news. Only once it has it: if we die before this, it is
 * told again, which does no harm.
 */
function notesOfApplied({ reconciliation, observed }: Gathered): Readonly<Record<string, string>> | undefined {
  if (!reconciliation.policies.may.update) return undefined
  const atProvider = observed.exists ? observed.atProvider : {}
  const notes = {
    ...noteGiven(reconciliation),
    ...noteKeys(reconciliation, atProvider),
    ...noteExecuted(reconciliation),
  }
  return isEmpty(notes) ? undefined : notes
}

/** What an update is told, beside whom it is about. */
function updateCall(
  { reconciliation, observed, desired, rotated, removed }: Gathered,
  differences: readonly Difference[],
) {
  const atProvider = observed.exists ? observed.atProvider : {}
  return {
    externalName: reconciliation.externalName,
    forProvider: desired,
    changed: withRotated(
      reconciliation,
      changedValues(reconciliation.runtime.kind.parameters, desired, atProvider),
      rotated,
    ),
    differences,
    removed: byMap(removed),
    tags: tagsForUpdate(reconciliation, observed, desired),
  }
}

/** False when the provider counts its requests and sent none that changes anything. */
async function update({ reconciliation, client }: Gathered, call: ReturnType<typeof updateCall>): Promise<boolean> {
  const { kind } = reconciliation.runtime
  const { differences } = call
  const before = reconciliation.changes.sent
  const report = { reason: 'CannotUpdateExternalResource', prefix: 'update failed: ', evenConflicts: true }
  const updated = await step(report, () =>
    callExternal(reconciliation, 'Update', () =>
      kind.external.update({ client, managed: reconciliation.managed, ...call, signal: reconciliation.signal }),
    ),
  )
  await publish(reconciliation, updated?.connection ?? {}, { evenConflicts: true })
  if (before !== undefined && reconciliation.changes.sent === before) return false
  const fields = differences.length > 0 ? `: ${describe(reconciliation.secrets, differences)}` : ''
  reconciliation.event(
    'Normal',
    'UpdatedExternalResource',
    `Successfully requested update of external resource${fields}`,
  )
  return true
}

interface NotesOfName {
  readonly finalizers?: readonly string[]
  readonly annotations?: Readonly<Record<string, string | null>>
}

/**
 * What is not noted yet: the external name, that a create whose end nobody
 * saw did succeed, and (`keep`) our finalizer. Undefined when all is.
 */
function notesOfName(reconciliation: Reconciliation, seen: string | undefined, keep = false): NotesOfName | undefined {
  const { managed, history, runtime } = reconciliation
  const notes: Record<string, string | null> = {}
  const name = seen || reconciliation.externalName
  if (name !== '' && name !== externalNameOf(managed)) notes[annotations.externalName] = name
  if (keep && history.incomplete && (runtime.kind.token || !runtime.kind.naturalKey)) {
    notes[annotations.createSucceeded] = new Date(Math.max(runtime.clock.now(), history.pending!)).toISOString()
    Object.assign(notes, withoutRequestNote(reconciliation))
  }
  const finalizers = keep ? withFinalizer(managed.metadata.finalizers, finalizer) : managed.metadata.finalizers
  const complete = finalizers === managed.metadata.finalizers
  if (complete && isEmpty(notes)) return undefined
  return { ...(complete ? {} : { finalizers }), ...(isEmpty(notes) ? {} : { annotations: notes }) }
}

/** Writes it down in one go. */
async function noteName(reconciliation: Reconciliation, notes: NotesOfName): Promise<void> {
  const report = notes.finalizers
    ? { prefix: 'cannot update object: ' }
    : { reason: 'CannotInitializeManagedResource', prefix: 'cannot update managed resource: ', both: true }
  await step(report, () => reconciliation.patchMetadata({ ...notes }))
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

interface UpdateOutcome {
  /** The spec changed, so that the difference is not drift. */
  readonly changedByUser: boolean
  /** The provider was asked for an update and sent no request. */
  readonly unsent: boolean
  /** Earlier updates for the same difference had no lasting effect. */
  readonly looping: boolean
}

/**
 * The Drifted condition: which fields differ, and whether the difference was corrected, is ignored, cannot be corrected, or
 * may not be. Undefined leaves the condition as it is.
 */
function drifted(gathered: Gathered, decision: Decision, outcome: UpdateOutcome): Condition | undefined {
  const { reconciliation } = gathered
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Drifted')
  const condition = openDrift(gathered, decision, outcome)
  if (condition) {
    // One event for each change of the differences, not one for each poll.
    const news = held?.status !== 'True' || held.message !== condition.message || held.reason !== condition.reason
    const text = `The external resource differs (${condition.reason}): ${reconciliation.secrets.redact(condition.message ?? '')}`
    if (news) reconciliation.event('Warning', 'DriftDetected', text)
    return condition
  }
  if (decision.calls.includes('Update')) {
    const firstUpdate = outcome.changedByUser && !held
    return firstUpdate ? undefined : drifts.corrected(describe(reconciliation.secrets, decision.differences))
  }
  return held?.status === 'True' ? drifts.inStep() : undefined
}

/** The difference that remains after this reconciliation, and the reason. */
function openDrift(
  { reconciliation, facts, ignored, immutable }: Gathered,
  decision: Decision,
  outcome: UpdateOutcome,
) {
  const named = (differences: readonly Difference[]) =>
    describe(reconciliation.secrets, differences) || 'the provider reports a difference'
  if (!facts.upToDate && !facts.may.update) return drifts.notAllowed(named([...decision.differences, ...immutable]))
  if (outcome.unsent) return drifts.notCorrected(named(decision.differences))
  if (outcome.looping) {
    return drifts.updateLoop(named(decision.differences), loopOf(reconciliation, decision.differences) ?? 0)
  }
  if (immutable.length > 0) return drifts.immutable(named(immutable))
  if (ignored.length > 0) return drifts.ignored(named(ignored))
  return undefined
}
