import { conditionsOf, isConflict, isNotFound, type KubeObject, messageOf, type ObjectKey } from '@crosstie/kube'
import { OutOfBudgetError } from '../external/budget.js'
import { act, refuseName, release } from './act.js'
import { connect, disconnect, isDisposable } from './call.js'
import { conditions } from './conditions.js'
import { needsHuman } from './create.js'
import { decide } from './decide.js'
import { keepName } from './external-name.js'
import { gather } from './gather.js'
import type { Kit, Next } from './kit.js'
import { isDeleted, isPaused, isProvisioning } from './meta.js'
import { forbiddenName } from './ownership.js'
import { hasReferences, resolveReferences } from './references.js'
import { reserved } from './reservation.js'
import { learnSecrets } from './secrets.js'
import { Failure, Turn } from './turn.js'

/**
 * Brings one external resource in line with one managed resource.
 *
 * Gather facts, decide, act: only the first and the last talk to anybody.
 * Throws only when the object cannot be read or its status cannot be written.
 */
export async function reconcile(kit: Kit, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  let turn: Turn | undefined
  try {
    const managed = await read(kit, key, signal)
    if (!managed || isProvisioning(managed)) return { after: 'never' }
    turn = new Turn(kit, managed, signal)
    const settled = settleUnseen(turn)
    if (settled) return await settled

    await keepName(turn)
    if (hasReferences(turn)) await resolveReferences(turn)
    const client = await connect(turn)
    try {
      const forbidden = forbiddenName(turn, client)
      if (forbidden) return isDeleted(managed) ? await release(turn) : await refuseName(turn, forbidden)
      const gathered = await gather(turn, client)
      const decision = await reserved(gathered, decide(gathered.facts))
      kit.witness?.decided(gathered, decision)
      return await act[decision.do](gathered, decision)
    } catch (error) {
      // Told before the client is let go: if that failed too, it would take the place of what went wrong.
      return await reportFailure(turn, error)
    } finally {
      if (isDisposable(client)) await disconnect(turn, client)
    }
  } catch (error) {
    return await reportFailure(turn, error)
  }
}

function read(kit: Kit, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return kit.client.get(kit.kind.type, key, { signal }).catch(unread)
}

function unread(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  if (isConflict(error)) throw error
  throw new Error(`cannot get managed resource: ${messageOf(error)}`, { cause: error })
}

/**
 * What is settled before anybody is called: it must work even when the credentials are gone.
 * Undefined, at once, for all others.
 */
function settleUnseen(turn: Turn): Promise<Next> | undefined {
  const { policies, managed } = turn
  if (policies.paused || isPaused(managed)) return pause(turn)
  if (turn.request) turn.event('Normal', 'ReconcileRequestHandled', 'Handling reconcile request')
  if (policies.refused) return refuse(turn, policies.refused)
  warn(turn)
  if (isDeleted(managed) && !policies.may.delete) return release(turn)
  if (needsHuman(turn)) return askHuman(turn)
  return undefined
}

async function refuse(turn: Turn, because: string): Promise<Next> {
  turn.event('Warning', 'CannotUseInvalidManagementPolicy', because)
  await turn.report(conditions.reconcileError(because))
  return { after: 'never' }
}

async function askHuman(turn: Turn): Promise<Next> {
  const message =
    'cannot determine creation result - remove the crossplane.io/external-create-pending annotation if it is safe to proceed'
  turn.event('Warning', 'CannotInitializeManagedResource', message)
  turn.know({ inDoubt: true })
  await turn.report(conditions.creating(), conditions.reconcileError(message))
  return { after: 'never' }
}

async function pause(turn: Turn): Promise<Next> {
  const synced = conditionsOf(turn.managed).find(({ type }) => type === 'Synced')
  if (synced?.reason !== 'ReconcilePaused') {
    const ways = '`spec.managementPolicies` or the pause annotation'
    turn.event('Normal', 'ReconciliationPaused', `Reconciliation is paused either through the ${ways}`)
  }
  // A request to reconcile is not handled by not reconciling.
  turn.request = undefined
  await turn.report(conditions.reconcilePaused())
  return { after: 'never' }
}

/** Tells, once for each generation, of fields that are ignored or on their way out. */
function warn(turn: Turn): void {
  if (turn.alreadyReported) return
  const { policies, spec } = turn
  if (policies.ignored) turn.event('Warning', 'FieldIgnored', policies.ignored)
  if (!turn.kit.features.ignoreChanges && (spec.ignoreChanges ?? []).length > 0) {
    turn.event('Warning', 'FieldIgnored', 'spec.ignoreChanges ignored: the feature ignore changes is not enabled')
  }
  if (spec.deletionPolicy === 'Orphan' && turn.kit.features.managementPolicies) {
    turn.event(
      'Warning',
      'FieldDeprecated',
      'spec.deletionPolicy is deprecated: leave Delete out of spec.managementPolicies instead',
    )
  }
  if (spec.managementPolicy) {
    turn.event(
      'Warning',
      'FieldDeprecated',
      'spec.managementPolicy is deprecated: use spec.managementPolicies, which `crosstie migrate` writes for you',
    )
  }
}

/** The one place where failures are told of. */
async function reportFailure(turn: Turn | undefined, error: unknown): Promise<Next> {
  // Somebody wrote the object while we worked. That is ordinary life, not
  // news: we look again, and tell nobody.
  if (isConflict(error) && !(error instanceof Failure)) return { after: 'backoff' }
  if (!turn) throw error
  // Nobody was asked anything yet: that others come first is no news of this object.
  if (error instanceof OutOfBudgetError) return { after: 'turn', seconds: error.seconds }
  await learnSecrets(turn)
  if (!(error instanceof Failure)) throw redacted(turn, error)
  if (error.reason) turn.event('Warning', error.reason, error.eventMessage)
  try {
    await turn.report(...error.conditions, conditions.reconcileError(error.message))
  } catch (failed) {
    if (isConflict(failed)) return { after: 'backoff' }
    throw redacted(turn, failed)
  }
  return { after: 'backoff' }
}

/** What is thrown ends in a log. */
function redacted(turn: Turn, error: unknown): unknown {
  const message = turn.secrets.redact(messageOf(error))
  return message === messageOf(error) ? error : new Error(message)
}
