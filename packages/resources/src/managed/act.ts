import { type Condition, conditionsOf, ignoring, isNotFound } from '@crosstie/kube'
import type { Difference, Sight } from '../external/external.js'
import { leave } from './abandoned.js'
import { awaitApproval, noteExecuted, nothingToApprove } from './approval.js'
import { forgetAsked } from './asked.js'
import { beginningShows, underWayFor } from './begun.js'
import { callExternal } from './call.js'
import { conditions, drifts } from './conditions.js'
import { isBackingOff, loopOf, noteCorrection } from './corrections.js'
import { createExternal, tagsForUpdate } from './create.js'
import type { Decision } from './decide.js'
import { describe } from './describe.js'
import { changedValues } from './difference.js'
import { lostNameMessage } from './external-name.js'
import type { Gathered } from './gather.js'
import type { Next } from './kit.js'
import { annotations, externalNameOf, finalizer, withFinalizer, withoutFinalizer } from './meta.js'
import { applyOwn } from './ownfields.js'
import { byMap, noteKeys } from './ownkeys.js'
import { unreserve } from './reservation.js'
import { noteGiven, withRotated } from './rotation.js'
import { connectionSecretOf, publish } from './secrets.js'
import { step, type Turn, type Values } from './turn.js'

export const lateInitManager = 'managed.crossplane.io/late-initializer'

/** What follows from each decision. */
export const act: Readonly<Record<Decision['do'], (gathered: Gathered, decision: Decision) => Promise<Next>>> = {
  create: createExternal,
  delete: deleteExternal,
  release: ({ turn }) => release(turn),
  wait,
  fail: failAbsent,
  stop: ({ turn }) => stopUnnamed(turn),
  refuse: ({ turn }, { because }) => refuse(turn, conditions.externalNameTaken(because)),
  settle,
}

async function wait({ turn, facts, aggregate }: Gathered, { because, announced }: Decision): Promise<Next> {
  if (announced) turn.event('Normal', 'PendingExternalResource', because)
  if (aggregate === 'gone' && !turn.history.attempted) await leave(turn)
  const milliseconds = facts.createInDoubt ? underWayFor(turn) : 0
  return milliseconds > 0 ? { after: 'poll', seconds: milliseconds / 1000 } : { after: 'backoff', progress: true }
}

async function failAbsent({ turn }: Gathered, { because }: Decision): Promise<Next> {
  turn.event('Warning', 'CannotObserveExternalResource', because)
  const unnoted = notesOfName(turn, undefined)
  if (unnoted) await noteName(turn, unnoted)
  turn.know({})
  await turn.report(conditions.reconcileError(`observe failed: ${because}`))
  return turn.poll()
}

/** The external resource cannot be identified: a person has to name it. */
async function stopUnnamed(turn: Turn): Promise<Next> {
  const message = lostNameMessage(turn)
  turn.event('Warning', 'ExternalNameLost', message)
  await turn.report(conditions.externalNameLost(message))
  return turn.poll()
}

export const refuseName = (turn: Turn, because: string): Promise<Next> =>
  refuse(turn, conditions.externalNameForbidden(because))

/** Nothing outside is touched, and nothing of it is published. Emits one event for each new reason. */
async function refuse(turn: Turn, condition: Condition): Promise<Next> {
  const { reason, message = '' } = condition
  const held = conditionsOf(turn.managed).find(({ type }) => type === 'Synced')
  if (held?.reason !== reason || held.message !== message) turn.event('Warning', reason, message)
  await turn.report(conditions.unavailable(message), condition)
  return turn.poll()
}

async function deleteExternal({ turn, client, sight, forProvider }: Gathered): Promise<Next> {
  const { kind } = turn.kit
  const externalName = (sight.exists && sight.externalName) || turn.externalName
  const telling = {
    reason: 'CannotDeleteExternalResource',
    prefix: 'delete failed: ',
    conditions: [conditions.deleting()],
  }
  const call = { externalName, forProvider }
  const held = await awaitApproval(turn, { call: 'Delete', ...call, ...observedIn(sight) })
  if (held) return held
  await step({ ...telling, evenConflicts: true }, () =>
    callExternal(turn, 'Delete', () =>
      kind.external.delete({ client, managed: turn.managed, ...call, signal: turn.signal }),
    ),
  )
  turn.event('Normal', 'DeletedExternalResource', 'Successfully requested deletion of external resource')
  await turn.report(conditions.deleting(), conditions.reconcileSuccess())
  return { after: 'backoff', progress: true }
}

