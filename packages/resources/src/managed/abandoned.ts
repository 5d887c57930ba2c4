import { isNotFound } from '@crosstie/kube'
import { aggregateType } from '../aggregate/define.js'
import { refersTo } from '../claim/words.js'
import { controllerOf, isDeleted } from './meta.js'
import type { Turn } from './turn.js'

/**
 * Is it part of an aggregate that is no more, or not for long? Somebody made
 * it who did not know yet. Nothing is created for it: whoever takes the
 * aggregate apart has settled already in which order its parts go.
 */
export async function isAbandoned({ kit, managed, signal }: Turn): Promise<boolean> {
  const owner = controllerOf(managed.metadata.ownerReferences)
  if (!owner || isDeleted(managed) || !refersTo(owner, aggregateType)) return false
  try {
    const aggregate = await kit.api.get(aggregateType, { name: owner.name }, { signal })
    return aggregate.metadata.uid !== owner.uid || isDeleted(aggregate)
  } catch (error) {
    if (isNotFound(error)) return true
    throw error
  }
}
