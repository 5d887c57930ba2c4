import { bareTypes, type Type, types } from './types.js'

/**
 * A value of the expression language. An int is a number while it is a safe integer and a bigint otherwise. Doubles
 * are rare, so they are boxed.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | CelUint
  | CelDouble
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelObject
  | Type

/** The minimum int. */
export const minInt = -(2n ** 63n)
/** The maximum int. */
export const maxInt = 2n ** 63n - 1n
/** The maximum uint. */
export const maxUint = 2n ** 64n - 1n

/**
 * An evaluation error. It is not a JavaScript Error, since logical operators absorb it and a stack trace would be
 * expensive.
 */
export class EvaluationError {
  constructor(readonly message: string) {}
}

/** Thrown when an evaluation exceeds its cost limit. Operators do not absorb it. */
export class CostError {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** Thrown where cel-go reports an internal error. Operators do not absorb it. */
export class InternalError {
  readonly message: string
  constructor(what: string) {
    this.message = `internal error: interface conversion: ${what}`
  }
}

/** Throws an evaluation error. */
export function fail(message: string): never {
  throw new EvaluationError(message)
}

/** Throws the evaluation error for arguments without a matching overload. */
export function noSuchOverload(): never {
  throw new EvaluationError('no such overload')
}

/** A uint. */
export class CelUint {
  constructor(readonly value: bigint) {}
}

/** A double. */
export class CelDouble {
  constructor(readonly value: number) {}
}

/** A point in time. */
export class CelTimestamp {
  constructor(
    /** Nanoseconds since 1970, UTC. */
    readonly nanos: bigint,
    /** The zone of the source text. It only affects how the time is printed. */
    readonly offsetSeconds = 0,
  ) {}
}

/** A duration in nanoseconds. */
export class CelDuration {
  constructor(readonly nanos: bigint) {}
}

/** A value of a library type, such as a quantity. */
export abstract class CelObject {
  abstract readonly type: Type
  abstract equals(other: Value): boolean
  /** The size that costs use, or undefined if it does not have one. */
  get size(): number | undefined {
    return undefined
  }
}

/** An optional value. */
export class CelOptional {
  static readonly none = new CelOptional(undefined)
  constructor(readonly value: Value | undefined) {}
  static of(value: Value): CelOptional {
    return new CelOptional(value)
  }
}

/** The maximum size of a list. An expression cannot afford to visit a longer one. */
export const listSizeMax = 2_000_000

/** The maximum size of a text. An expression cannot afford to create a longer one. */
export const textSizeMax = 100_000_000

/** A list. */
export abstract class CelList {
  abstract readonly size: number
  abstract at(index: number): Value

  /** The list as the plain data that it was created from, if any. */
  get raw(): readonly unknown[] {
    return this.values().map(rawOf)
  }

  values(): Value[] {
    const values: Value[] = new Array(this.size)
    for (let i = 0; i < values.length; i++) values[i] = this.at(i)
    return values
  }

  equals(other: Value): boolean {
    if (!(other instanceof CelList) || other.size !== this.size) return false
    for (let i = 0; i < this.size; i++) if (!equals(this.at(i), other.at(i))) return false
    return true
  }

  contains(value: Value): boolean {
    for (let i = 0; i < this.size; i++) if (equals(value, this.at(i))) return true
    return false
  }

  add(other: Value): CelList {
    if (!(other instanceof CelList)) noSuchOverload()
    if (this.size === 0) return other
    if (other.size === 0) return this
    return new JoinedList(this, other)
  }
}

/**
 * The concatenation of two lists. Addition costs almost nothing, so it must not copy: an expression can double a
 * list many times.
 */
class JoinedList extends CelList {
  readonly size: number

  constructor(
    private readonly left: CelList,
    private readonly right: CelList,
  ) {
    super()
    this.size = left.size + right.size
    if (this.size > listSizeMax) throw new CostError()
  }

