import { type CtyNumber, isNumber, numberText } from './numbers.js'
import { type CtyType, sortedEntries, typeToJson } from './types.js'

/** A value that is not known before the provider has applied the change. */
export class Unknown {
  toString(): string {
    return '(known after apply)'
  }
}

export const unknown = new Unknown()

/** A value of the dynamic type: it carries its own type. */
export class Dynamic {
  constructor(
    readonly type: CtyType,
    readonly value: Value,
  ) {}
}

/**
 * A value of the Terraform type system. Lists, sets and tuples are arrays; maps and objects are plain objects. Which one
 * it is follows from the type that the schema gives.
 */
export type Value = null | string | boolean | CtyNumber | Unknown | Dynamic | readonly Value[] | ValueMap

export interface ValueMap {
  readonly [name: string]: Value
}

export function isMap(value: Value | undefined): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !isNumber(value) &&
    !(value instanceof Unknown) &&
    !(value instanceof Dynamic)
  )
}

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

/** False when part of the value is unknown. */
export function isWhollyKnown(value: Value): boolean {
  if (value instanceof Unknown) return false
  if (value instanceof Dynamic) return isWhollyKnown(value.value)
  if (isList(value)) return value.every(isWhollyKnown)
  return isMap(value) ? Object.values(value).every(isWhollyKnown) : true
}

/** Are two values of one type the same? Sets compare by their elements, in any order. Unknown equals unknown. */
export function sameValue(type: CtyType, a: Value, b: Value): boolean {
  return a === b || keyOf(type, a) === keyOf(type, b)
}

/** A text that two values of a type share exactly when they are the same. */
export function keyOf(type: CtyType, value: Value): string {
  if (value === null) return 'null'
  if (value instanceof Unknown) return '?'
  if (value instanceof Dynamic) return `<${JSON.stringify(typeToJson(value.type))}:${keyOf(value.type, value.value)}>`
  if (isNumber(value)) return numberText(value)
  if (typeof value !== 'object') return JSON.stringify(value)
  if (typeof type === 'string') return JSON.stringify(value)
  if (isList(value)) return listKey(type, value)
  const entries = sortedEntries(value as ValueMap)
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${keyOf(memberType(type, name), inner)}`).join()}}`
}

function listKey(type: Exclude<CtyType, string>, value: readonly Value[]): string {
  const keys = value.map((item, index) => keyOf(memberType(type, index), item))
  if (type.kind === 'set') return `{${[...new Set(keys)].sort().join()}}`
  return `[${keys.join()}]`
}

/** The type of one attribute, element or entry. */
export function memberType(type: CtyType, step: string | number): CtyType {
  if (typeof type === 'string') return 'dynamic'
  if (type.kind === 'object') return type.attributes[step] ?? 'dynamic'
  if (type.kind === 'tuple') return type.elements[step as number] ?? 'dynamic'
  return type.element
}

/** The elements of a set, each once, in an order that depends on nothing but them. */
export function canonicalSet(element: CtyType, values: readonly Value[]): readonly Value[] {
  const byKey = new Map(values.map((value) => [keyOf(element, value), value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
