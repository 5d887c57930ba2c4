import { equal, getOwn, isObject } from './kubernetes/json.js'
import { escapeName, unescapeName } from './names.js'
import type { SchemaNode } from './schema-node.js'
import { parseDate, parseFormatDateTime, parseFormatDuration } from './time.js'
import { types } from './types.js'
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CostError,
  equals,
  fail,
  fromJson,
  listSizeMax,
  noSuchOverload,
  rawOf,
  type Value,
} from './values.js'

/** Returns the name of the Go type of a JSON value. */
function goType(data: unknown): string {
  switch (typeof data) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(data) ? 'int64' : 'float64'
    default:
      return Array.isArray(data) ? '[]interface {}' : 'map[string]interface {}'
  }
}

/** Converts data to a value of its schema's type. Fails with an evaluation error if the data does not fit. */
export function typedValue(data: unknown, node: SchemaNode): Value {
  if (data === null || data === undefined) {
    return node.nullable ? null : fail('invalid data, got null for schema with nullable=false')
  }
  if (node.intOrString) return intOrString(data)
  switch (node.type) {
    case 'object':
      if (!isObject(data)) return fail('invalid data, expected a map for the provided schema with type=object')
      return new TypedObject(data, node.embedded ? node.withTypeAndObjectMeta() : node)
    case 'array':
      return typedList(data, node)
    case 'string':
      return typeof data === 'string' ? text(data, node.format) : unexpected('string', data)
    case 'number':
      return typeof data === 'number' || typeof data === 'bigint'
        ? new CelDouble(Number(data))
        : unexpected('float', data)
    case 'integer':
      return goType(data) === 'int64' ? fromJson(data) : unexpected('int', data)
    case 'boolean':
      return typeof data === 'boolean' ? data : unexpected('bool', data)
  }
  if (node.preservesUnknown) return new UnknownPreserved(data)
  return fail(
    `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${node.type}`,
  )
}

function unexpected(wanted: string, data: unknown): never {
  return fail(`invalid data, expected ${wanted}, got ${goType(data)}`)
}

function intOrString(data: unknown): Value {
  if (typeof data === 'string') return data
  if (goType(data) === 'int64') return fromJson(data)
  return fail('invalid data, expected XIntOrString value to be either a string or integer')
}

function text(data: string, format: string): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseFormatDuration(data)
      return nanos === undefined
        ? fail(`Invalid duration ${data}: unable to parse ${data} as duration`)
        : new CelDuration(nanos)
    }
    case 'date':
      return parseDate(data) ?? fail(`Invalid date formatted string ${data}: cannot parse ${JSON.stringify(data)}`)
    case 'date-time':
      return (
        parseFormatDateTime(data) ??
        fail(`Invalid date-time formatted string ${data}: cannot parse ${JSON.stringify(data)}`)
      )
    case 'byte':
      return base64Url(data)
    default:
      return data
  }
}

function base64Url(data: string): Uint8Array {
  const body = data.replace(/[\r\n]/g, '')
  const valid = body.length % 4 === 0 ? /^[A-Za-z0-9_-]*={0,2}$/.exec(body) : null
  if (!valid) {
    const at = data.search(/[^A-Za-z0-9_\-\r\n]/)
    fail(`Invalid byte formatted string ${data}: illegal base64 data at input byte ${at < 0 ? data.length : at}`)
  }
  return Buffer.from(body, 'base64url')
}

function typedList(data: unknown, node: SchemaNode): Value {
  if (!Array.isArray(data)) return fail('invalid data, expected an array for the provided schema with type=array')
  const { items } = node
  if (!items) return fail('invalid array type, expected Items with a non-empty Schema')
  if (node.listType === 'map')
    return new TypedMapList(
      data,
      items,
      node.listMapKeys.map((key) => escapeName(key) ?? key),
    )
  if (node.listType === 'set') return new TypedSetList(data, items)
  return new TypedList(data, items)
}

/** Data under x-kubernetes-preserve-unknown-fields without a schema. Expressions can only compare it. */
class UnknownPreserved extends CelObject {
  readonly type = types.dyn
  constructor(readonly rawObject: unknown) {
    super()
  }
  equals(other: Value): boolean {
    return equal(this.rawObject, rawOf(other))
  }
}

/** An object that is described by properties or by additionalProperties. */
export class TypedObject extends CelMap {
  constructor(
    readonly rawObject: Readonly<Record<string, unknown>>,
    readonly node: SchemaNode,
  ) {
    super()
  }

