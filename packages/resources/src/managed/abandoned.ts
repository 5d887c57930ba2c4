import { ignoring, isNotFound } from '@crosstie/kube'
import { aggregateType } from '../aggregate/define.js'
import { refersTo } from '../claim/words.js'
import { controllerOf, isDeleted } from './meta.js'
import type { Turn } from './turn.js'

/** What became of the aggregate that an object is part of. */
export type Aggregated = 'there' | 'leaving' | 'gone'

/**
 * Is it part of an aggregate that is no more, or not for long? Somebody made
 * it who did not know yet. Nothing is created for it: whoever takes the
 * aggregate apart has settled already in which order its parts go.
 */
export async function aggregateOf({ kit, managed, signal }: Turn): Promise<Aggregated> {
  const owner = controllerOf(managed.metadata.ownerReferences)
  if (!owner || isDeleted(managed) || !refersTo(owner, aggregateType)) return 'there'
  const aggregate = await kit.api.get(aggregateType, { name: owner.name }, { signal }).catch(ignoring(isNotFound))
  if (aggregate?.metadata.uid !== owner.uid) return 'gone'
  return isDeleted(aggregate) ? 'leaving' : 'there'
}

/**
 * Takes away what was made for an aggregate that was gone by then: nobody else
 * knows of it. From the revision in which nothing was created for it.
 */
export async function leave({ kit, managed, signal }: Turn): Promise<void> {
  const { name, uid, resourceVersion } = managed.metadata
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! }
  await kit.client.delete(kit.kind.type, { name: name! }, { preconditions, signal }).catch(ignoring(isNotFound))
}
