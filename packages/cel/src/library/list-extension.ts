import { compare } from '../arithmetic.js'
import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { listOf, typeParam, types } from '../types.js'
import { ArrayList, CelList, EvaluationError, equals, fail, RangeList, typeOf, type Value } from '../values.js'
import { comparable } from './collections.js'

const { dyn, int } = types
const listT = listOf(typeParam('T'))

function slice(list: CelList, start: number | bigint, end: number | bigint): Value {
  const what = `cannot slice(${start}, ${end})`
  if (start < 0 || end < 0) fail(`${what}, negative indexes not supported`)
  if (start > end) fail(`${what}, start index must be less than or equal to end index`)
  if (list.size < end) fail(`${what}, list is length ${list.size}`)
  return new ArrayList(list.values().slice(Number(start), Number(end)))
}

function flatten(list: CelList, depth: number | bigint): Value[] {
  if (depth < 0) fail('level must be non-negative')
  return list.values().flatMap((item) => {
    return item instanceof CelList && depth > 0 ? flatten(item, Number(depth) - 1) : [item]
  })
}

function distinct(list: CelList): Value {
  const unique: Value[] = []
  for (const item of list.values()) if (!unique.some((other) => isSame(item, other))) unique.push(item)
  return new ArrayList(unique)
}

function isSame(a: Value, b: Value): boolean {
  try {
    return equals(a, b)
  } catch (error) {
    if (error instanceof EvaluationError) return false
    throw error
  }
}

const ordered = new Set(comparable.map(([, type]) => type.name))

function sortByKeys(list: CelList, keyList: CelList): Value {
  if (list.size !== keyList.size) {
    const what = '@sortByAssociatedKeys() expected a list of the same size as the associated keys list'
    fail(`${what}, but got ${list.size} and ${keyList.size} elements respectively`)
  }
  if (list.size === 0) return list
  const keys = keyList.values()
  const { name } = typeOf(keys[0]!)
  if (!ordered.has(name)) fail('list elements must be comparable')
  if (keys.some((key) => typeOf(key).name !== name)) fail('list elements must have the same type')
  const order = keys.map((_, i) => i).sort((a, b) => compare(keys[a]!, keys[b]!))
  return new ArrayList(order.map((i) => list.at(i)))
}

function range(count: number | bigint): Value {
  return new RangeList(Math.max(0, Number(count)))
}

/** The lists extension. Only stored expressions may use it. */
export const listExtension: readonly FunctionDeclaration[] = [
  declare('slice', [member('list_slice', [listT, int, int], listT, slice)]),
  declare('flatten', [
    member('list_flatten', [listOf(listT)], listT, (list: CelList) => new ArrayList(flatten(list, 1))),
    member('list_flatten_int', [listOf(dyn), int], listOf(dyn), (list: CelList, depth: number | bigint) => {
      return new ArrayList(flatten(list, depth))
    }),
  ]),
  declare(
    'sort',
    comparable.map(([, type]) => member(`list_${type.name}_sort`, [listOf(type)], listOf(type))),
    { run: (list: CelList) => sortByKeys(list, list) },
  ),
  declare(
    '@sortByAssociatedKeys',
    comparable.map(([, type]) => member(`list_${type.name}_sortByAssociatedKeys`, [listT, listOf(type)], listT)),
    { run: sortByKeys },
  ),
  declare('lists.range', [overload('lists_range', [int], listOf(int), range)]),
  declare('reverse', [
    member('list_reverse', [listT], listT, (list: CelList) => new ArrayList([...list.values()].reverse())),
  ]),
  declare('distinct', [member('list_distinct', [listT], listT, distinct)]),
]
