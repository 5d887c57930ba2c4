import { isNumber, numberFromJs, numberText, parseNumber } from './numbers.js'
import { type CtyType, sortedEntries, typeFromJson, typeToJson } from './types.js'
import { canonicalSet, Dynamic, isList, isMap, Unknown, type Value, type ValueMap } from './values.js'

/**
 * The JSON form of values, as Terraform keeps them in state files. Numbers keep all their digits, which JSON.parse would
 * lose.
 */

/** Writes a value that is wholly known. Throws when part of it is unknown or does not fit the type. */
export function encodeJson(type: CtyType, value: Value): string {
  if (value === null) return 'null'
  if (value instanceof Unknown) throw new Error('a value that is not known yet cannot be stored')
  if (type === 'dynamic') {
    if (!(value instanceof Dynamic)) throw new Error('a value of the dynamic type has no type')
    const text = JSON.stringify(typeToJson(value.type))
    return `{"value":${encodeJson(value.type, value.value)},"type":${text}}`
  }
  if (isNumber(value)) return numberText(value)
  if (typeof type === 'string' || typeof value !== 'object') return JSON.stringify(value)
  return collectionJson(type, value)
}

function collectionJson(type: Exclude<CtyType, string>, value: Value): string {
  if (isList(value)) {
    const items = type.kind === 'set' ? canonicalSet(type.element, value) : value
    const typeAt = (index: number) => (type.kind === 'tuple' ? type.elements[index]! : elementOf(type))
    return `[${items.map((item, index) => encodeJson(typeAt(index), item)).join(',')}]`
  }
  if (!isMap(value)) throw new Error(`a ${type.kind} was expected`)
  const entries =
    type.kind === 'object'
      ? sortedEntries(type.attributes).map(([name, of]) => [name, encodeJson(of, value[name] ?? null)] as const)
      : sortedEntries(value).map(([name, item]) => [name, encodeJson(elementOf(type), item)] as const)
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

function elementOf(type: Exclude<CtyType, string>): CtyType {
  if (type.kind === 'object' || type.kind === 'tuple') throw new Error(`a ${type.kind} was not expected`)
  return type.element
}

/** Reads a value. Attributes that an object lacks are null; those that the type does not have are dropped. */
export function decodeJson(type: CtyType, text: string): Value {
  return valueFromJson(type, parseLossless(text))
}

/** A number literal that JSON.parse would round, as parseLossless gives it. */
class NumberLiteral {
  constructor(readonly text: string) {}
}

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MARK = '\u0000number:'

/** JSON.parse, with NumberLiteral in place of numbers that a double cannot hold. */
export function parseLossless(text: string): unknown {
  const marked = text.replace(token, (found) => {
    if (found.startsWith('"') || found.length < 16) return found
    return typeof parseNumber(found) === 'number' ? found : JSON.stringify(MARK + found)
  })
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? new NumberLiteral(value.slice(MARK.length)) : value,
  )
}

/** A value from parsed JSON: plain JSON.parse output is fine where numbers are ordinary. */
export function valueFromJson(type: CtyType, json: unknown): Value {
  if (json === null || json === undefined) return null
  if (type === 'dynamic') return dynamicFromJson(json)
  if (type === 'number') return numberFromJson(json)
  if (type === 'string' || type === 'bool') {
    if (typeof json !== (type === 'bool' ? 'boolean' : 'string')) throw new Error(`a ${type} was expected`)
    return json as string | boolean
  }
  return collectionFromJson(type, json)
}

function numberFromJson(json: unknown): Value {
  if (typeof json === 'number') return numberFromJs(json)
  if (json instanceof NumberLiteral) return parseNumber(json.text)
  if (typeof json === 'string') return parseNumber(json)
  throw new Error('a number was expected')
}

function dynamicFromJson(json: unknown): Value {
  const { value, type: text } = json as { value?: unknown; type?: unknown }
  if (text === undefined) throw new Error('a value of the dynamic type has no type')
  const type = typeFromJson(text)
  return new Dynamic(type, valueFromJson(type, value))
}

function collectionFromJson(type: Exclude<CtyType, string>, json: unknown): Value {
  if (type.kind === 'list' || type.kind === 'set' || type.kind === 'tuple') {
    if (!Array.isArray(json)) throw new Error(`a ${type.kind} was expected`)
    return json.map((item, index) =>
      valueFromJson(type.kind === 'tuple' ? (type.elements[index] ?? 'dynamic') : type.element, item),
    )
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`a ${type.kind} was expected`)
  const held = json as Record<string, unknown>
  const entries =
    type.kind === 'object'
      ? Object.entries(type.attributes).map(([name, of]) => [name, valueFromJson(of, held[name])] as const)
      : Object.entries(held).map(([name, item]) => [name, valueFromJson(type.element, item)] as const)
  return Object.fromEntries(entries) as ValueMap
}
