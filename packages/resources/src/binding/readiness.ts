import { type Condition, conditionsOf, type KubeObject } from '@crosstie/kube'
import { externalNameOf } from '../metadata/metadata.js'

export const isReady = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp === undefined &&
  conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True')

/** Did whoever looks after it say anything yet? Until then it is about to be written, and others only get in the way. */
export const isReconciled = (object: KubeObject): boolean => conditionsOf(object).length > 0

/** Why it is not ready, as far as it says so itself. */
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

/** The first few of those that are not ready, in the order in which they are given. */
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
 * The condition of a claim when the external name of a managed resource cannot be used. It does not say whose the name is,
 * since that may be another tenant; the managed resource does.
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