  at(index: number): Value {
    return index < this.left.size ? this.left.at(index) : this.right.at(index - this.left.size)
  }

  override get raw(): readonly unknown[] {
    return [...this.left.raw, ...this.right.raw]
  }
}

/** The integers from 0 on. */
export class RangeList extends CelList {
  constructor(readonly size: number) {
    super()
  }
  at(index: number): Value {
    return index
  }
}

/** A list of values. */
export class ArrayList extends CelList {
  constructor(readonly items: readonly Value[]) {
    super()
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return this.items[index]!
  }
  override values(): Value[] {
    return this.items as Value[]
  }
}

/** A list of plain JSON. */
class JsonList extends CelList {
  constructor(readonly items: readonly unknown[]) {
    super()
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return fromJson(this.items[index])
  }
  override get raw(): readonly unknown[] {
    return this.items
  }
}

/** A map. */
export abstract class CelMap {
  abstract readonly size: number
  abstract find(key: Value): Value | undefined
  abstract keys(): Value[]

  equals(other: Value): boolean {
    if (!(other instanceof CelMap) || other.size !== this.size) return false
    for (const key of this.keys()) {
      const theirs = other.find(key)
      if (theirs === undefined || !equals(this.find(key)!, theirs)) return false
    }
    return true
  }
}

/** Returns the hash key of a map key. Numbers of equal value are one key, independent of their types. */
function hashKey(key: Value): string | number | boolean | bigint | undefined {
  switch (typeof key) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return key
  }
  if (key instanceof CelUint) return normalInt(key.value)
  if (key instanceof CelDouble && Number.isInteger(key.value)) return normalInt(BigInt(key.value))
  return undefined
}

/** A map of values. */
export class ValueMap extends CelMap {
  private readonly entries = new Map<unknown, readonly [Value, Value]>()

  get size(): number {
    return this.entries.size
  }

  set(key: Value, value: Value): void {
    this.entries.set(hashKey(key) ?? key, [key, value])
  }

  delete(key: Value): void {
    this.entries.delete(hashKey(key) ?? key)
  }

  find(key: Value): Value | undefined {
    return this.entries.get(hashKey(key) ?? key)?.[1]
  }

  keys(): Value[] {
    return [...this.entries.values()].map(([key]) => key)
  }
}

/** A map over an object of plain JSON. */
export class JsonMap extends CelMap {
  constructor(readonly object: Readonly<Record<string, unknown>>) {
    super()
  }
  get size(): number {
    return Object.keys(this.object).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.object, key)) return undefined
    const value = this.object[key]
    return value === undefined ? undefined : fromJson(value)
  }
  keys(): Value[] {
    return Object.keys(this.object)
  }
}

/** Converts plain JSON to a value. */
export function fromJson(value: unknown): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? value + 0 : Number.isInteger(value) ? wideInt(value) : new CelDouble(value)
    case 'bigint':
      return value > maxInt || value < minInt ? new CelDouble(Number(value)) : normalInt(value)
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return new JsonList(value)
      if (isValueObject(value)) return value
      return new JsonMap(value as Record<string, unknown>)
    default:
      return null
  }
}

function wideInt(value: number): Value {
  return value >= -(2 ** 63) && value < 2 ** 63 ? normalInt(BigInt(value)) : new CelDouble(value)
}

function isValueObject(value: object): value is Exclude<Value, null | string | boolean | number | bigint> {
  const proto = Object.getPrototypeOf(value)
  return proto !== Object.prototype && proto !== null
}

/** Returns the plain data behind a value, for comparisons with other plain data. */
export function rawOf(value: Value): unknown {
  if (value instanceof CelDouble) return value.value
  if (value instanceof CelUint) return value.value
  if (value instanceof CelList) return value.raw
  if (value instanceof JsonMap) return value.object
  if (value !== null && typeof value === 'object' && 'rawObject' in value) return value.rawObject
  return value
}