const observedIn = (sight: Sight): { observed?: Values } => (sight.exists ? { observed: sight.atProvider } : {})

/** Lets the object go. Nothing outside is touched. */
export async function release(turn: Turn): Promise<Next> {
  const { managed, kit } = turn
  if (managed.metadata.finalizers?.includes(finalizer)) {
    const finalizers = withoutFinalizer(managed.metadata.finalizers, finalizer)
    await step({ prefix: 'cannot update object: ', conditions: [conditions.deleting()] }, () =>
      turn.patchMetadata({ finalizers }).catch(ignoring(isNotFound)),
    )
  }
  await unreserve(turn)
  kit.memory.drop(managed.metadata.uid ?? '')
  return { after: 'never' }
}

/** The external resource is there and wanted: note it, fill in what was left open, correct it, report. */
async function settle(gathered: Gathered, decision: Decision): Promise<Next> {
  const { turn, sight, fill, facts } = gathered
  if (!sight.exists) throw new Error('only what exists can settle')
  const changedByUser = isChangedByUser(gathered, decision)
  if (connectionSecretOf(turn.managed)) await publish(turn, sight.connection ?? {})
  await noteExisting(turn, sight.externalName)
  beginningShows(turn)
  const differing = decision.calls.includes('Update')
  // The update that completes a loop may still have an effect.
  const looping = differing && loopOf(turn, decision.differences) !== undefined
  const updating = differing && !isBackingOff(turn, decision.differences)
  const call = updating ? updateCall(gathered, decision.differences) : undefined
  const held = call && (await awaitApproval(turn, { call: 'Update', ...call, ...observedIn(sight) }))
  if (held) return held
  if (decision.lateInitialize) await lateInitialize(turn, fill)
  const sent = call && (await update(gathered, call))
  if (sent) noteCorrection(turn, decision.differences, sight.ready === true)
  if (!differing) {
    nothingToApprove(turn)
    turn.state.corrections = undefined
  }
  if (sent || facts.upToDate) await noteApplied(gathered)
  const drift = drifted(gathered, decision, { changedByUser, looping, unsent: sent === false })
  await turn.report(conditions.reconcileSuccess(), ...(drift ? [drift] : []))
  return turn.poll()
}

/** A new value in a Secret is a change by the user, too. */
function isChangedByUser({ turn, rotated }: Gathered, { differences }: Decision): boolean {
  return !turn.alreadyReported || (rotated.length > 0 && rotated.length === differences.length)
}

async function noteApplied(gathered: Gathered): Promise<void> {
  const annotations = notesOfApplied(gathered)
  if (!annotations) return
  await step({ prefix: 'cannot update object: ' }, () => gathered.turn.patchMetadata({ annotations }))
}

/** Records the external name and the finalizer of an external resource that exists. */
async function noteExisting(turn: Turn, seen: string | undefined): Promise<void> {
  const unnoted = notesOfName(turn, seen, true)
  // Admission accepts another name only when the status says the same.
  const renamed = unnoted?.annotations?.[annotations.externalName]
  if (renamed && turn.recordedName !== '') await turn.recordExistence({ name: renamed })
  if (unnoted) await noteName(turn, unnoted)
}

async function lateInitialize(turn: Turn, fill: Values): Promise<void> {
  const failure = { reason: 'CannotUpdateManagedResource', prefix: 'cannot update managed resource: ' }
  // The apply has no resourceVersion, so a conflict does not mean that another writer was faster.
  await step({ ...failure, evenConflicts: true }, async () => {
    turn.managed = await applyOwn(turn, lateInitManager, { forProvider: fill })
  })
}

/**
 * What is to be noted of what the provider was given, if that is news. Only once it has it: if we die before this, it is
 * told again, which does no harm.
 */
function notesOfApplied({ turn, sight }: Gathered): Readonly<Record<string, string>> | undefined {
  if (!turn.policies.may.update) return undefined
  const observed = sight.exists ? sight.atProvider : {}
  const notes = { ...noteGiven(turn), ...noteKeys(turn, observed), ...noteExecuted(turn) }
  return isEmpty(notes) ? undefined : notes
}

