import { expandWildcards, FieldPathError, formatFieldPath, getOwn, isObject, type Json } from '@crosstie/kube'
import type { Difference } from '../external/external.js'
import { annotationOf, annotations } from './meta.js'
import type { Turn, Values } from './turn.js'

/**
 * Which keys of shared maps are ours. A tag that the spec names no longer can
 * only be told from somebody else's by having been noted when we set it.
 */

/** A key that we set and that the spec names no longer. */
export interface RemovedKey extends Difference {
  /** The map's path below forProvider. */
  readonly map: string
  readonly key: string
}

/** The keys that are on the external resource only because we put them there. */
export function removedKeys(turn: Turn, observed: Values): readonly RemovedKey[] {
  if (turn.kit.sharedMaps.length === 0) return []
  const noted = notedKeys(turn)
  const removed: RemovedKey[] = []
  for (const { path } of turn.kit.sharedMaps) {
    const map = path.join('.')
    const held = mapAt(observed, path)
    for (const key of noted[map] ?? []) {
      const is = getOwn(held, key)
      if (is === undefined || isNamed(turn, path, key)) continue
      const at = formatFieldPath([...path, key].map((field) => ({ field })))
      removed.push({ path: at, map, key, desired: undefined, observed: is as Json })
    }
  }
  return removed.length > 0 ? removed.filter(({ map, path }) => !isIgnored(turn, observed, [map, path])) : removed
}

/** By map, for an update. */
export function byMap(removed: readonly RemovedKey[]): Readonly<Record<string, readonly string[]>> {
  const keys: Record<string, string[]> = {}
  for (const { map, key } of removed) {
    keys[map] ??= []
    keys[map].push(key)
  }
  return keys
}

/** The external resource has the keys of the spec. What to note of it, if that is news. `observed` may hold keys that were left. */
export function noteKeys(turn: Turn, observed: Values = {}): Readonly<Record<string, string>> {
  if (turn.kit.sharedMaps.length === 0) return {}
  const noted = notedKeys(turn)
  const now: Record<string, readonly string[]> = {}
  for (const { path } of turn.kit.sharedMaps) {
    const map = path.join('.')
    const named = Object.keys(mapAt(turn.forProvider, path))
    // What is ignored today may be ours to remove tomorrow.
    const left = (noted[map] ?? []).filter((key) => {
      const at = formatFieldPath([...path, key].map((field) => ({ field })))
      return getOwn(mapAt(observed, path), key) !== undefined && isIgnored(turn, observed, [map, at])
    })
    const keys = [...new Set([...named, ...left])].sort()
    if (keys.length > 0) now[map] = keys
  }
  const text = JSON.stringify(now)
  const held = annotationOf(turn.managed, annotations.appliedKeys) || '{}'
  return text === held ? {} : { [annotations.appliedKeys]: text }
}

/** initProvider may name it, too: then it was meant to stay. */
function isNamed(turn: Turn, path: readonly string[], key: string): boolean {
  return [turn.forProvider, turn.initProvider ?? {}].some((values) => getOwn(mapAt(values, path), key) !== undefined)
}

function isIgnored(turn: Turn, observed: Values, paths: readonly string[]): boolean {
  const patterns = turn.kit.features.ignoreChanges ? (turn.spec.ignoreChanges ?? []) : []
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

function notedKeys({ managed }: Turn): Readonly<Record<string, readonly string[]>> {
  try {
    const noted: unknown = JSON.parse(annotationOf(managed, annotations.appliedKeys) || '{}')
    if (!isObject(noted)) return {}
    return Object.fromEntries(
      Object.entries(noted).filter((entry): entry is [string, string[]] => Array.isArray(entry[1])),
    )
  } catch {
    // Somebody's hand was in it: then nothing is known to be ours, and nothing is removed.
    return {}
  }
}
