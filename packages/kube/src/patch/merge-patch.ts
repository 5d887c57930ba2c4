import { badRequest } from '../errors.js'
import { getOwn, isObject, setOwn } from '../json.js'
import { jsonType } from './json-patch.js'

/**
 * Applies a patch of RFC 7386 as kube-apiserver does: nulls delete, objects merge, other values replace. Neither
 * input is changed; parts that the patch does not name are shared with the result. Throws a StatusError with code
 * 400 if the patch is not an object.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (!isObject(patch)) {
    const into = 'into Go value of type map[string]interface {}'
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(patch)} ${into}`)
  }
  return isObject(document) ? mergeObjects(document, patch) : withoutNulls(patch)
}

function mergeObjects(current: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...current }
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    const existing = getOwn(merged, key)
    if (value === null || value === undefined) delete merged[key]
    else if (existing === undefined || !isObject(existing)) setOwn(merged, key, withoutNulls(value))
    // A list that replaces an object keeps its nulls, as in Kubernetes.
    else setOwn(merged, key, isObject(value) ? mergeObjects(existing, value) : value)
  }
  return merged
}

/** Removes members of objects that are null, also inside lists. Null elements of lists are kept. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member !== null && member !== undefined) setOwn(kept, key, withoutNulls(member))
  }
  return kept
}
