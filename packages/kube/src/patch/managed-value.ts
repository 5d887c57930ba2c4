import { getOwn, isObject, setOwn } from '../json.js'
import { EMPTY, type FieldSet, fieldElement, isEmpty, isMember, LEAF, sorted } from './field-set.js'
import {
  fieldType,
  isDeducedMap,
  type ListType,
  listElement,
  type ManagedType,
  type MapType,
  shapeOf,
} from './managed-type.js'

type Values = Readonly<Record<string, unknown>>

/** Returns the fields that an applier of this object owns: leaves, elements of lists and entries of maps. */
export function appliedFields(type: ManagedType, object: Values): FieldSet {
  return appliedNode(type, object) ?? EMPTY
}

/** Returns undefined if there is no field to own. */
function appliedNode(type: ManagedType, value: unknown): FieldSet | undefined {
  switch (shapeOf(type, value)) {
    case 'map':
      if (type.map!.atomic) return LEAF
      return isObject(value) ? appliedMap(type.map!, value) : undefined
    case 'list':
      if (type.list!.atomic) return LEAF
      return Array.isArray(value) ? appliedList(type.list!, value) : undefined
    default:
      return LEAF
  }
}

function appliedMap(map: MapType, value: Values): FieldSet | undefined {
  const out: Record<string, FieldSet> = {}
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) continue
    const type = fieldType(map, key) ?? {}
    const vacant = member === null || (isObject(member) && Object.keys(member).length === 0)
    const fields = appliedNode(type, member)
    const owned = vacant || !map.fields.has(key) ? withSelf(fields) : fields
    if (owned) out[fieldElement(key)] = owned
  }
  return isEmpty(out) ? undefined : out
}

function appliedList(list: ListType, items: readonly unknown[]): FieldSet | undefined {
  const out: Record<string, FieldSet> = {}
  const seen = new Set<string>()
  for (const item of items) {
    const element = listElement(list, item)
    out[element] = seen.has(element) ? LEAF : withSelf(appliedNode(list.element, item))
    seen.add(element)
  }
  return items.length === 0 ? undefined : sorted(out)
}

function withSelf(fields: FieldSet | undefined): FieldSet {
  if (fields === undefined || isEmpty(fields)) return LEAF
  return '.' in fields ? fields : { '.': LEAF, ...fields }
}

/**
 * Merges an applied value into the live one. Nothing is removed. Lists keep the live order where the applied order
 * leaves a choice. Throws a SchemaMismatchError.
 */
export function merge(type: ManagedType, live: unknown, applied: unknown): unknown {
  if (applied === undefined || live === applied) return live
  if (live === undefined) return applied
  const shape = shapeOf(type, applied)
  if (shape === 'map' && !type.map!.atomic) {
    const base = isObject(live) ? live : {}
    const top = isObject(applied) ? applied : {}
    if (!isVacant(base) || !isVacant(top)) return mergeMaps(type.map!, base, top)
  } else if (shape === 'list' && !type.list!.atomic) {
    const base = Array.isArray(live) ? live : []
    const top = Array.isArray(applied) ? applied : []
    if (base.length > 0 || top.length > 0) return mergeLists(type.list!, base, top)
  }
  return applied
}

function isVacant(map: Values): boolean {
  for (const key in map) if (map[key] !== undefined) return false
  return true
}

function mergeMaps(map: MapType, live: Values, applied: Values): Values {
  const merged: Record<string, unknown> = { ...live }
  for (const key of Object.keys(applied)) {
    const value = merge(fieldType(map, key) ?? {}, getOwn(live, key), applied[key])
    if (value !== undefined) setOwn(merged, key, value)
  }
  return merged
}

interface Indexed {
  readonly elements: readonly string[]
  /** The values by element. Null for a duplicate live element, which is not merged. */
  readonly values: ReadonlyMap<string, unknown>
}

function indexed(list: ListType, items: readonly unknown[]): Indexed {
  const values = new Map<string, unknown>()
  const elements = items.map((item) => {
    const element = listElement(list, item)
    values.set(element, values.has(element) ? null : item)
    return element
  })
  return { elements, values }
}

/**
 * Merges two lists in one pass. Common elements keep the applied order; elements of the live list stay between
 * their neighbors.
 */
