import { type Condition, conditionsOf } from '@crosstie/kube'
import type { Difference } from '../definition/external.js'
import { drifts } from '../status/conditions.js'
import type { Decision } from './decide.js'
import { describe } from './observe/describe.js'
import type { Gathered } from './observe/gather.js'
import { loopOf } from './update/update-loop.js'

/** The result of an update, as far as the Drifted condition needs it. */
export interface UpdateOutcome {
  /** The spec changed, so the difference is not drift. */
  readonly changedByUser: boolean
  /** The provider was asked for an update and sent no request. */
  readonly unsent: boolean
  /** Earlier updates for the same difference had no lasting effect. */
  readonly looping: boolean
}

/**
 * Returns the Drifted condition: which fields differ, and whether the difference was corrected, is ignored, cannot
 * be corrected, or must not be corrected. Undefined leaves the condition unchanged.
 */
export function drifted(gathered: Gathered, decision: Decision, outcome: UpdateOutcome): Condition | undefined {
  const { reconciliation } = gathered
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Drifted')
  const condition = openDrift(gathered, decision, outcome)
  if (condition) {
    // Emit one event for each change of the differences, not one for each poll.
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

/** Returns the difference that remains after this reconciliation, with the reason. */
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
