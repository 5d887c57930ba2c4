import { ignoring, isNotFound } from '@crosstie/kube'
import { aggregateType } from '../../definition/aggregate.js'
import { refersTo } from '../../metadata/binding.js'
import { controllerOf, isDeleted } from '../../metadata/metadata.js'
import type { Reconciliation } from '../reconciliation.js'

/** The state of the aggregate that an object is a member of. Objects without an aggregate have the state `there`. */
export type AggregateState = 'there' | 'leaving' | 'gone'

/**
 * Returns the state of the aggregate of an object. A stale process may have created the object after the deletion
 * of the aggregate began. Nothing is created for it, because the deletion order of the members is already fixed.
 */
export async function aggregateStateOf({ runtime, managed, signal }: Reconciliation): Promise<AggregateState> {
  const owner = controllerOf(managed.metadata.ownerReferences)
  if (!owner || isDeleted(managed) || !refersTo(owner, aggregateType)) return 'there'
  const aggregate = await runtime.api.get(aggregateType, { name: owner.name }, { signal }).catch(ignoring(isNotFound))
  if (aggregate?.metadata.uid !== owner.uid) return 'gone'
  return isDeleted(aggregate) ? 'leaving' : 'there'
}

/**
 * Deletes a member that was created after its aggregate was gone, because no other controller knows it. The
 * preconditions name the revision in which no external resource existed.
 */
export async function deleteOrphan({ runtime, managed, signal }: Reconciliation): Promise<void> {
  const { name, uid, resourceVersion } = managed.metadata
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! }
  await runtime.client.delete(runtime.kind.type, { name: name! }, { preconditions, signal }).catch(ignoring(isNotFound))
}
