import {
  deleteFieldValue,
  equal,
  expandWildcards,
  FieldPathError,
  findFieldValue,
  formatFieldPath,
  getOwn,
  isObject,
  type Json,
  setFieldValue,
  setOwn,
} from '@crosstie/kube'
import type { Difference } from '../../definition/external.js'
import type { Node } from '../../definition/schema.js'

type Values = Readonly<Record<string, unknown>>

const none: Values = {}

/** Returns the differences between the spec and the external resource. Only fields that the spec sets count. */
export function differencesOf(node: Node, desired: Values, observed: Values): readonly Difference[] {
  const found: Difference[] = []
  compareFields(node, desired, observed, [], found)
  return found
}

function compareFields(
  node: Node,
  desired: Values,
  observed: Values,
  path: readonly string[],
  found: Difference[],
): void {
  for (const name in node.fields) {
    const field = node.fields[name]!
    const want = desired[name]
    const is = observed[name]
    // A sensitive value is never observed, so it can neither drift nor be shown.
    if (want === is || want === undefined || want === null || field.sensitive || field.unreported) continue
    compareValue(field, want as Json, is as Json | undefined, [...path, name], found)
  }
}

function compareValue(
  node: Node,
  want: Json,
  is: Json | undefined,
  path: readonly string[],
  found: Difference[],
): void {
  if (want === is || (is === undefined && node.omittedWhenZero && isZero(want))) return
  if (node.same && is !== undefined) {
    if (!node.same(want, is)) found.push(difference(path, want, is))
  } else if (node.type === 'object' && isObject(want)) {
    compareFields(node, want, isObject(is) ? is : none, path, found)
  } else if (node.type === 'map' && node.shared && isObject(want)) {
    const held = isObject(is) ? is : none
    for (const key of Object.keys(want)) {
      if (!equal(want[key], getOwn(held, key))) {
        found.push(difference([...path, key], want[key] as Json, getOwn(held, key) as Json | undefined))
      }
    }
  } else if (!same(node, want, is)) found.push(difference(path, want, is))
}

/** Reports whether a value is null, false, 0, an empty string, an empty list, or an object with only such values. */
function isZero(value: Json): boolean {
  if (isObject(value)) return Object.values(value).every((inner) => inner === undefined || isZero(inner))
  return (
    value === null || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0)
  )
}

function same(node: Node, want: Json, is: Json | undefined): boolean {
  if (is === undefined && node.omittedWhenZero && isZero(want)) return true
  if (is === undefined || is === null) return Array.isArray(want) && want.length === 0
  if (node.type === 'list' && Array.isArray(want) && Array.isArray(is)) return sameList(node, want, is)
  if (node.type === 'object' && isObject(want)) return differencesOf(node, want, isObject(is) ? is : none).length === 0
  return equal(want, is)
}

function sameList(node: Node, want: readonly Json[], is: readonly Json[]): boolean {
  const sameItem = (a: Json, b: Json | undefined) => same(node.items!, a, b)
  if (node.set) {
    return want.every((a) => is.some((b) => sameItem(a, b))) && is.every((b) => want.some((a) => sameItem(a, b)))
  }
  if (want.length !== is.length) return false
  if (!node.keys) return want.every((item, i) => sameItem(item, is[i]))
  const byKey = new Map(is.map((item) => [keyOf(node, item), item]))
  return want.every((item) => sameItem(item, byKey.get(keyOf(node, item))))
}

function keyOf({ keys = [] }: Node, item: Json): string {
  return JSON.stringify(keys.map((key) => (isObject(item) ? String(getOwn(item, key)) : '')))
}

function difference(path: readonly string[], desired: Json, observed: Json | undefined): Difference {
  return { path: formatFieldPath(path.map((field) => ({ field }))), desired, observed }
}

/** Returns the desired values that differ, as input for an update. Maps and lists are returned as a whole. */
export function changedValues(node: Node, desired: Values, observed: Values): Values {
  const changed: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(node.fields ?? {})) {
    const want = desired[name]
    if (want === undefined || want === null || field.sensitive || field.unreported) continue
    const is = observed[name]
    if (field.type === 'object' && isObject(want)) {
      const inner = changedValues(field, want, isObject(is) ? is : none)
      if (Object.keys(inner).length > 0) changed[name] = inner
    } else {
      const found: Difference[] = []
      compareValue(field, want as Json, is as Json | undefined, [name], found)
      if (found.length > 0) changed[name] = want
    }
  }
  return changed
}

/**
 * Returns the desired values, with the values at some paths replaced by the observed ones (INI5). Wildcards and map
 * keys are expanded on both sides, so `tags[*]` also covers tags that only one side has.
 */
export function leaveAlone(desired: Values, paths: readonly string[], observed: Values): Values {
  let left = desired
  for (const pattern of paths) {
    for (const path of new Set([...pathsOf(pattern, desired), ...pathsOf(pattern, observed)])) {
      const is = findFieldValue(observed, path)
      try {
        left = is === undefined ? deleteFieldValue(left, path) : setFieldValue(left, path, is)
      } catch (error) {
        if (!(error instanceof FieldPathError)) throw error
      }
    }
  }
  return left
}

function pathsOf(pattern: string, values: Values): readonly string[] {
  try {
    return expandWildcards(values, pattern)
  } catch (error) {
    if (error instanceof FieldPathError) return []
    throw error
  }
}

/**
 * Merges forProvider and initProvider for the creation (INI1, INI2). forProvider wins, field by field in nested
 * objects and key by key in maps. Items of a keyed list are merged by key. Any other list is taken as a whole.
 */
export function mergeInit(node: Node, forProvider: Values, initProvider: Values | undefined): Values {
  if (!initProvider) return forProvider
  const merged: Record<string, unknown> = { ...forProvider }
  for (const key of Object.keys(initProvider)) {
    const given = initProvider[key]
    if (given === undefined || given === null) continue
    setOwn(merged, key, mergeValue(node.fields?.[key], getOwn(forProvider, key), given))
  }
  return merged
}

function mergeValue(node: Node | undefined, wins: unknown, given: unknown): unknown {
  if (wins === undefined || wins === null) return given
  if (node?.type === 'object' && isObject(wins) && isObject(given)) return mergeInit(node, wins, given)
  if (node?.type === 'map' && isObject(wins) && isObject(given)) {
    return fromEntries([...Object.entries(given), ...Object.entries(wins)])
  }
  if (node?.type === 'json' && isObject(wins) && isObject(given)) {
    const keys = [...new Set([...Object.keys(wins), ...Object.keys(given)])]
    return fromEntries(keys.map((key) => [key, mergeValue(node, getOwn(wins, key), getOwn(given, key))]))
  }
  if (node?.keys && Array.isArray(wins) && Array.isArray(given)) return mergeKeyed(node, wins, given)
  return wins
}

function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, value] of entries) setOwn(object, key, value)
  return object
}

function mergeKeyed(node: Node, wins: readonly Json[], given: readonly Json[]): unknown {
  const rest = new Map(given.map((item) => [keyOf(node, item), item]))
  const merged = wins.map((item) => {
    const other = rest.get(keyOf(node, item))
    rest.delete(keyOf(node, item))
    return other === undefined ? item : mergeInit(node.items!, item as unknown as Values, other as unknown as Values)
  })
  return [...merged, ...rest.values()]
}
