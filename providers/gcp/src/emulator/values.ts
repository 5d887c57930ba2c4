import { isObject, type Json } from '@crosstie/kube'
import { type Api, fieldsOf, type Properties, type Property } from '../discovery/api.js'

export type Item = { [key: string]: Json | undefined }

export const isItem = (value: unknown): value is Item => isObject(value)

/** A copy with the values of `over` merged in. Lists are replaced. */
export function merged(base: Item, over: Item): Item {
  const result: Item = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const held = result[key]
    result[key] = isItem(held) && isItem(value) ? merged(held, value) : value
  }
  return result
}

/** JSON merge patch: null removes a value, other values are merged. */
export function patched(base: Item, patch: Item): Item {
  const result: Item = { ...base }
  for (const [key, value] of Object.entries(patch)) {
    const held = result[key]
    if (value === null) delete result[key]
    else result[key] = isItem(value) ? patched(isItem(held) ? held : {}, value) : value
  }
  return result
}

/** The value at a path such as `a.b`. */
export function at(item: Item, path: string): Json | undefined {
  let found: Json | undefined = item
  for (const name of path.split('.')) found = isItem(found) ? found[name] : undefined
  return found
}

export function put(item: Item, path: string, value: Json | undefined): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    if (value === undefined) delete item[name]
    else item[name] = value
    return
  }
  const held = item[name]
  const inner: Item = isItem(held) ? { ...held } : {}
  put(inner, rest.join('.'), value)
  item[name] = inner
}

/**
 * A copy without false, 0, empty texts and empty lists, which APIs built on protocol buffers omit. `kept` names fields that
 * distinguish false from absent.
 */
export function withoutZeros(item: Item, kept: ReadonlySet<string>): Item {
  const result: Item = {}
  for (const [key, value] of Object.entries(item)) {
    if (value === undefined || value === null || (isZero(value) && !kept.has(key))) continue
    result[key] = isItem(value) ? withoutZeros(value, kept) : value
  }
  return result
}

const isZero = (value: Json): boolean =>
  value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0)

/** Only the fields that this version of the API has. */
export function inSchema(api: Api, schema: string, item: Item): Item {
  return shaped(api, api.schemas[schema] ?? {}, item)
}

function shaped(api: Api, properties: Properties, item: Item): Item {
  const result: Item = {}
  for (const [key, value] of Object.entries(item)) {
    const property = properties[key]
    if (property && value !== undefined) result[key] = shapedValue(api, property, value)
    else if (key === '@type') result[key] = value
  }
  return result
}

function shapedValue(api: Api, property: Property, value: Json): Json {
  const { items } = property
  if (Array.isArray(value)) return items ? value.map((each) => shapedValue(api, items, each)) : value
  const properties = fieldsOf(api, property)
  return properties && isItem(value) ? shaped(api, properties, value) : value
}

/** Names of enum values as their numbers, for clients that ask for `$alt=json;enum-encoding=int`. */
export function withEnumNumbers(api: Api, schema: string, item: Item): Item {
  const properties = api.schemas[schema] ?? {}
  const result: Item = {}
  for (const [key, value] of Object.entries(item)) {
    const property = properties[key]
    result[key] = property && value !== undefined ? numbered(api, property, value) : value
  }
  return result
}

function numbered(api: Api, property: Property, value: Json): Json {
  if (Array.isArray(value)) return value.map((each) => numbered(api, property.items ?? {}, each))
  if (property.ref && isItem(value)) return withEnumNumbers(api, property.ref, value)
  return property.enum && typeof value === 'string' ? (numberOf(property.enum, value) ?? value) : value
}

/** Numbers of enum values that discovery documents do not state; others are counted in their order. */
const numbers: Readonly<Record<string, number>> = {
  STANDARD_HA: 3,
  REPAIRING: 6,
  MAINTENANCE: 7,
  IMPORTING: 8,
  FAILING_OVER: 9,
  ONE_HOUR: 3,
  SIX_HOURS: 4,
  TWELVE_HOURS: 5,
  TWENTY_FOUR_HOURS: 6,
}

function numberOf(names: readonly string[], name: string): number | undefined {
  const index = names.indexOf(name)
  return numbers[name] ?? (index < 0 ? undefined : index)
}

/** The name of an enum value that is given by its number. */
export function enumName(names: readonly string[], number: number): string | undefined {
  return names.find((name) => numberOf(names, name) === number)
}
