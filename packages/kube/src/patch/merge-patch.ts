import { badRequest } from '../errors.js'
import { getOwn, isObject, setOwn } from '../json.js'
import { jsonType } from './json-patch.js'

/**
 * RFC 7386 as kube-apiserver does it: nulls delete, objects merge, the rest replaces.
 * Neither input is changed; what the patch does not name is shared with the result.
 * Throws a 400 StatusError when the patch is not an object.
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
    // A list that replaces an object keeps the nulls inside, as upstream does.
    else setOwn(merged, key, isObject(value) ? mergeObjects(existing, value) : value)
  }
  return merged
}

/** Drops object members that are null, also inside lists; null elements of lists stay. */
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
