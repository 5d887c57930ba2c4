import { type JSONSchemaProps, printJson } from '@crosstie/cel/kubernetes'
import { badRequest, StatusError } from '../errors.js'
import { equal, getOwn, isObject, setOwn } from '../json.js'
import { goText, goType } from './gotext.js'
import { jsonType, unprocessable } from './json-patch.js'

type JsonMap = Record<string, unknown>
type Schema = JSONSchemaProps | undefined

const DELETE_PREFIX = '$deleteFromPrimitiveList'
const ORDER_PREFIX = '$setElementOrder'
const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'

/**
 * Applies a strategic merge patch: the schema marks lists that are merged by key, and directives (`$patch`,
 * `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) define the rest. Neither input is changed.
 * Throws a StatusError with the code and message of kube-apiserver.
 */
export function applyStrategicMergePatch(document: unknown, patch: unknown, schema: JSONSchemaProps): unknown {
  if (patch !== null && !isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`)
  }
  return mergeMap(isObject(document) ? document : {}, patch ?? {}, schema)
}

/** Returns the error for a failure that kube-apiserver does not convert to a Status. */
function failure(message: string): StatusError {
  return new StatusError(500, '', message)
}

const badOrder = () => badRequest('invalid patch format of setElementOrder list')
const badRetainKeys = () => badRequest('invalid patch format of retainKeys')
const noMergeKey = (map: JsonMap, key: string) =>
  failure(`map: ${goText(map)} does not contain declared merge key: ${key}`)
const badType = (expected: string, actual: unknown) =>
  failure(`expected a ${expected}, but received a ${goType(actual)}`)

function mergeMap(original: JsonMap, wholePatch: JsonMap, schema: Schema): JsonMap {
  const directive = getOwn(wholePatch, DIRECTIVE)
  if (directive !== undefined) return mapDirective(directive, wholePatch)
  const patch = { ...wholePatch }
  const merged = retainKeys(original, patch)
  mergeOrderedLists(merged, patch, schema)
  for (const patchKey of Object.keys(patch)) {
    const value = patch[patchKey]
    const deletes = patchKey.startsWith(DELETE_PREFIX)
    const key = deletes ? fieldOf(patchKey, DELETE_PREFIX) : patchKey
    if (value === null || value === undefined) delete merged[key]
    else mergeField(merged, key, value, schema, deletes)
  }
  return merged
}

function mapDirective(directive: unknown, patch: JsonMap): JsonMap {
  if (directive === 'replace') {
    const { [DIRECTIVE]: _, ...replacement } = patch
    return replacement
  }
  if (directive === 'delete') return {}
  throw failure(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`)
}

function mergeField(merged: JsonMap, key: string, value: unknown, schema: Schema, deletes: boolean): void {
  const existing = getOwn(merged, key)
  if (Array.isArray(existing) && Array.isArray(value)) {
    const list = listField(schema, key)
    setOwn(merged, key, mergeListField(existing, value, list, deletes))
    return
  }
  if (deletes) return
  if (isObject(existing) && isObject(value)) {
    const field = structField(schema, key)
    setOwn(merged, key, strategyOf(field) === 'replace' ? value : mergeMap(existing, value, field))
    return
  }
  const taken = withoutDirectives(withoutNulls(value))
  if (taken === undefined) delete merged[key]
  else setOwn(merged, key, taken)
}

/** Returns the field of a directive: `$setElementOrder/ports` → `ports`. */
function fieldOf(directive: string, prefix: string): string {
  const slash = directive.indexOf('/')
  if (slash !== prefix.length) {
    throw prefix === ORDER_PREFIX ? badOrder() : badRequest('invalid patch format of primitive list')
  }
  return directive.slice(slash + 1)
}

/** Removes `$retainKeys` from the patch, and the fields that it does not list from the original. */
function retainKeys(original: JsonMap, patch: JsonMap): JsonMap {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...original }
  const retained = patch[RETAIN_KEYS]
  delete patch[RETAIN_KEYS]
  if (!Array.isArray(retained)) throw badRetainKeys()
  const names = new Set<unknown>(retained)
  for (const key of Object.keys(patch)) {
    const exempt = patch[key] === null || key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX)
    if (!exempt && !names.has(key)) throw badRetainKeys()
  }
  const kept: JsonMap = {}
  for (const key of Object.keys(original)) if (names.has(key)) setOwn(kept, key, original[key])
  return kept
}

