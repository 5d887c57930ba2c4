import { type Condition, conditionsOf, type KubeObject } from '@crosstie/kube'
import { externalNameOf } from '../metadata/metadata.js'

/** Returns whether the object is ready and not being deleted. */
export const isReady = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp === undefined &&
  conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True')

/**
 * Returns whether the controller of the object has reported any condition. Until then other writes would only
 * conflict with its first write.
 */
export const isReconciled = (object: KubeObject): boolean => conditionsOf(object).length > 0

/** Returns the reason why the object is not ready, from its own conditions. */
export function whyNotReady(object: KubeObject): string {
  const conditions = conditionsOf(object)
  const ready = conditions.find(({ type }) => type === 'Ready')
  const synced = conditions.find(({ type }) => type === 'Synced')
  if (synced?.status === 'False') return synced.message ?? synced.reason
  if (ready && ready.status !== 'True') return ready.message ?? ready.reason
  if (object.metadata.deletionTimestamp) return 'it is being deleted'
  return ready ? 'it is ready' : 'nobody looked at it yet'
}

const SHOWN = 3

/** Returns a message about the first few objects that are not ready, in the given order. */
export function whyNotAllReady(objects: readonly KubeObject[]): string {
  const shown = objects
    .slice(0, SHOWN)
    .map((object) => `${object.kind} ${object.metadata.name}: ${whyNotReady(object)}`)
  const more = objects.length - shown.length
  return `waiting for ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

const anotherName =
  'Delete this claim and create it again with another name in the annotation crossplane.io/external-name'

/**
 * Returns the condition of a claim if the external name of a managed resource cannot be used. The message does not
 * name the current owner, who may be another tenant. The managed resource names it.
 */
export function nameRefused(objects: readonly KubeObject[]): Condition | undefined {
  for (const object of objects) {
    const synced = conditionsOf(object).find(({ type }) => type === 'Synced')
    if (synced?.status !== 'False') continue
    const name = externalNameOf(object) || object.metadata.name
    const because =
      synced.reason === 'ExternalNameTaken'
        ? `is taken: a ${object.kind} of this name exists that was not created for this claim, and it is left as it is`
        : 'is reserved for the provider or the control plane'
    if (synced.reason !== 'ExternalNameTaken' && synced.reason !== 'ExternalNameForbidden') continue
    const message = `external name "${name}" ${because}. ${anotherName}`
    return { type: 'Ready', status: 'False', reason: synced.reason, message }
  }
  return undefined
}