function mergeLists(list: ListType, live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const left = indexed(list, live)
  const right = indexed(list, applied)
  const shared = right.elements.filter((element) => left.values.has(element))
  const merged: unknown[] = []
  const taken = new Set<string>()
  let nextShared = 0
  let l = 0
  let r = 0
  const takeApplied = (element: string) => {
    taken.add(element)
    merged.push(merge(list.element, left.values.get(element), right.values.get(element)))
    r++
  }
  while (l < left.elements.length || r < right.elements.length) {
    const mine = left.elements[l]
    const theirs = right.elements[r]
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        takeApplied(mine)
        l++
        nextShared++
        continue
      }
      if (right.values.has(mine) && nextShared < shared.length && shared[nextShared] !== mine) {
        // Both lists have the element, but at a later position.
        l++
        continue
      }
    }
    if (mine !== undefined) {
      if (!right.values.has(mine)) {
        merged.push(live[l])
        l++
        continue
      }
      if (taken.has(mine)) l++
    }
    if (theirs !== undefined) {
      takeApplied(theirs)
      if (shared[nextShared] === theirs) nextShared++
    }
  }
  return merged
}

/** Returns the value without the items of a set. Containers that become empty become null, as in Kubernetes. */
export function removeItems(type: ManagedType, value: unknown, items: FieldSet): unknown {
  const shape = shapeOf(type, value)
  if (shape === 'scalar' || shape === undefined) return value
  if (shape === 'list') {
    if (!Array.isArray(value) || type.list!.atomic) return null
    return removeFromList(type.list!, value, items)
  }
  if (!isObject(value) || type.map!.atomic) return null
  return removeFromMap(type.map!, value, items)
}

function removeFromList(list: ListType, value: readonly unknown[], items: FieldSet): readonly unknown[] | null {
  const kept: unknown[] = []
  for (const item of value) {
    const subset = items[listElement(list, item)]
    if (subset && isMember(subset)) continue
    kept.push(subset ? removeItems(list.element, item, subset) : item)
  }
  return kept.length > 0 ? kept : null
}

function removeFromMap(map: MapType, value: Values, items: FieldSet): Values | null {
  const kept: Record<string, unknown> = {}
  let count = 0
  for (const key of Object.keys(value)) {
    const member = value[key]
    const subset = items[fieldElement(key)]
    if (member === undefined || (subset && isMember(subset))) continue
    count++
    setOwn(kept, key, subset ? removeItems(fieldType(map, key) ?? {}, member, subset) : member)
  }
  return count > 0 ? kept : null
}

/**
 * Adds the declared fields that lead to members. They are usually not in sets, but must be removed together with
 * their last member.
 */
export function withNamedFields(set: FieldSet, type: ManagedType): FieldSet {
  const out: Record<string, FieldSet> = {}
  for (const key in set) {
    if (key === '.') {
      out[key] = LEAF
      continue
    }
    const child = set[key]!
    if (isEmpty(child)) {
      out[key] = child
      continue
    }
    const named = key[0] === 'f' && type.map?.fields.has(key.slice(2)) === true
    const fields = withNamedFields(child, childType(type, key))
    out[key] = named ? withSelf(fields) : fields
  }
  return out
}

function childType(type: ManagedType, element: string): ManagedType {
  if (element[0] === 'f' && type.map) return fieldType(type.map, element.slice(2)) ?? {}
  if (element[0] === 'k' && type.list) return type.list.element
  return {}
}

const reconciled = new WeakMap<FieldSet, WeakMap<ManagedType, FieldSet>>()

/** Adapts a set to a changed schema: the owner of a part of a list or map that became atomic owns the whole. */
export function reconcileWithType(set: FieldSet, type: ManagedType): FieldSet {
  let known = reconciled.get(set)
  if (!known) {
    known = new WeakMap()
    reconciled.set(set, known)
  }
  let result = known.get(type)
  if (!result) {
    result = reconcileNode(set, type)
    known.set(type, result)
  }
  return result
}

function reconcileNode(set: FieldSet, type: ManagedType): FieldSet {
  if (type.map) {
    const { map } = type
    if (isDeducedMap(map)) return set
    if (map.atomic) return LEAF
    return reconcileChildren(set, (key) => (key[0] === 'f' ? fieldType(map, key.slice(2)) : map.element))
  }
  if (type.scalar || !type.list) return set
  if (type.list.atomic) return LEAF
  const { element } = type.list
  return reconcileChildren(set, () => element)
}

function reconcileChildren(set: FieldSet, typeOf: (key: string) => ManagedType | undefined): FieldSet {
  let out: Record<string, FieldSet> | undefined
  for (const key in set) {
    const child = set[key]!
    const type = key === '.' || isEmpty(child) ? undefined : typeOf(key)
    if (!type) continue
    const result = reconcileNode(child, type)
    if (result === child) continue
    out ??= { ...set }
    out[key] = result
  }
  return out ?? set
}
