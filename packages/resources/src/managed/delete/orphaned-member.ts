import { ignoring, isNotFound } from '@crosstie/kube'
import { aggregateType } from '../../definition/aggregate.js'
import { refersTo } from '../../metadata/binding.js'
import { controllerOf, isDeleted } from '../../metadata/metadata.js'
import type { Reconciliation } from '../reconciliation.js'

/** What became of the aggregate that an object is part of. */
export type AggregateState = 'there' | 'leaving' | 'gone'

/**
 * Is it part of an aggregate that is no more, or not for long? Somebody made
 * it who did not know yet. Nothing is created for it: whoever takes the
 * aggregate apart has settled already in which order its parts go.
 */
export async function aggregateStateOf({ runtime, managed, signal }: Reconciliation): Promise<AggregateState> {
  const owner = controllerOf(managed.metadata.ownerReferences)
  if (!owner || isDeleted(managed) || !refersTo(owner, aggregateType)) return 'there'
  const aggregate = await runtime.api.get(aggregateType, { name: owner.name }, { signal }).catch(ignoring(isNotFound))
  if (aggregate?.metadata.uid !== owner.uid) return 'gone'
  return isDeleted(aggregate) ? 'leaving' : 'there'
}

/**
 * Takes away what was made for an aggregate that was gone by then: nobody else
 * knows of it. From the revision in which nothing was created for it.
 */
export async function deleteOrphan({ runtime, managed, signal }: Reconciliation): Promise<void> {
  const { name, uid, resourceVersion } = managed.metadata
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! }
  await runtime.client.delete(runtime.kind.type, { name: name! }, { preconditions, signal }).catch(ignoring(isNotFound))
}
