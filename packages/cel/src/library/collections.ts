import { add, compare } from '../arithmetic.js'
import { declare, type FunctionDeclaration, member, type Overload, overload } from '../functions.js'
import { compileRegex } from '../regex.js'
import { listOf, mapOf, optionalOf, type Type, typeParam, types } from '../types.js'
import {
  ArrayList,
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  equals,
  fail,
  isInt,
  type Value,
  ValueMap,
} from '../values.js'

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types

const summable: readonly (readonly [string, Type, Value])[] = [
  ['int', int, 0],
  ['uint', uint, new CelUint(0n)],
  ['double', double, new CelDouble(0)],
  ['duration', duration, new CelDuration(0n)],
]

/** The types with an order, by the name that is part of overload ids. */
export const comparable: readonly (readonly [string, Type])[] = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['bool', bool],
  ['duration', duration],
  ['timestamp', timestamp],
  ['string', string],
  ['bytes', bytes],
]

const forEachComparable = (make: (name: string, type: Type) => Overload) =>
  comparable.map(([name, type]) => make(name, type))

function isSorted(list: CelList): boolean {
  for (let i = 1; i < list.size; i++) if (compare(list.at(i - 1), list.at(i)) > 0) return false
  return true
}

function extreme(name: string, sign: number) {
  return (list: CelList): Value => {
    if (list.size === 0) return fail(`${name} called on empty list`)
    return list.values().reduce((best, item) => (compare(best, item) * sign < 0 ? item : best))
  }
}

const safeEquals = (a: Value, b: Value): boolean => {
  try {
    return equals(a, b)
  } catch (error) {
    if (error instanceof EvaluationError) return false
    throw error
  }
}

/** The list functions of Kubernetes. */
const listsLibrary: readonly FunctionDeclaration[] = [
  declare(
    'isSorted',
    forEachComparable((name, type) => member(`list_${name}_is_sorted_bool`, [listOf(type)], bool, isSorted)),
  ),
  declare(
    'sum',
    summable.map(([name, type, zero]) =>
      member(`list_${name}_sum_${name}`, [listOf(type)], type, (list: CelList) => list.values().reduce(add, zero)),
    ),
  ),
  declare(
    'max',
    forEachComparable((name, type) => member(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max', 1))),
  ),
  declare(
    'min',
    forEachComparable((name, type) => member(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min', -1))),
  ),
  declare('indexOf', [
    member('list_a_index_of_int', [listOf(typeParam('A')), typeParam('A')], int, (list: CelList, item: Value) =>
      list.values().findIndex((other) => safeEquals(other, item)),
    ),
  ]),
  declare('lastIndexOf', [
    member('list_a_last_index_of_int', [listOf(typeParam('A')), typeParam('A')], int, (list: CelList, item: Value) =>
      list.values().findLastIndex((other) => safeEquals(other, item)),
    ),
  ]),
]

function illegalRegex<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof EvaluationError) fail(`Illegal regex: ${error.message}`)
    throw error
  }
}

const findAll = (text: string, pattern: string, limit: number | bigint = -1) =>
  new ArrayList(illegalRegex(() => compileRegex(pattern)).findAll(text, Number(limit)))

const regexLibrary: readonly FunctionDeclaration[] = [
  declare('find', [
    member('string_find_string', [string, string], string, (text: string, pattern: string) => {
      return illegalRegex(() => compileRegex(pattern)).find(text) ?? ''
    }),
  ]),
  declare('findAll', [
    member('string_find_all_string', [string, string], listOf(string), findAll),
    member('string_find_all_string_int', [string, string, int], listOf(string), findAll),
  ]),
]

const T = typeParam('T')
const listT = listOf(T)
const containsAll = (list: CelList, others: CelList) => others.values().every((item) => list.contains(item))

const setsLibrary: readonly FunctionDeclaration[] = [
  declare('sets.contains', [overload('list_sets_contains_list', [listT, listT], bool, containsAll)]),
  declare('sets.equivalent', [
    overload('list_sets_equivalent_list', [listT, listT], bool, (a: CelList, b: CelList) => {
      return containsAll(a, b) && containsAll(b, a)
    }),
  ]),
  declare('sets.intersects', [
    overload('list_sets_intersects_list', [listT, listT], bool, (a: CelList, b: CelList) =>
      a.values().some((item) => {
        try {
          return b.contains(item)
        } catch (error) {
          if (error instanceof EvaluationError) return false
          throw error
        }
      }),
    ),
  ]),
]

const K = typeParam('K')
const V = typeParam('V')
const mapKV = mapOf(K, V)

function insert(map: CelMap, entries: readonly (readonly [Value, Value])[]): CelMap {
  const copy = new ValueMap()
  for (const key of map.keys()) copy.set(key, map.find(key)!)
  for (const [key, value] of entries) {
    if (copy.find(key) !== undefined) fail(`insert failed: key ${String(key)} already exists`)
    copy.set(key, value)
  }
  return copy
}

const comprehensionLibrary: readonly FunctionDeclaration[] = [
  declare('cel.@mapInsert', [
    overload('@mapInsert_map_key_value', [mapKV, K, V], mapKV, (map: CelMap, key: Value, value: Value) => {
      return insert(map, [[key, value]])
    }),
    overload('@mapInsert_map_map', [mapKV, mapKV], mapKV, (map: CelMap, other: CelMap) => {
      return insert(
        map,
        other.keys().map((key) => [key, other.find(key)!] as const),
      )
    }),
  ]),
]

const optionalV = optionalOf(V)

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '') return true
  if (isInt(value)) return Number(value) === 0
  if (value instanceof CelUint) return value.value === 0n
  if (value instanceof CelDouble) return value.value === 0
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof CelDuration) return value.nanos === 0n
  return value instanceof CelTimestamp && value.nanos === -62135596800000000000n
}

