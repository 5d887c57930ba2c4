import type { Next } from '@crosstie/controller'
import type { Difference } from '../../definition/external.js'
import { conditions } from '../../status/conditions.js'
import { tagsForUpdate } from '../create/create.js'
import { intentFulfilled } from '../create/create-intent.js'
import type { Decision } from '../decide.js'
import { drifted } from '../drift.js'
import { callExternal } from '../external-call.js'
import { lateInitialize } from '../late-initialization.js'
import { describe } from '../observe/describe.js'
import { changedValues } from '../observe/difference.js'
import type { Gathered } from '../observe/gather.js'
import { observedIn } from '../observe/gather.js'
import { isEmpty, noteExisting } from '../ownership/record-name.js'
import { awaitApproval, noteExecuted, nothingToApprove } from '../policy/approval.js'
import { step } from '../reconciliation.js'
import { noteGiven, withRotated } from '../secrets/rotation.js'
import { connectionSecretOf, publish } from '../secrets/secrets.js'
import { byMap, noteKeys } from './applied-keys.js'
import { isBackingOff, loopOf, noteCorrection } from './update-loop.js'

/** Handles an external resource that exists and is wanted: records it, late-initializes, updates and reports. */
export async function converge(gathered: Gathered, decision: Decision): Promise<Next> {
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

/** A new value in a Secret counts as a change by the user. */
function isChangedByUser({ reconciliation, rotated }: Gathered, { differences }: Decision): boolean {
  return !reconciliation.alreadyReported || (rotated.length > 0 && rotated.length === differences.length)
}

async function noteApplied(gathered: Gathered): Promise<void> {
  const annotations = notesOfApplied(gathered)
  if (!annotations) return
  await step({ prefix: 'cannot update object: ' }, () => gathered.reconciliation.patchMetadata({ annotations }))
}

/**
 * Returns the annotations to write after the provider received the values, if they change. After a crash before the
 * write, the update is sent again, which is harmless.
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

/** Returns the parameters of an update call. */
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

/** Returns false if the provider counts its requests and sent none that changes anything. */
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