/** Merges the lists that have a `$setElementOrder`, and removes both from the patch. */
function mergeOrderedLists(merged: JsonMap, patch: JsonMap, schema: Schema): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ORDER_PREFIX)) continue
    const order = asList(patch[directive])
    delete patch[directive]
    const key = fieldOf(directive, ORDER_PREFIX)
    const live = Object.hasOwn(merged, key) ? asList(merged[key]) : undefined
    const patched = Object.hasOwn(patch, key) ? asList(patch[key]) : undefined
    const list = listField(schema, key)
    checkOrder(patched ?? [], order, list.mergeKey)
    if (!live && !patched) continue
    const items =
      live && patched
        ? mergeListField(live, patched, list, false)
        : (live ?? (withoutDirectives(patched!) as readonly unknown[]))
    const [named, others] = partition(items, order, list.mergeKey)
    const ofMaps = elementKind([live ?? [], patched ?? []]) === 'map'
    const liveOrder = live && patched && ofMaps ? liveOrderAfter(live, patched, list) : (live ?? [])
    setOwn(merged, key, interleave(named, others, order, liveOrder, ofMaps ? list.mergeKey : undefined))
    delete patch[key]
  }
}

/**
 * Returns the live order that Kubernetes uses after a merge. It merges into the memory of the live list and takes
 * the order from that list afterwards: by then added items have replaced deleted ones, and count as existing ones.
 */
function liveOrderAfter(live: readonly unknown[], patched: readonly unknown[], list: ListField): readonly unknown[] {
  if (list.strategy !== 'merge') return live
  const key = (item: unknown) => valueIn(item, list.mergeKey)
  const isDeleted = (item: unknown) => isObject(item) && getOwn(item, DIRECTIVE) === 'delete'
  const deleted = new Set(patched.filter(isDeleted).map((item) => identityOf(key(item))))
  const kept = live.filter((item) => !deleted.has(identityOf(key(item))))
  const known = new Set(kept.map((item) => identityOf(key(item))))
  const added = patched.filter((item) => !isDeleted(item) && !known.has(identityOf(key(item))))
  return [...kept, ...added.slice(0, live.length - kept.length)]
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badType('[]interface {}', value)
  return value
}

/** Requires that the order list contains the items of the patch in the same order. */
function checkOrder(patched: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patched.length === 0 || order.length === 0) return
  let wanted = patched
  if (mergeKey !== '') {
    wanted = patched.filter((item) => {
      if (!isObject(item)) throw badType('map[string]interface {}', item)
      return getOwn(item, DIRECTIVE) !== 'delete'
    })
  }
  let at = 0
  let place = 0
  while (at < wanted.length && place < order.length) {
    const item = wanted[at]
    if (isObject(item) && Object.hasOwn(item, DIRECTIVE)) {
      at++
      continue
    }
    if (equal(keyValue(item, mergeKey), keyValue(order[place], mergeKey))) at++
    place++
  }
  if (at < wanted.length && place >= order.length) {
    const lists = `${goText(patched)}\n doesn't match ${ORDER_PREFIX} list:\n${goText(order)}\n`
    throw failure(`The order in patch list:\n${lists}`)
  }
}

function keyValue(item: unknown, mergeKey: string): unknown {
  return mergeKey === '' ? item : requireKey(item, mergeKey)
}

function requireKey(item: unknown, mergeKey: string): unknown {
  if (!isObject(item)) throw badType('map[string]interface {}', item)
  const value = getOwn(item, mergeKey)
  if (value === undefined) throw noMergeKey(item, mergeKey)
  return value
}

interface ListField {
  readonly strategy: string
  readonly mergeKey: string
  readonly items: Schema
}

