import { decode, ExtData, ExtensionCodec, encode } from '@msgpack/msgpack'
import { type CtyNumber, exactDouble, isNumber, numberFromDouble, numberText, parseNumber } from './numbers.js'
import { type CtyType, parseType, sortedEntries, typeToJson } from './types.js'
import { canonicalSet, Dynamic, isList, isMap, Unknown, unknown, type Value, type ValueMap } from './values.js'

/** Extension 0 is an unknown value; extension 12 is one of which something is known, such as that it is not null. */
const UNKNOWN = 0
const REFINED_UNKNOWN = 12

const extensionCodec = new ExtensionCodec()
for (const type of [UNKNOWN, REFINED_UNKNOWN]) {
  extensionCodec.register({ type, encode: () => null, decode: () => unknown })
}

const unknownData = new ExtData(UNKNOWN, new Uint8Array([0]))
const options = { extensionCodec, useBigInt64: true }

/** Serializes a value as providers expect it. Throws when the value does not fit the type. */
export function encodeMsgpack(type: CtyType, value: Value): Uint8Array {
  return encode(toTree(type, value, ''), options)
}

/** Reads what a provider sent. Throws when it does not fit the type. */
export function decodeMsgpack(type: CtyType, bytes: Uint8Array): Value {
  return fromTree(type, decode(bytes, options), '')
}

function toTree(type: CtyType, value: Value, path: string): unknown {
  if (type === 'dynamic' && value instanceof Dynamic) {
    const text = JSON.stringify(typeToJson(value.type))
    return [Buffer.from(text), toTree(value.type, value.value, path)]
  }
  if (value instanceof Unknown) return unknownData
  if (value === null) return null
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : mismatch(type, path)
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch(type, path)
    case 'number':
      return isNumber(value) ? numberTree(value) : mismatch(type, path)
    case 'dynamic':
      return mismatch(type, path)
    default:
      return collectionTree(type, value, path)
  }
}

function collectionTree(type: Exclude<CtyType, string>, value: Value, path: string): unknown {
  switch (type.kind) {
    case 'list':
      if (!isList(value)) return mismatch(type.kind, path)
      return value.map((item, index) => toTree(type.element, item, `${path}[${index}]`))
    case 'set':
      if (!isList(value)) return mismatch(type.kind, path)
      return canonicalSet(type.element, value).map((item) => toTree(type.element, item, `${path}[]`))
    case 'tuple':
      if (!isList(value) || value.length !== type.elements.length) return mismatch(type.kind, path)
      return value.map((item, index) => toTree(type.elements[index]!, item, `${path}[${index}]`))
    case 'map':
      if (!isMap(value)) return mismatch(type.kind, path)
      return fromEntries(
        sortedEntries(value).map(([name, item]) => [name, toTree(type.element, item, `${path}.${name}`)]),
      )
    case 'object':
      if (!isMap(value)) return mismatch(type.kind, path)
      return fromEntries(
        sortedEntries(type.attributes).map(([name, of]) => [name, toTree(of, value[name] ?? null, `${path}.${name}`)]),
      )
  }
}

const fromEntries = (entries: readonly (readonly [string, unknown])[]): object => Object.fromEntries(entries)

/** Integers beyond 32 bits must be bigints, or the library would write a double. */
function numberTree(value: CtyNumber): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return Math.abs(value) < 2 ** 31 ? value : BigInt(value)
  if (typeof value === 'bigint') return fitsInt64(value) ? value : numberText(value)
  return exactDouble(value) ?? numberText(value)
}

const fitsInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

function fromTree(type: CtyType, tree: unknown, path: string): Value {
  if (tree === unknown) return unknown
  if (tree === null || tree === undefined) return null
  switch (type) {
    case 'string':
      return typeof tree === 'string' ? tree : mismatch(type, path)
    case 'bool':
      return typeof tree === 'boolean' ? tree : mismatch(type, path)
    case 'number':
      return numberFrom(tree, path)
    case 'dynamic':
      return dynamicFrom(tree, path)
    default:
      return collectionFrom(type, tree, path)
  }
}

function numberFrom(tree: unknown, path: string): Value {
  if (typeof tree === 'number') return numberFromDouble(tree)
  if (typeof tree === 'bigint' || typeof tree === 'string') return parseNumber(String(tree))
  return mismatch('number', path)
}

function dynamicFrom(tree: unknown, path: string): Value {
  if (!Array.isArray(tree) || tree.length !== 2) return mismatch('dynamic', path)
  const [text, inner] = tree
  const type = parseType(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'))
  return new Dynamic(type, fromTree(type, inner, path))
}

function collectionFrom(type: Exclude<CtyType, string>, tree: unknown, path: string): Value {
  if (type.kind === 'list' || type.kind === 'set') {
    if (!Array.isArray(tree)) return mismatch(type.kind, path)
    return tree.map((item, index) => fromTree(type.element, item, `${path}[${index}]`))
  }
  if (type.kind === 'tuple') {
    if (!Array.isArray(tree) || tree.length !== type.elements.length) return mismatch(type.kind, path)
    return tree.map((item, index) => fromTree(type.elements[index]!, item, `${path}[${index}]`))
  }
  if (typeof tree !== 'object' || Array.isArray(tree)) return mismatch(type.kind, path)
  const held = tree as Record<string, unknown>
  const entries =
    type.kind === 'object'
      ? Object.entries(type.attributes).map(([name, of]) => [name, of, held[name]] as const)
      : Object.entries(held).map(([name, item]) => [name, type.element, item] as const)
  return Object.fromEntries(
    entries.map(([name, of, item]) => [name, fromTree(of, item, `${path}.${name}`)]),
  ) as ValueMap
}

/** The value itself may be a secret, so only its place is reported. */
function mismatch(expected: string, path: string): never {
  throw new Error(`the value at ${path === '' ? 'the top' : path.replace(/^\./, '')} is not a ${expected}`)
}
