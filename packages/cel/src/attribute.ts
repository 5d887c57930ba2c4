import { formatDouble } from './conversions.js'
import type { SchemaNode } from './schema-node.js'
import { TypedObject, typedValue } from './typed.js'
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  CostError,
  type EvaluationError,
  fail,
  fromJson,
  goTypeName,
  isInt,
  rawOf,
  typeOf,
  type Value,
} from './values.js'

/** The state of one evaluation. */
export interface Frame {
  cost: number
  readonly limit: number
  /** The variables of the environment, followed by those of comprehensions. */
  readonly slots: (Value | EvaluationError | (() => Value) | undefined)[]
}

/** A compiled part of an expression. It may fail with an evaluation error or a cost error. */
export type Step = (frame: Frame) => Value

/** Adds to the cost of the evaluation. Fails with a cost error if the limit is exceeded. */
export function spend(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CostError()
}

/** One step from a value to a field, an entry or an element of it. */
export interface Qualifier {
  /** The key, if it is a constant. */
  readonly constant?: Value
  readonly key: Step
  readonly optional: boolean
  /** The property, if the schema declares it. */
  readonly field?: { readonly property: string; readonly node: SchemaNode }
}

/**
 * A variable and a path from it, such as `self.spec.replicas`. It is evaluated as a whole, so that intermediate
 * objects are not converted to values.
 */
export interface Attribute {
  readonly root: Step
  readonly qualifiers: readonly Qualifier[]
  /** The cost of the evaluation without its qualifiers. */
  readonly ownCost: number
}

function keyText(key: Value): string {
  if (key instanceof CelDouble) return formatDouble(key.value)
  if (key instanceof CelUint) return String(key.value)
  return String(key)
}

/** Reports whether a value can be a map key or a list index. */
export function isKey(key: Value): boolean {
  return (
    typeof key === 'string' ||
    typeof key === 'boolean' ||
    isInt(key) ||
    key instanceof CelUint ||
    key instanceof CelDouble
  )
}

/** Converts a value to a list index. */
function indexOf(key: Value): number {
  if (isInt(key)) return Number(key)
  if (key instanceof CelUint) return Number(key.value)
  if (key instanceof CelDouble && Number.isInteger(key.value)) return key.value
  if (key instanceof CelDouble) fail(`unsupported index value ${key.value} in list`)
  return fail(`unsupported index type '${typeOf(key).name}' in list`)
}

/** Returns the part of a value at a key, or undefined if it does not exist. */
function part(value: Value, key: Value): Value | undefined {
  if (value instanceof CelMap) return value.find(key)
  if (value instanceof CelList) {
    const index = indexOf(key)
    return index >= 0 && index < value.size ? value.at(index) : undefined
  }
  return undefined
}

function missing(value: Value, key: Value): never {
  return fail(value instanceof CelList ? `index out of bounds: ${keyText(key)}` : `no such key: ${keyText(key)}`)
}

/** Converts the content of an optional to plain data, as cel-go does before it continues. */
function unwrap(optional: CelOptional): Value | undefined {
  const { value } = optional
  if (value instanceof TypedObject || value instanceof CelList) return fromJson(rawOf(value))
  if (value instanceof CelTimestamp || value instanceof CelDuration) return value
  return value
}

function applyQualifiers(frame: Frame, root: Value, qualifiers: readonly Qualifier[]): Value {
  let value = root
  let optional = false
  if (root instanceof CelOptional) {
    const content = unwrap(root)
    if (content === undefined) return root
    value = content
    optional = true
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional
    let found: Value | undefined
    try {
      const key = qualifier.constant ?? qualifier.key(frame)
      if (!isKey(key)) fail(`invalid qualifier type: ${goTypeName(key)}`)
      found = part(value, key)
      if (found === undefined && !optional) missing(value, key)
    } finally {
      if (found !== undefined || !optional) spend(frame, 1)
    }
    if (found === undefined) return CelOptional.none
    value = found
  }
  return optional ? CelOptional.of(value) : value
}

/** Evaluates an attribute without its own cost, as branches of a conditional and indexes do. */
export function resolver(attribute: Attribute): Step {
  const { root, qualifiers } = attribute
  const fields = qualifiers.map((qualifier) => qualifier.field)
  if (qualifiers.length > 0 && fields.every((field) => field !== undefined)) {
    return fieldResolver(root, qualifiers, fields as NonNullable<Qualifier['field']>[])
  }
  if (qualifiers.length === 0) {
    return (frame) => {
      const value = root(frame)
      return value instanceof CelOptional ? applyQualifiers(frame, value, qualifiers) : value
    }
  }
  return (frame) => applyQualifiers(frame, root(frame), qualifiers)
}

/** Follows declared properties in plain data. Falls back to the general resolver for everything else. */
function fieldResolver(root: Step, qualifiers: readonly Qualifier[], fields: NonNullable<Qualifier['field']>[]): Step {
  const count = fields.length
  const last = fields[count - 1]!
  return (frame) => {
    const start = root(frame)
    if (!(start instanceof TypedObject)) return applyQualifiers(frame, start, qualifiers)
    let data: unknown = start.rawObject
    for (let i = 0; i < count; i++) {
      if (typeof data !== 'object' || data === null || Array.isArray(data)) {
        return applyQualifiers(frame, start, qualifiers)
      }
      const { property } = fields[i]!
      const next: unknown = Object.hasOwn(data, property) ? (data as Record<string, unknown>)[property] : undefined
      if (next === undefined || next === null) {
        spend(frame, i + 1)
        return fail(`no such key: ${keyText(qualifiers[i]!.constant!)}`)
      }
      data = next
    }
    spend(frame, count)
    return typedValue(data, last.node)
  }
}

/** Evaluates an attribute at its full cost. */
export function evaluator(attribute: Attribute): Step {
  const resolve = resolver(attribute)
  const { ownCost } = attribute
  if (ownCost === 0) return resolve
  return (frame) => {
    try {
      return resolve(frame)
    } finally {
      spend(frame, ownCost)
    }
  }
}

/** Implements `has(…)`: whether the last step of the attribute leads to a value. */
export function presenceTest(attribute: Attribute): Step {
  const before = { ...attribute, qualifiers: attribute.qualifiers.slice(0, -1) }
  const test = attribute.qualifiers.at(-1)!
  const resolve = before.qualifiers.length === 0 ? attribute.root : resolver(before)
  const { field } = test
  return (frame) => {
    const value = resolve(frame)
    if (value instanceof CelOptional) {
      const content = unwrap(value)
      const found = content !== undefined && part(content, test.constant!) !== undefined
      if (found) spend(frame, 1)
      return found
    }
    spend(frame, attribute.ownCost)
    if (field && value instanceof TypedObject) {
      const data = Object.hasOwn(value.rawObject, field.property) ? value.rawObject[field.property] : undefined
      if (data === undefined || data === null) return false
      // Data that exists but does not fit its schema is an error: an update may leave such data in place.
      typedValue(data, field.node)
      return true
    }
    return part(value, test.constant!) !== undefined
  }
}