function structField(schema: Schema, key: string): JSONSchemaProps {
  const field = schema?.properties && (getOwn(schema.properties, key) as Schema)
  if (field) return field
  if (schema?.additionalProperties) {
    throw failure('merging an object in json but data type is not struct, instead is: map')
  }
  throw failure(`unable to find api field in struct RawExtension for the json field ${JSON.stringify(key)}`)
}

function listField(schema: Schema, key: string): ListField {
  const field = structField(schema, key)
  return {
    strategy: strategyOf(field),
    mergeKey: field['x-kubernetes-patch-merge-key'] ?? '',
    items: Array.isArray(field.items) ? undefined : (field.items as Schema),
  }
}

/** Returns the strategy: `merge,retainKeys` → `merge`. retainKeys only matters to the creator of the patch. */
function strategyOf(field: JSONSchemaProps): string {
  const strategies = (field['x-kubernetes-patch-strategy'] ?? '').split(',').filter((name) => name !== 'retainKeys')
  if (strategies.length > 1) throw failure(`unexpected patch strategy: ${goText(strategies)}`)
  return strategies[0] ?? ''
}

function mergeListField(
  live: readonly unknown[],
  patch: readonly unknown[],
  list: ListField,
  deletes: boolean,
): readonly unknown[] {
  if (list.strategy !== 'merge' && !deletes) return patch
  if (live.length === 0 && patch.length === 0) return live
  if (elementKind([live, patch]) === 'map') return mergeMaps(live, patch, list)
  if (deletes) {
    const gone = new Positions(patch)
    return live.filter((item) => gone.of(item) < 0)
  }
  const seen = new Set<unknown>()
  const both = [...live, ...patch].filter((item) => {
    const key = identityOf(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  const [named, others] = partition(both, patch, list.mergeKey)
  return interleave(named, others, patch, live, undefined)
}

/** Returns the kind of the elements. All must have one kind, and none may be a list. */
function elementKind(lists: readonly (readonly unknown[])[]): 'map' | 'scalar' {
  let type: string | undefined
  for (const item of lists.flat(1)) {
    const itemType = goType(item)
    if (type === undefined) {
      type = itemType
      if (type === '[]interface {}') throw unprocessable(new Error('lists of lists are not supported'))
    } else if (type !== itemType) throw failure(`list element types are not identical: ${goText(lists)}`)
  }
  if (type === undefined) throw failure('no elements in any of the given slices')
  return type === 'map[string]interface {}' ? 'map' : 'scalar'
}

function mergeMaps(live: readonly unknown[], patch: readonly unknown[], list: ListField): readonly unknown[] {
  const { mergeKey, items } = list
  if (mergeKey === '') throw failure('cannot merge lists without merge key for struct')
  let base = live as readonly JsonMap[]
  let plain: JsonMap[] = []
  let replace = false
  const deleted = new Set<unknown>()
  for (const item of patch as readonly JsonMap[]) {
    const directive = getOwn(item, DIRECTIVE)
    if (directive === undefined) plain.push(item)
    else if (directive === 'replace') replace = true
    else if (directive === 'delete') deleted.add(identityOf(keyValue(item, mergeKey)))
    else if (directive === 'merge') throw failure('merging lists cannot yet be specified in the patch')
    else throw failure(`unknown patch type: ${goText(directive)} in map: ${goText(item)}`)
  }
  if (deleted.size > 0) base = base.filter((other) => !deleted.has(identityOf(getOwn(other, mergeKey))))
  if (replace) {
    base = plain
    plain = []
  }
  const merged = [...base]
  const places = new Positions(base, mergeKey)
  for (const item of plain) {
    const at = places.of(item, keyValue(item, mergeKey))
    if (at < 0) places.add(merged.push(item) - 1, item)
    else merged[at] = mergeMap(merged[at]!, item, items)
  }
  const [named, others] = partition(merged, plain, mergeKey)
  return interleave(named, others, plain, base, mergeKey)
}

/** Returns one value for all equal values, so that lists are searched by a map. */
function identityOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value !== 'object' || value === null) return value
  return `\u0000${printJson(value)}`
}

/** The first position of each value in a list. */
class Positions {
  readonly #places = new Map<unknown, number>()
  readonly #mergeKey: string | undefined

  constructor(list: readonly unknown[], mergeKey?: string) {
    this.#mergeKey = mergeKey
    for (let i = 0; i < list.length; i++) this.add(i, list[i])
  }

  add(place: number, item: unknown): void {
    const key = identityOf(valueIn(item, this.#mergeKey))
    if (!this.#places.has(key)) this.#places.set(key, place)
  }

  of(item: unknown, value: unknown = valueIn(item, this.#mergeKey)): number {
    return this.#places.get(identityOf(value)) ?? -1
  }
}

/** Splits a list into the items that another list has too, and the rest. */
function partition(items: readonly unknown[], by: readonly unknown[], mergeKey: string): [unknown[], unknown[]] {
  const named: unknown[] = []
  const others: unknown[] = []
  const places = new Positions(by, mergeKey === '' ? undefined : mergeKey)
  const stray = mergeKey === '' ? -1 : by.findIndex((other) => !isObject(other))
  for (const item of items) {
    const at = places.of(item, keyValue(item, mergeKey))
    // Kubernetes stops at the first match, and reports an item before it that is not a map.
    if (stray >= 0 && (at < 0 || at > stray)) throw failure(`value for key ${stray} is not a map`)
    if (at >= 0) named.push(item)
    else others.push(item)
  }
  return [named, others]
}

/**
 * Merges the items that only the live list has into the items of the patch. The order of the patch wins; the live
 * order places the other items.
 */
function interleave(
  named: readonly unknown[],
  others: readonly unknown[],
  namedOrder: readonly unknown[],
  liveOrder: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const inLive = new Positions(liveOrder, mergeKey)
  const inNamed = new Positions(namedOrder, mergeKey)
  if (mergeKey !== undefined) {
    for (const item of [...named, ...namedOrder, ...others, ...liveOrder]) requireKey(item, mergeKey)
  }
  const left = sortBy(others, (item) => inLive.of(item))
  const right = sortBy(named, (item) => inNamed.of(item))
  const all: unknown[] = []
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const first = inLive.of(left[i])
    const second = inLive.of(right[j])
    if (first >= 0 && second >= 0 && first < second) all.push(left[i++])
    else all.push(right[j++])
  }
  return [...all, ...left.slice(i), ...right.slice(j)]
}

function valueIn(item: unknown, mergeKey: string | undefined): unknown {
  return mergeKey !== undefined && isObject(item) ? getOwn(item, mergeKey) : item
}

/**
 * Sorts items by their position. Items to delete stay at the end. An item without a position compares as less than
 * the following items and as more than the preceding ones: insertion sort defines the result.
 */
function sortBy(items: readonly unknown[], position: (item: unknown) => number): unknown[] {
  const deleted: unknown[] = []
  const placed: { item: unknown; place: number }[] = []
  for (const item of items) {
    if (isObject(item) && getOwn(item, DIRECTIVE) === 'delete') deleted.push(item)
    else placed.push({ item, place: position(item) })
  }
  // If every item has a position, a sort gives the same result in less time than insertion.
  if (placed.every(({ place }) => place >= 0)) {
    placed.sort((a, b) => a.place - b.place)
    return [...placed.map(({ item }) => item), ...deleted]
  }
  const sorted: { item: unknown; place: number }[] = []
  for (const { item, place } of placed) {
    let at = sorted.length
    while (at > 0 && (place < 0 || sorted[at - 1]!.place < 0 || place < sorted[at - 1]!.place)) at--
    sorted.splice(at, 0, { item, place })
  }
  return [...sorted.map(({ item }) => item), ...deleted]
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const kept: JsonMap = {}
  for (const key of Object.keys(value)) {
    if (value[key] !== null && value[key] !== undefined) setOwn(kept, key, withoutNulls(value[key]))
  }
  return kept
}

/** Returns undefined if the value itself is a directive. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, DIRECTIVE)) return undefined
  const kept: JsonMap = {}
  for (const key of Object.keys(value)) {
    const member = withoutDirectives(value[key])
    if (member !== undefined) setOwn(kept, key, member)
  }
  return kept
}
