import type { Next } from '@crosstie/controller'
import { conditionsOf, isConflict, isNotFound, type KubeObject, messageOf, type ObjectKey } from '@crosstie/kube'
import { refusedPath } from '../definition/paths.js'
import { OutOfBudgetError } from '../external/budget.js'
import { isDeleted, isPaused, isProvisioning } from '../metadata/metadata.js'
import { conditions } from '../status/conditions.js'
import { act, refuseName } from './act.js'
import { needsHuman } from './create/create.js'
import { decide } from './decide.js'
import { release } from './delete/delete.js'
import { connect, disconnect, isDisposable } from './external-call.js'
import { gather } from './observe/gather.js'
import { restoreName } from './ownership/external-name.js'
import { forbiddenName } from './ownership/ownership.js'
import { reserved } from './ownership/reservation.js'
import { Failure, Reconciliation } from './reconciliation.js'
import { hasReferences, resolveReferences } from './references.js'
import type { KindRuntime } from './runtime.js'
import { learnSecrets } from './secrets/secrets.js'

/**
 * Brings one external resource in line with one managed resource.
 *
 * It gathers facts, decides and acts. Only the first and the last step do I/O. Throws only if the object cannot be
 * read or its status cannot be written.
 */
export async function reconcile(runtime: KindRuntime, key: ObjectKey, signal: AbortSignal): Promise<Next> {
  let reconciliation: Reconciliation | undefined
  try {
    const managed = await read(runtime, key, signal)
    if (!managed || isProvisioning(managed)) return { after: 'never' }
    reconciliation = new Reconciliation(runtime, managed, signal)
    const settled = reconcileWithoutCall(reconciliation)
    if (settled) return await settled

    await restoreName(reconciliation)
    if (hasReferences(reconciliation)) await resolveReferences(reconciliation)
    const client = await connect(reconciliation)
    try {
      const forbidden = forbiddenName(reconciliation, client)
      if (forbidden)
        return isDeleted(managed) ? await release(reconciliation) : await refuseName(reconciliation, forbidden)
      const gathered = await gather(reconciliation, client)
      const decision = await reserved(gathered, decide(gathered.facts))
      runtime.witness?.decided(gathered, decision)
      return await act[decision.do](gathered, decision)
    } catch (error) {
      // Report the failure before the client is disposed. An error of the disposal would replace it.
      return await reportFailure(reconciliation, error)
    } finally {
      if (isDisposable(client)) await disconnect(reconciliation, client)
    }
  } catch (error) {
    return await reportFailure(reconciliation, error)
  }
}

function read(runtime: KindRuntime, key: ObjectKey, signal: AbortSignal): Promise<KubeObject | undefined> {
  return runtime.client.get(runtime.kind.type, key, { signal }).catch(unread)
}

function unread(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  if (isConflict(error)) throw error
  throw new Error(`cannot get managed resource: ${messageOf(error)}`, { cause: error })
}

/**
 * Handles the cases that need no call to the provider. They must work even without valid credentials. Returns
 * undefined synchronously in all other cases.
 */
function reconcileWithoutCall(reconciliation: Reconciliation): Promise<Next> | undefined {
  const { policies, managed } = reconciliation
  if (policies.paused || isPaused(managed)) return pause(reconciliation)
  if (reconciliation.request) reconciliation.event('Normal', 'ReconcileRequestHandled', 'Handling reconcile request')
  if (policies.refused) return refuse(reconciliation, policies.refused)
  const invalid = invalidIgnoreChanges(reconciliation)
  if (invalid) return refuseIgnoreChanges(reconciliation, invalid)
  warn(reconciliation)
  if (isDeleted(managed) && !policies.may.delete) return release(reconciliation)
  if (needsHuman(reconciliation)) return askHuman(reconciliation)
  return undefined
}

/**
 * Returns why spec.ignoreChanges is invalid. A server without the validation rule of the CRD stores any text, and a
 * field that the user wants to protect could change. So nothing is done until the path is corrected. A deletion is
 * not affected.
 */
