import { equal } from '../json.js'
import type { KubeObject, ManagedFieldsEntry } from '../object.js'

/**
 * Restores the live times of an object that differs only in the times of its managedFields, so that the write is
 * not a change. Call it last, with the object that would be stored.
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