/** Returns a number if that is exact, otherwise a bigint. */
export function normalInt(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** Converts a bigint to an int. Fails with an evaluation error on overflow. */
export function intFrom(value: bigint): number | bigint {
  if (value < minInt || value > maxInt) fail('integer overflow')
  return normalInt(value)
}

/** Converts a bigint to a uint. Fails with an evaluation error on overflow. */
export function uintFrom(value: bigint): CelUint {
  if (value < 0n || value > maxUint) fail('unsigned integer overflow')
  return new CelUint(value)
}

/** Reports whether a value is an int. */
export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Returns the type of a value. */
export function typeOf(value: Value): Type {
  switch (typeof value) {
    case 'boolean':
      return types.bool
    case 'number':
    case 'bigint':
      return types.int
    case 'string':
      return types.string
  }
  if (value === null) return types.null
  if (value instanceof CelList) return bareTypes.list
  if (value instanceof CelMap) return bareTypes.map
  if (value instanceof CelDouble) return types.double
  if (value instanceof CelUint) return types.uint
  if (value instanceof Uint8Array) return types.bytes
  if (value instanceof CelTimestamp) return types.timestamp
  if (value instanceof CelDuration) return types.duration
  if (value instanceof CelOptional) return bareTypes.optional
  if (value instanceof CelObject) return value.type
  return types.type
}

/** Returns the name of the Go type of a value, which some messages contain. */
export function goTypeName(value: Value): string {
  if (value instanceof CelOptional) return '*types.Optional'
  if (value instanceof JsonList) return '[]interface {}'
  if (value instanceof CelList) return '*types.baseList'
  if (value instanceof JsonMap) return 'map[string]interface {}'
  if (value instanceof CelMap) return '*types.baseMap'
  const names: Readonly<Record<string, string>> = {
    'google.protobuf.Timestamp': 'Timestamp',
    'google.protobuf.Duration': 'Duration',
    null_type: 'Null',
  }
  const { name } = typeOf(value)
  return `types.${names[name] ?? name[0]!.toUpperCase() + name.slice(1)}`
}

/** Compares values of any types: numbers by value, all others only with their own type. */
export function equals(a: Value, b: Value): boolean {
  if (typeof a === 'string' || typeof a === 'boolean' || a === null) return a === b
  if (b === null) return false
  if (typeof a === 'number' && typeof b === 'number') return a === b
  if (isInt(a) || a instanceof CelUint || a instanceof CelDouble) return compareNumbers(a, b) === 0
  if (a instanceof CelList || a instanceof CelMap || a instanceof CelObject) return a.equals(b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b)
  return typeof b === 'object' && 'kind' in b && 'name' in b && a.name === b.name
}

function equalOptionals(a: CelOptional, b: CelOptional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equals(a.value, b.value)
}

/** Returns -1, 0 or 1, or undefined if one of them is not a number or is NaN. */
export function compareNumbers(a: Value, b: Value): number | undefined {
  const x = numeric(a)
  const y = numeric(b)
  if (x === undefined || y === undefined) return undefined
  if (typeof x === 'number' && typeof y === 'number') return order(x, y)
  // cel-go compares an int with a double as doubles.
  if (a instanceof CelDouble || b instanceof CelDouble) return order(Number(x), Number(y))
  return x < y ? -1 : x > y ? 1 : 0
}

function order(x: number, y: number): number | undefined {
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : undefined
}

function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof CelUint || value instanceof CelDouble) return value.value
  return undefined
}

/** Returns the number of code points of a text. */
export function codePoints(text: string): number {
  let size = text.length
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) size--
  }
  return size
}

/** Returns the size of a value as costs count it: 1 if it does not have a size. */
export function costSize(value: Value): number {
  if (typeof value === 'string') return codePoints(value)
  if (value === null || typeof value !== 'object') return 1
  if (value instanceof CelList || value instanceof CelMap) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof CelObject) return value.size ?? 1
  return 1
}