function unwrapAll(list: CelList): Value {
  const values: Value[] = []
  for (const item of list.values()) {
    if (!(item instanceof CelOptional)) fail(`value ${String(item)} is not optional`)
    if (item.value !== undefined) values.push(item.value)
  }
  return new ArrayList(values)
}

const optionalLibrary: readonly FunctionDeclaration[] = [
  declare('optional.of', [overload('optional_of', [V], optionalV, (value: Value) => CelOptional.of(value))]),
  declare('optional.ofNonZeroValue', [
    overload('optional_ofNonZeroValue', [V], optionalV, (value: Value) => {
      return isZero(value) ? CelOptional.none : CelOptional.of(value)
    }),
  ]),
  declare('optional.none', [overload('optional_none', [], optionalV, () => CelOptional.none)]),
  declare('value', [
    member('optional_value', [optionalV], V, (optional: CelOptional) => {
      return optional.value === undefined ? fail('optional.none() dereference') : optional.value
    }),
  ]),
  declare('hasValue', [
    member('optional_hasValue', [optionalV], bool, (optional: CelOptional) => optional.value !== undefined),
  ]),
  declare('or', [member('optional_or_optional', [optionalV, optionalV], optionalV)]),
  declare('orValue', [member('optional_orValue_value', [optionalV, V], V)]),
  declare('_?._', [overload('select_optional_field', [dyn, string], optionalV)]),
  declare('_[?_]', [
    overload('list_optindex_optional_int', [listOf(V), int], optionalV),
    overload('optional_list_optindex_optional_int', [optionalOf(listOf(V)), int], optionalV),
    overload('map_optindex_optional_value', [mapKV, K], optionalV),
    overload('optional_map_optindex_optional_value', [optionalOf(mapKV), K], optionalV),
  ]),
  declare('_[_]', [
    overload('optional_list_index_int', [optionalOf(listOf(V)), int], optionalV),
    overload('optional_map_index_value', [optionalOf(mapKV), K], optionalV),
  ]),
  declare('last', [
    member('list_last', [listOf(V)], optionalV, (list: CelList) => {
      return list.size === 0 ? CelOptional.none : CelOptional.of(list.at(list.size - 1))
    }),
  ]),
  declare('first', [
    member('list_first', [listOf(V)], optionalV, (list: CelList) => {
      return list.size === 0 ? CelOptional.none : CelOptional.of(list.at(0))
    }),
  ]),
  declare('optional.unwrap', [overload('optional_unwrap', [listOf(optionalV)], listOf(V), unwrapAll)]),
  declare('unwrapOpt', [member('optional_unwrapOpt', [listOf(optionalV)], listOf(V), unwrapAll)]),
]

/** Functions on lists, sets, maps, optionals and regular expressions. Every environment of Kubernetes has them. */
export const collectionsLibrary: readonly FunctionDeclaration[] = [
  ...listsLibrary,
  ...regexLibrary,
  ...setsLibrary,
  ...comprehensionLibrary,
  ...optionalLibrary,
]
