import { equal } from '../json.js'
import type { KubeObject, ManagedFieldsEntry } from '../object.js'

/**
 * A write that changes nothing but the times of managedFields is no change: such an object gets the live times back.
 * To be asked last, when the object is as it would be stored.
 */
export function withoutNewTimes(object: KubeObject, live: KubeObject): KubeObject {
  const updated = object.metadata.managedFields
  const stored = live.metadata.managedFields
  if (!updated || !stored || updated === stored || updated.length !== stored.length) return object
  if (!updated.every((entry, i) => equal(timeless(entry), timeless(stored[i]!)))) return object
  const reverted = { ...object, metadata: { ...object.metadata, managedFields: stored } }
  return equal(reverted, live) ? reverted : object
}

function timeless({ time: _, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry
}
