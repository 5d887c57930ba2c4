import { conditionsOf, type KubeObject } from '@crosstie/kube'

export const isReady = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp === undefined &&
  conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True')

/** Did whoever looks after it say anything yet? Until then it is about to be written, and others only get in the way. */
export const isLookedAfter = (object: KubeObject): boolean => conditionsOf(object).length > 0

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