  get size(): number {
    return Object.keys(this.rawObject).length
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload()
    const isStruct = this.node.properties !== undefined
    const name = isStruct ? unescapeName(key) : key
    if (name === undefined) return undefined
    const data = getOwn(this.rawObject, name)
    if (data === undefined || (isStruct && data === null)) return undefined
    const node = this.nodeOf(name)
    return node && typedValue(data, node)
  }

  keys(): Value[] {
    const isStruct = this.node.properties !== undefined
    const known = Object.keys(this.rawObject).filter((name) => this.nodeOf(name))
    return isStruct ? known.map((name) => escapeName(name) ?? name) : known
  }

  private nodeOf(name: string): SchemaNode | undefined {
    return this.node.properties ? this.node.properties.get(name) : this.node.additional
  }

  override equals(other: Value): boolean {
    if (!(other instanceof CelMap)) return noSuchOverload()
    if (other.size !== this.size) return false
    for (const name of Object.keys(this.rawObject)) {
      if (!this.nodeOf(name)) {
        if (!(other instanceof TypedObject)) return noSuchOverload()
        if (Object.hasOwn(other.rawObject, name) && !equal(this.rawObject[name], other.rawObject[name])) return false
        continue
      }
      const mine = this.find(name)
      const theirs = other.find(name)
      if ((mine === undefined) !== (theirs === undefined)) return false
      if (mine !== undefined && !equals(mine, theirs!)) return false
    }
    return true
  }
}

/** A list whose items have a schema. */
class TypedList extends CelList {
  constructor(
    readonly data: readonly unknown[],
    readonly items: SchemaNode,
  ) {
    super()
  }

  get size(): number {
    return this.data.length
  }

  at(index: number): Value {
    return typedValue(this.data[index], this.items)
  }

  override get raw(): readonly unknown[] {
    return this.data
  }

  override equals(other: Value): boolean {
    return other instanceof CelList ? super.equals(other) : noSuchOverload()
  }

  override contains(value: Value): boolean {
    for (let i = 0; i < this.size; i++) if (equals(this.at(i), value)) return true
    return false
  }

  override add(other: Value): CelList {
    if (!(other instanceof CelList)) return noSuchOverload()
    if (this.size + other.size > listSizeMax) throw new CostError()
    return new TypedList([...this.data, ...other.raw], this.items)
  }
}

/** A list of type set: the order does not matter, and addition is the union. */
class TypedSetList extends TypedList {
  private set: Set<unknown> | undefined

  private members(): Set<unknown> {
    this.set ??= new Set(this.data)
    return this.set
  }

  override equals(other: Value): boolean {
    if (!(other instanceof CelList)) return noSuchOverload()
    return other.size === this.size && other.raw.every((item) => this.members().has(item))
  }

  override add(other: Value): CelList {
    if (!(other instanceof CelList)) return noSuchOverload()
    return new TypedSetList([...new Set([...this.data, ...other.raw])], this.items)
  }
}

/**
 * A list of type map: items are identified by their keys, the order does not matter, and addition replaces items
 * with the same keys.
 */
class TypedMapList extends TypedList {
  constructor(
    data: readonly unknown[],
    items: SchemaNode,
    private readonly keyNames: readonly string[],
  ) {
    super(data, items)
  }

  private keyOf(item: unknown): string {
    const object = isObject(item) ? item : {}
    return JSON.stringify(this.keyNames.map((name) => keyPart(getOwn(object, name))))
  }

  override equals(other: Value): boolean {
    if (!(other instanceof CelList)) return noSuchOverload()
    if (other.size !== this.size) return false
    const byKey = new Map(this.data.map((item) => [this.keyOf(item), item]))
    const theirs = other.raw
    for (let i = 0; i < other.size; i++) {
      const key = this.keyOf(theirs[i])
      if (!byKey.has(key) || !equals(typedValue(byKey.get(key), this.items), other.at(i))) return false
    }
    return true
  }

  override add(other: Value): CelList {
    if (!(other instanceof CelList)) return noSuchOverload()
    const data = [...this.data]
    const positions = new Map(this.data.map((item, i) => [this.keyOf(item), i]))
    for (const item of other.raw) {
      const position = positions.get(this.keyOf(item))
      if (position === undefined) data.push(item)
      else data[position] = item
    }
    return new TypedMapList(data, this.items, this.keyNames)
  }
}

function keyPart(value: unknown): string {
  return value === undefined ? 'none' : `${typeof value}:${String(value)}`
}
