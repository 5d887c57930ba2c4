import type { Next } from '@crosstie/controller'
import { ignoring, isNotFound } from '@crosstie/kube'
import { finalizer, withoutFinalizer } from '../../metadata/metadata.js'
import { conditions } from '../../status/conditions.js'
import { callExternal } from '../external-call.js'
import type { Gathered } from '../observe/gather.js'
import { observedIn } from '../observe/gather.js'
import { unreserve } from '../ownership/reservation.js'
import { awaitApproval } from '../policy/approval.js'
import { type Reconciliation, step } from '../reconciliation.js'

/** Deletes the external resource, after approval if that is required. */
export async function deleteExternal({ reconciliation, client, observed, forProvider }: Gathered): Promise<Next> {
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

/** Removes the finalizer and the reservation. The external resource is not changed. */
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