/** What an update is told, beside whom it is about. */
function updateCall({ turn, sight, desired, rotated, removed }: Gathered, differences: readonly Difference[]) {
  const observed = sight.exists ? sight.atProvider : {}
  return {
    externalName: turn.externalName,
    forProvider: desired,
    changed: withRotated(turn, changedValues(turn.kit.kind.parameters, desired, observed), rotated),
    differences,
    removed: byMap(removed),
    tags: tagsForUpdate(turn, sight, desired),
  }
}

/** False when the provider counts its requests and sent none that changes anything. */
async function update({ turn, client }: Gathered, call: ReturnType<typeof updateCall>): Promise<boolean> {
  const { kind } = turn.kit
  const { differences } = call
  const before = turn.changes.sent
  const telling = { reason: 'CannotUpdateExternalResource', prefix: 'update failed: ', evenConflicts: true }
  const updated = await step(telling, () =>
    callExternal(turn, 'Update', () =>
      kind.external.update({ client, managed: turn.managed, ...call, signal: turn.signal }),
    ),
  )
  await publish(turn, updated?.connection ?? {}, { evenConflicts: true })
  if (before !== undefined && turn.changes.sent === before) return false
  const fields = differences.length > 0 ? `: ${describe(turn.secrets, differences)}` : ''
  turn.event('Normal', 'UpdatedExternalResource', `Successfully requested update of external resource${fields}`)
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
function notesOfName(turn: Turn, seen: string | undefined, keep = false): NotesOfName | undefined {
  const { managed, history, kit } = turn
  const notes: Record<string, string | null> = {}
  const name = seen || turn.externalName
  if (name !== '' && name !== externalNameOf(managed)) notes[annotations.externalName] = name
  if (keep && history.incomplete && (kit.kind.token || !kit.kind.naturalKey)) {
    notes[annotations.createSucceeded] = new Date(Math.max(kit.clock.now(), history.pending!)).toISOString()
    Object.assign(notes, forgetAsked(turn))
  }
  const finalizers = keep ? withFinalizer(managed.metadata.finalizers, finalizer) : managed.metadata.finalizers
  const complete = finalizers === managed.metadata.finalizers
  if (complete && isEmpty(notes)) return undefined
  return { ...(complete ? {} : { finalizers }), ...(isEmpty(notes) ? {} : { annotations: notes }) }
}

/** Writes it down in one go. */
async function noteName(turn: Turn, notes: NotesOfName): Promise<void> {
  const telling = notes.finalizers
    ? { prefix: 'cannot update object: ' }
    : { reason: 'CannotInitializeManagedResource', prefix: 'cannot update managed resource: ', both: true }
  await step(telling, () => turn.patchMetadata({ ...notes }))
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
  const { turn } = gathered
  const held = conditionsOf(turn.managed).find(({ type }) => type === 'Drifted')
  const condition = openDrift(gathered, decision, outcome)
  if (condition) {
    // One event for each change of the differences, not one for each poll.
    const news = held?.status !== 'True' || held.message !== condition.message || held.reason !== condition.reason
    const text = `The external resource differs (${condition.reason}): ${turn.secrets.redact(condition.message ?? '')}`
    if (news) turn.event('Warning', 'DriftDetected', text)
    return condition
  }
  if (decision.calls.includes('Update')) {
    const firstUpdate = outcome.changedByUser && !held
    return firstUpdate ? undefined : drifts.corrected(describe(turn.secrets, decision.differences))
  }
  return held?.status === 'True' ? drifts.inStep() : undefined
}

/** The difference that remains after this reconciliation, and the reason. */
function openDrift({ turn, facts, ignored, immutable }: Gathered, decision: Decision, outcome: UpdateOutcome) {
  const named = (differences: readonly Difference[]) =>
    describe(turn.secrets, differences) || 'the provider reports a difference'
  if (!facts.upToDate && !facts.may.update) return drifts.notAllowed(named([...decision.differences, ...immutable]))
  if (outcome.unsent) return drifts.notCorrected(named(decision.differences))
  if (outcome.looping) {
    return drifts.updateLoop(named(decision.differences), loopOf(turn, decision.differences) ?? 0)
  }
  if (immutable.length > 0) return drifts.immutable(named(immutable))
  if (ignored.length > 0) return drifts.ignored(named(ignored))
  return undefined
}
