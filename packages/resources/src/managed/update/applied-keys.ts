import { expandWildcards, FieldPathError, formatFieldPath, getOwn, isObject, type Json } from '@crosstie/kube'
import type { Difference } from '../../definition/external.js'
import { annotationOf, annotations } from '../../metadata/metadata.js'
import type { Reconciliation, Values } from '../reconciliation.js'

/**
 * Tracks the keys of shared maps that the control plane set. A key that the spec no longer contains could otherwise
 * not be distinguished from a key of another owner.
 */

/** A key that the control plane set and that the spec no longer contains. */
export interface RemovedKey extends Difference {
  /** The path of the map below forProvider. */
  readonly map: string
  readonly key: string
}

/** Returns the keys that the external resource has only because the control plane set them. */
export function removedKeys(reconciliation: Reconciliation, observed: Values): readonly RemovedKey[] {
  if (reconciliation.runtime.sharedMaps.length === 0) return []
  const noted = notedKeys(reconciliation)
  const removed: RemovedKey[] = []
  for (const { path } of reconciliation.runtime.sharedMaps) {
    const map = path.join('.')
    const held = mapAt(observed, path)
    for (const key of noted[map] ?? []) {
      const is = getOwn(held, key)
      if (is === undefined || isNamed(reconciliation, path, key)) continue
      const at = formatFieldPath([...path, key].map((field) => ({ field })))
      removed.push({ path: at, map, key, desired: undefined, observed: is as Json })
    }
  }
  return removed.length > 0
    ? removed.filter(({ map, path }) => !isIgnored(reconciliation, observed, [map, path]))
    : removed
}

/** Groups the keys by map, for an update. */
export function byMap(removed: readonly RemovedKey[]): Readonly<Record<string, readonly string[]>> {
  const keys: Record<string, string[]> = {}
  for (const { map, key } of removed) {
    keys[map] ??= []
    keys[map].push(key)
  }
  return keys
}

/**
 * Returns the annotation to write after the keys of the spec were applied, if it changes. `observed` may contain
 * ignored keys.
 */
export function noteKeys(reconciliation: Reconciliation, observed: Values = {}): Readonly<Record<string, string>> {
  if (reconciliation.runtime.sharedMaps.length === 0) return {}
  const noted = notedKeys(reconciliation)
  const now: Record<string, readonly string[]> = {}
  for (const { path } of reconciliation.runtime.sharedMaps) {
    const map = path.join('.')
    const named = Object.keys(mapAt(reconciliation.forProvider, path))
    // A key that is ignored now may have to be removed later.
    const left = (noted[map] ?? []).filter((key) => {
      const at = formatFieldPath([...path, key].map((field) => ({ field })))
      return getOwn(mapAt(observed, path), key) !== undefined && isIgnored(reconciliation, observed, [map, at])
    })
    const keys = [...new Set([...named, ...left])].sort()
    if (keys.length > 0) now[map] = keys
  }
  const text = JSON.stringify(now)
  const held = annotationOf(reconciliation.managed, annotations.appliedKeys) || '{}'
  return text === held ? {} : { [annotations.appliedKeys]: text }
}

/** A key in initProvider is meant to stay as well. */
function isNamed(reconciliation: Reconciliation, path: readonly string[], key: string): boolean {
  return [reconciliation.forProvider, reconciliation.initProvider ?? {}].some(
    (values) => getOwn(mapAt(values, path), key) !== undefined,
  )
}

function isIgnored(reconciliation: Reconciliation, observed: Values, paths: readonly string[]): boolean {
  const patterns = reconciliation.runtime.features.ignoreChanges ? (reconciliation.spec.ignoreChanges ?? []) : []
  return patterns.some((pattern) => {
    try {
      return paths.includes(pattern) || expandWildcards(observed, pattern).some((path) => paths.includes(path))
    } catch (error) {
      if (error instanceof FieldPathError) return false
      throw error
    }
  })
}

function mapAt(values: Values, path: readonly string[]): Values {
  let value: unknown = values
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return isObject(value) ? value : {}
}

function notedKeys({ managed }: Reconciliation): Readonly<Record<string, readonly string[]>> {
  try {
    const noted: unknown = JSON.parse(annotationOf(managed, annotations.appliedKeys) || '{}')
    if (!isObject(noted)) return {}
    return Object.fromEntries(
      Object.entries(noted).filter((entry): entry is [string, string[]] => Array.isArray(entry[1])),
    )
  } catch {
    // The annotation was edited and is invalid, so no key is known to be set by the control plane and none is
    // removed.
    return {}
  }
}
