import { equal, formatFieldPath, getOwn, isObject, type Json, type JsonObject, type KubeObject } from '@crosstie/kube'
import type { Difference } from '@crosstie/resources/provider'
import { HIDDEN, type Path, secretPaths } from './manifest.js'

/**
 * Reports whether the object contains the manifest, without knowledge of the kind. False may mean another spelling,
 * such as 1000m for 1: only the server can decide.
 */
export function holds(live: unknown, wanted: unknown): boolean {
  if (wanted === null) return live === undefined || live === null
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => holds(live[i], item))
  }
  if (!isObject(wanted)) return equal(wanted, live)
  return isObject(live) && Object.keys(wanted).every((key) => holds(getOwn(live, key), wanted[key]))
}

/** Metadata that the server maintains. */
const bookkeeping = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp'])

/**
 * Returns the differences of two objects by field: all, or only `wanted` fields. Hidden values are named but not
 * shown.
 */
export function differencesBetween(
  wanted: JsonObject,
  live: KubeObject,
  hidden: readonly Path[],
  fields: 'all' | 'wanted',
): readonly Difference[] {
  const found: Difference[] = []
  const secret = [...hidden, ...secretPaths(wanted), ...secretPaths(live as unknown as JsonObject)]
  const isHidden = (path: Path) =>
    secret.some((prefix) => prefix.length <= path.length && prefix.every((segment, i) => equal(segment, path[i])))
  const compare = (want: unknown, is: unknown, path: Path): void => {
    if (isObject(want) && isObject(is)) {
      for (const field of new Set([...Object.keys(want), ...(fields === 'all' ? Object.keys(is) : [])])) {
        if (path.length === 1 && isMetadata(path) && bookkeeping.has(field)) continue
        compare(getOwn(want, field), getOwn(is, field), [...path, { field }])
      }
      return
    }
    if (Array.isArray(want) && Array.isArray(is) && want.length === is.length) {
      for (const [index, item] of want.entries()) compare(item, is[index], [...path, { index }])
      return
    }
    if (equal(want, is)) return
    const shown = (value: unknown) => (value !== undefined && isHidden(path) ? HIDDEN : (value as Json | undefined))
    found.push({
      path: formatFieldPath([{ field: 'manifest' }, ...path]),
      desired: shown(want),
      observed: shown(is),
    })
  }
  compare(wanted, live, [])
  return found
}

const isMetadata = ([first]: Path): boolean => first !== undefined && 'field' in first && first.field === 'metadata'

/** Returns the fields that a manager applies, or undefined if it applies none. */
export function fieldsOf(object: KubeObject, manager: string): unknown {
  return object.metadata.managedFields?.find(
    (each) => each.manager === manager && each.operation === 'Apply' && !each.subresource,
  )?.fieldsV1
}