function invalidIgnoreChanges({ runtime, spec, managed }: Reconciliation): string | undefined {
  const { ignoreChanges = [] } = spec
  if (ignoreChanges.length === 0 || !runtime.features.ignoreChanges || isDeleted(managed)) return undefined
  const { type, parameters } = runtime.kind
  const [refused] = ignoreChanges.flatMap((path) => refusedPath(type.kind, parameters, path) ?? [])
  return refused && `${refused}. Nothing is done until the path is corrected or removed`
}

async function refuse(reconciliation: Reconciliation, because: string): Promise<Next> {
  reconciliation.event('Warning', 'CannotUseInvalidManagementPolicy', because)
  await reconciliation.report(conditions.reconcileError(because))
  return { after: 'never' }
}

async function refuseIgnoreChanges(reconciliation: Reconciliation, because: string): Promise<Next> {
  await reconciliation.report(conditions.reconcileError(because))
  return { after: 'never' }
}

async function askHuman(reconciliation: Reconciliation): Promise<Next> {
  const message =
    'cannot determine creation result - remove the crossplane.io/external-create-pending annotation if it is safe to proceed'
  reconciliation.event('Warning', 'CannotInitializeManagedResource', message)
  reconciliation.know({ inDoubt: true })
  await reconciliation.report(conditions.creating(), conditions.reconcileError(message))
  return { after: 'never' }
}

async function pause(reconciliation: Reconciliation): Promise<Next> {
  const synced = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Synced')
  if (synced?.reason !== 'ReconcilePaused') {
    const ways = '`spec.managementPolicies` or the pause annotation'
    reconciliation.event('Normal', 'ReconciliationPaused', `Reconciliation is paused either through the ${ways}`)
  }
  // A paused object does not handle a request to reconcile.
  reconciliation.request = undefined
  await reconciliation.report(conditions.reconcilePaused())
  return { after: 'never' }
}

/** Emits warnings about ignored and deprecated fields, once for each generation. */
function warn(reconciliation: Reconciliation): void {
  if (reconciliation.alreadyReported) return
  const { policies, spec } = reconciliation
  if (policies.ignored) reconciliation.event('Warning', 'FieldIgnored', policies.ignored)
  if (!reconciliation.runtime.features.ignoreChanges && (spec.ignoreChanges ?? []).length > 0) {
    reconciliation.event(
      'Warning',
      'FieldIgnored',
      'spec.ignoreChanges ignored: the feature ignore changes is not enabled',
    )
  }
  if (spec.deletionPolicy === 'Orphan' && reconciliation.runtime.features.managementPolicies) {
    reconciliation.event(
      'Warning',
      'FieldDeprecated',
      'spec.deletionPolicy is deprecated: leave Delete out of spec.managementPolicies instead',
    )
  }
  if (spec.managementPolicy) {
    reconciliation.event(
      'Warning',
      'FieldDeprecated',
      'spec.managementPolicy is deprecated: use spec.managementPolicies, which `crosstie migrate` writes for you',
    )
  }
}

/** Reports all failures of a reconciliation. */
async function reportFailure(reconciliation: Reconciliation | undefined, error: unknown): Promise<Next> {
  // Another writer changed the object. This is expected, so the reconciler retries without a report.
  if (isConflict(error) && !(error instanceof Failure)) return { after: 'backoff' }
  if (!reconciliation) throw error
  // No call was sent yet. A wait for the budget is not reported on the object.
  if (error instanceof OutOfBudgetError) return { after: 'turn', seconds: error.seconds }
  await learnSecrets(reconciliation)
  if (!(error instanceof Failure)) throw redacted(reconciliation, error)
  if (error.reason) reconciliation.event('Warning', error.reason, error.eventMessage)
  try {
    await reconciliation.report(...error.conditions, conditions.reconcileError(error.message))
  } catch (failed) {
    if (isConflict(failed)) return { after: 'backoff' }
    throw redacted(reconciliation, failed)
  }
  return { after: 'backoff' }
}

/** Redacts secrets, because thrown errors are logged. */
function redacted(reconciliation: Reconciliation, error: unknown): unknown {
  const message = reconciliation.secrets.redact(messageOf(error))
  return message === messageOf(error) ? error : new Error(message)
}
