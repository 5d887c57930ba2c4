import { runeCount } from '@crosstie/cel/kubernetes'
import type { SchemaNode } from './node.js'
import {
  arrayKind,
  type Bound,
  integerKind,
  isOneOf,
  isWhole,
  kindOf,
  numberKind,
  objectKind,
  stringKind,
  type ValueRules,
} from './rules.js'

/**
 * Reports whether a value is valid. The fast path of `explain`: almost all objects are valid, and a valid one needs
 * no paths and messages.
 */
export function check(value: unknown, node: SchemaNode): boolean {
  const rules = node.rules
  if (value === null) return (rules.types.length === 0 || rules.nullable) && rules.enum.length === 0
  const kind = kindOf(value)
  if (!acceptsKind(value, kind, rules)) return false
  if (node.hasBranches && !checkBranches(value, node)) return false
  if (rules.enum.length > 0 && !isOneOf(value, rules)) return false
  if (kind === stringKind) return checkString(value as string, rules)
  if (kind === objectKind) return checkObject(value as Record<string, unknown>, node)
  if (kind === arrayKind) return checkArray(value as readonly unknown[], node)
  if (kind === integerKind || kind === numberKind) return checkNumber(value as number | bigint, kind, rules)
  return true
}

/** Reports whether a value of a kind has an accepted type. */
export function acceptsKind(value: unknown, kind: number, rules: ValueRules): boolean {
  if ((rules.accepts & kind) !== 0) return true
  return kind === numberKind && rules.acceptsWholeNumbers && isWhole(Number(value))
}

function checkBranches(value: unknown, node: SchemaNode): boolean {
  const { allOf, anyOf, oneOf, not } = node.branches
  for (const branch of allOf) if (!check(value, branch)) return false
  if (anyOf.length > 0 && !anyOf.some((branch) => check(value, branch))) return false
  if (oneOf.length > 0) {
    let valid = 0
    for (const branch of oneOf) if (check(value, branch)) valid++
    if (valid !== 1) return false
  }
  return not === undefined || !check(value, not)
}

function checkString(value: string, rules: ValueRules): boolean {
  return (
    !isTooLong(value, rules.maxLength) &&
    !isTooShort(value, rules.minLength) &&
    (rules.pattern === '' || rules.matches(value)) &&
    (rules.formatCheck === undefined || rules.formatCheck(value))
  )
}

/** Reports whether a text is longer than a maximum. */
export function isTooLong(value: string, max: number | undefined): boolean {
  return max !== undefined && value.length > max && runeCount(value) > max
}

/** Reports whether a text is shorter than a minimum. */
export function isTooShort(value: string, min: number | undefined): boolean {
  return min !== undefined && (value.length < min || (value.length < 2 * min && runeCount(value) < min))
}

function checkNumber(value: number | bigint, kind: number, rules: ValueRules): boolean {
  const { minimum, maximum, multipleOf } = rules
  return (
    (maximum === undefined || !isAbove(value, kind, maximum, rules.exclusiveMaximum)) &&
    (minimum === undefined || !isBelow(value, kind, minimum, rules.exclusiveMinimum)) &&
    (multipleOf === undefined || isMultiple(value, kind, multipleOf))
  )
}

/** Reports whether a number exceeds a maximum. */
export function isAbove(value: number | bigint, kind: number, { integer, float }: Bound, exclusive: boolean): boolean {
  const limit = kind === integerKind ? integer : float
  return exclusive ? value >= limit : value > limit
}

/** Reports whether a number is below a minimum. */
export function isBelow(value: number | bigint, kind: number, { integer, float }: Bound, exclusive: boolean): boolean {
  const limit = kind === integerKind ? integer : float
  return exclusive ? value <= limit : value < limit
}

/** Reports whether a number is a multiple of another. */
export function isMultiple(value: number | bigint, kind: number, { integer, float }: Bound): boolean {
  if (kind === integerKind) return integer > 0 && BigInt(value) % BigInt(integer) === 0n
  if (float <= 0) return false
  return isWhole(float < 1 ? (1 / float) * Number(value) : Number(value) / float)
}

function checkArray(value: readonly unknown[], node: SchemaNode): boolean {
  const { minItems, maxItems, uniqueItems } = node.schema
  if (typeof minItems === 'number' && value.length < minItems) return false
  if (typeof maxItems === 'number' && value.length > maxItems) return false
  if (uniqueItems === true && hasDuplicates(value)) return false
  const items = node.items
  if (items) for (let i = 0; i < value.length; i++) if (!check(value[i], items)) return false
  return true
}

/** Reports whether a list has equal items. */
export function hasDuplicates(value: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of value) seen.add(canonical(item))
  return seen.size < value.length
}

function checkObject(value: Record<string, unknown>, node: SchemaNode): boolean {
  for (const name of node.rules.required) {
    if (value[name] === undefined || (name in Object.prototype && !Object.hasOwn(value, name))) return false
  }
  let count = 0
  for (const key in value) {
    const field = value[key]
    if (field === undefined) continue
    count++
    const declared = node.property(key)
    if (!(declared ? check(field, declared) : checkAdditional(field, node))) return false
  }
  const { minProperties, maxProperties } = node.schema
  if (typeof minProperties === 'number' && count < minProperties) return false
  return typeof maxProperties !== 'number' || count <= maxProperties
}

function checkAdditional(value: unknown, node: SchemaNode): boolean {
  if (!node.hasAdditional) return true
  const { additional } = node
  return additional ? check(value, additional) : node.schema.additionalProperties !== false
}

/** Returns JSON with sorted keys: equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>
    const members = Object.keys(object)
      .filter((key) => object[key] !== undefined)
      .sort()
    return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`).join(',')}}`
  }
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}
