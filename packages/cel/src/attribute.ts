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

/** What one evaluation carries along. */
export interface Frame {
  cost: number
  readonly limit: number
  /** Variables of the environment first, then those of comprehensions. */
  readonly slots: (Value | EvaluationError | (() => Value) | undefined)[]
}

export type Step = (frame: Frame) => Value

export function spend(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CostError()
}

/** One step from a value to a part of it. */
export interface Qualifier {
  /** Undefined when the key has to be computed. */
  readonly constant?: Value
  readonly key: Step
  readonly optional: boolean
  /** Where the schema tells which property is meant. */
  readonly field?: { readonly property: string; readonly node: SchemaNode }
}

/**
 * A root and the way from it to a part, such as `self.spec.replicas`.
 * Evaluated in one go, so that the parts in between need not become values.
 */
export interface Attribute {
  readonly root: Step
  readonly qualifiers: readonly Qualifier[]
  /** What evaluating it costs apart from its qualifiers. */
  readonly ownCost: number
}

function keyText(key: Value): string {
  if (key instanceof CelDouble) return formatDouble(key.value)
  if (key instanceof CelUint) return String(key.value)
  return String(key)
}

/** Whether a value may be a key of a map or an index of a list. */
export function isKey(key: Value): boolean {
  return (
    typeof key === 'string' ||
    typeof key === 'boolean' ||
    isInt(key) ||
    key instanceof CelUint ||
    key instanceof CelDouble
  )
}

/** The number that an index stands for. */
function indexOf(key: Value): number {
  if (isInt(key)) return Number(key)
  if (key instanceof CelUint) return Number(key.value)
  if (key instanceof CelDouble && Number.isInteger(key.value)) return key.value
  if (key instanceof CelDouble) fail(`unsupported index value ${key.value} in list`)
  return fail(`unsupported index type '${typeOf(key).name}' in list`)
}

/** The part of a value at a key, or undefined when there is none. */
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

/** An optional's content as plain data, since that is how the real implementation goes on with it. */
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

/** The value of an attribute without its own cost, as a branch of a condition or an index resolves it. */
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

/** Walks plain data along known properties; anything unexpected is left to the general way. */
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

/** The value of an attribute, at its full cost. */
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

/** `has(…)`: whether the last step of the attribute leads anywhere. */
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
      // What is there but does not fit its schema is an error, not an answer: an update may leave such data alone.
      typedValue(data, field.node)
      return true
    }
    return part(value, test.constant!) !== undefined
  }
}
