import { equal, getOwn, isObject } from '../json.js'
import { type FieldSet, fieldElement, LEAF, sorted, union } from './field-set.js'
import {
  deduceShape,
  fieldType,
  type ListType,
  listElement,
  type ManagedType,
  type MapType,
  SchemaMismatchError,
  shapeOf,
} from './managed-type.js'

/** The fields that differ between two values. An absent set is empty. */
export interface Comparison {
  readonly removed?: FieldSet | undefined
  readonly modified?: FieldSet | undefined
  readonly added?: FieldSet | undefined
}

type Values = Readonly<Record<string, unknown>>

/** Compares two objects in one pass. Returns undefined if they are equal. Throws a SchemaMismatchError. */
export function compare(type: ManagedType, old: Values, updated: Values): Comparison | undefined {
  return compareValues(type, old, updated)
}

/**
 * Returns every field of a new value: leaves, and the maps and lists that contain them. Throws a
 * SchemaMismatchError.
 */
export function allFields(type: ManagedType, value: unknown): FieldSet {
  if (value === null || typeof value !== 'object') return LEAF
  if (Array.isArray(value)) return type.list && !type.list.atomic ? allItems(type.list, value) : LEAF
  const map = type.map
  if (!map || map.atomic) return LEAF
  const keys = Object.keys(value)
  if (keys.length > 1) keys.sort()
  const out: Record<string, FieldSet> = { '.': LEAF }
  let empty = true
  for (const key of keys) {
    const member = (value as Values)[key]
    if (member === undefined) continue
    empty = false
    const child = map.fields.get(key) ?? map.element
    if (!child) throw new SchemaMismatchError(`.${key}: field not declared in schema`)
    out[fieldElement(key)] = member !== null && typeof member === 'object' ? allFields(child, member) : LEAF
  }
  return empty ? LEAF : out
}

function allItems(list: ListType, items: readonly unknown[]): FieldSet {
  if (items.length === 0) return LEAF
  const out: Record<string, FieldSet> = { '.': LEAF }
  for (const item of items) {
    const element = listElement(list, item)
    // Duplicates have one owner together.
    out[element] = element in out ? LEAF : allFields(list.element, item)
  }
  return items.length > 1 ? sorted(out) : out
}

function compareValues(type: ManagedType, old: unknown, updated: unknown): Comparison | undefined {
  if (old === updated) return undefined
  if (old === undefined) return { added: allFields(type, updated) }
  if (updated === undefined) return { removed: allFields(type, old) }
  const oldShape = deduceShape(type, old)
  const newShape = deduceShape(type, updated)
  const after = compareAs(type, shapeOf(type, updated), old, updated)
  if (oldShape === newShape || possibilities(type) === 1) return after
  return join(compareAs(type, shapeOf(type, old), old, updated), after)
}

function possibilities(type: ManagedType): number {
  return (type.scalar ? 1 : 0) + (type.list ? 1 : 0) + (type.map ? 1 : 0)
}

function join(a: Comparison | undefined, b: Comparison | undefined): Comparison | undefined {
  if (!a || !b) return a ?? b
  const both = (x: FieldSet | undefined, y: FieldSet | undefined) => (x && y ? joinNodes(x, y) : (x ?? y))
  return {
    removed: both(a.removed, b.removed),
    modified: both(a.modified, b.modified),
    added: both(a.added, b.added),
  }
}

/** Joins nodes, which may be members themselves, unlike whole sets. */
function joinNodes(a: FieldSet, b: FieldSet): FieldSet {
  return union({ x: a }, { x: b })['x']!
}

function compareAs(
  type: ManagedType,
  shape: 'scalar' | 'list' | 'map' | undefined,
  old: unknown,
  updated: unknown,
): Comparison | undefined {
  if (shape === 'map' && !type.map!.atomic) {
    const before = isObject(old) ? old : {}
    const after = isObject(updated) ? updated : {}
    if (!isEmptyMap(before) || !isEmptyMap(after)) return compareMaps(type.map!, before, after)
  } else if (shape === 'list' && !type.list!.atomic) {
    const before = Array.isArray(old) ? old : []
    const after = Array.isArray(updated) ? updated : []
    if (before.length > 0 || after.length > 0) return compareLists(type.list!, before, after)
  }
  return equal(old, updated) ? undefined : { modified: LEAF }
}

function isEmptyMap(map: Values): boolean {
  for (const key in map) if (map[key] !== undefined) return false
  return true
}

/** Collects the differences of the parts of a value. */
class Parts {
  #removed: Record<string, FieldSet> | undefined
  #modified: Record<string, FieldSet> | undefined
  #added: Record<string, FieldSet> | undefined

  removed(element: string, fields: FieldSet): void {
    this.#removed ??= {}
    this.#removed[element] = fields
  }

  modified(element: string, fields: FieldSet): void {
    this.#modified ??= {}
    this.#modified[element] = fields
  }

  added(element: string, fields: FieldSet): void {
    this.#added ??= {}
    this.#added[element] = fields
  }

  add(element: string, part: Comparison): void {
    if (part.removed) this.removed(element, part.removed)
    if (part.modified) this.modified(element, part.modified)
    if (part.added) this.added(element, part.added)
  }

  get comparison(): Comparison | undefined {
    if (!this.#removed && !this.#modified && !this.#added) return undefined
    return {
      removed: this.#removed && sorted(this.#removed),
      modified: this.#modified && sorted(this.#modified),
      added: this.#added && sorted(this.#added),
    }
  }
}

function compareMaps(map: MapType, old: Values, updated: Values): Comparison | undefined {
  const parts = new Parts()
  const compareField = (key: string, before: unknown, after: unknown) => {
    const type = fieldType(map, key)
    if (!type) throw new SchemaMismatchError(`.${key}: field not declared in schema`)
    const part = compareValues(type, before, after)
    if (part) parts.add(fieldElement(key), part)
  }
  for (const key in old) {
    const before = old[key]
    const after = getOwn(updated, key)
    if (before !== after) compareField(key, before, after)
  }
  for (const key in updated) {
    if (getOwn(old, key) === undefined && updated[key] !== undefined) compareField(key, undefined, updated[key])
  }
  return parts.comparison
}

function compareLists(list: ListType, old: readonly unknown[], updated: readonly unknown[]): Comparison | undefined {
  const before = byElement(list, old)
  const after = byElement(list, updated)
  const parts = new Parts()
  for (const [element, items] of before) compareItems(list, element, items, after.get(element) ?? [], parts)
  for (const [element, items] of after) {
    if (!before.has(element)) compareItems(list, element, [], items, parts)
  }
  return parts.comparison
}

function byElement(list: ListType, items: readonly unknown[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>()
  for (const item of items) {
    const element = listElement(list, item)
    const same = found.get(element)
    if (same) same.push(item)
    else found.set(element, [item])
  }
  return found
}

/** Compares items. Duplicates are not compared by field, since they have one owner together. */
function compareItems(
  list: ListType,
  element: string,
  old: readonly unknown[],
  updated: readonly unknown[],
  parts: Parts,
): void {
  if (old.length <= 1 && updated.length <= 1) {
    const part = compareValues(list.element, old[0], updated[0])
    if (part) parts.add(element, part)
  } else if (old.length > 1 && updated.length > 1) {
    if (!equal(old, updated)) parts.modified(element, LEAF)
  } else if (old.length > 1) {
    if (updated.length > 0) parts.added(element, allFields(list.element, updated[0]))
    parts.removed(element, LEAF)
  } else {
    if (old.length > 0) parts.removed(element, allFields(list.element, old[0]))
    parts.added(element, LEAF)
  }
}
