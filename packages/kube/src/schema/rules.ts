import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { type FormatCheck, formatCheck, upcomingFormatCheck } from '@crosstie/cel/kubernetes'
import { RE2JS } from 're2js'
import { equal } from '../json.js'

/** The kinds of JSON values, as bits. An integer is a number that fits into int64. */
export const stringKind = 1
/** An integer. */
export const integerKind = 2
/** A number that is not an integer. */
export const numberKind = 4
const booleanKind = 8
/** An object. */
export const objectKind = 16
/** An array. */
export const arrayKind = 32
const everyKind = 63

/** Returns the kind of a value as a bit. */
export function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return stringKind
    case 'number':
      return Number.isSafeInteger(value) ? integerKind : numberKind
    case 'bigint':
      return BigInt.asIntN(64, value) === value ? integerKind : numberKind
    case 'boolean':
      return booleanKind
    default:
      return Array.isArray(value) ? arrayKind : objectKind
  }
}

/** Returns the name of a kind in schemas. */
export function kindName(kind: number): string {
  return kindNames.get(kind) ?? ''
}

const kindNames = new Map([
  [stringKind, 'string'],
  [integerKind, 'integer'],
  [numberKind, 'number'],
  [booleanKind, 'boolean'],
  [objectKind, 'object'],
  [arrayKind, 'array'],
])

/** A bound for integers and for other numbers. Integers are compared without its fraction. */
export interface Bound {
  readonly float: number
  readonly integer: number | bigint
}

/** The compiled rules of one place in a schema for the value itself. */
export interface ValueRules {
  readonly types: readonly string[]
  /** The format. Empty if it is not validated. */
  readonly format: string
  readonly formatCheck: FormatCheck | undefined
  readonly accepts: number
  readonly acceptsWholeNumbers: boolean
  readonly nullable: boolean
  readonly maxLength: number | undefined
  readonly minLength: number | undefined
  readonly pattern: string
  readonly maximum: Bound | undefined
  readonly minimum: Bound | undefined
  readonly multipleOf: Bound | undefined
  readonly exclusiveMaximum: boolean
  readonly exclusiveMinimum: boolean
  readonly enum: readonly unknown[]
  readonly enumStrings: ReadonlySet<string>
  readonly required: readonly string[]
  /** Tests the pattern. Only call it if `pattern` is set. */
  matches(text: string): boolean
}

/**
 * Compiles the rules. `keepFormats` is for defaults, for which kube-apiserver does not remove unknown formats. That
 * affects its type check.
 */
export function rulesOf(schema: JSONSchemaProps, keepFormats: boolean): ValueRules {
  const types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : []
  const check = (keepFormats ? upcomingFormatCheck : formatCheck)(schema.format ?? '')
  const format = check || keepFormats ? (schema.format ?? '') : ''
  let compiled: RE2JS | undefined
  return {
    types,
    format,
    formatCheck: check,
    accepts: acceptedKinds(types, format),
    acceptsWholeNumbers: types.includes('integer'),
    nullable: schema.nullable === true,
    maxLength: orUndefined(schema.maxLength),
    minLength: orUndefined(schema.minLength),
    pattern: schema.pattern ?? '',
    maximum: bound(schema.maximum),
    minimum: bound(schema.minimum),
    multipleOf: bound(schema.multipleOf),
    exclusiveMaximum: schema.exclusiveMaximum === true,
    exclusiveMinimum: schema.exclusiveMinimum === true,
    enum: schema.enum ?? [],
    enumStrings: new Set((schema.enum ?? []).filter((value) => typeof value === 'string')),
    required: schema.required ?? [],
    matches(text) {
      compiled ??= RE2JS.compile(schema.pattern!)
      return compiled.test(text)
    },
  }
}

const orUndefined = <T>(value: T | null | undefined): T | undefined => value ?? undefined

function acceptedKinds(types: readonly string[], format: string): number {
  if (types.length === 0 && format === '') return everyKind
  let accepted = 0
  for (const [kind, name] of kindNames) if (types.includes(name)) accepted |= kind
  if (types.includes('number')) accepted |= integerKind
  // A visible quirk of kube-apiserver: a format on a type other than a number accepts strings and lists,
  // independent of the type.
  const numeric = types.includes('number') || types.includes('integer')
  return format !== '' && !numeric ? accepted | stringKind | arrayKind : accepted
}

function bound(value: number | bigint | null | undefined): Bound | undefined {
  if (value === undefined || value === null) return undefined
  const float = Number(value)
  return { float, integer: toInt64(float) }
}

const leastInt64 = -(2n ** 63n)

/** Converts a float to an int64 as Go does, also outside the range. */
function toInt64(value: number): number | bigint {
  const whole = Math.trunc(value)
  if (Number.isSafeInteger(whole)) return whole
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? BigInt(whole) : leastInt64
}

/** Reports whether a number is an integer within the precision of a float. */
export function isWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  if (Number.isInteger(value)) return true
  const near = value < 0 ? 0 : Math.trunc(value)
  if (near === 0) return false
  return Math.abs(value - near) / (Math.abs(value) + near) < 1e-9
}

/** Compares by the enum rule: numbers are converted to the type of the allowed value first. */
export function isOneOf(value: unknown, rules: ValueRules): boolean {
  if (typeof value === 'string') return rules.enumStrings.has(value)
  return rules.enum.some((allowed) => equalsAllowed(value, allowed))
}

function equalsAllowed(value: unknown, allowed: unknown): boolean {
  if (value === null || allowed === null) return false
  const kind = kindOf(value)
  const allowedKind = kindOf(allowed)
  if (kind === integerKind && allowedKind === stringKind) return runeOf(value as number | bigint) === allowed
  if (kind === numberKind && allowedKind === integerKind) return equal(toInt64(Number(value)), allowed)
  if (kind === integerKind && allowedKind === numberKind) return Number(value) === Number(allowed)
  return kind === allowedKind && equal(value, allowed)
}

/** Converts an integer to the character with that code, as Go does. */
function runeOf(value: number | bigint): string {
  const code = Number(value)
  const valid = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return valid ? String.fromCodePoint(code) : '\ufffd'
}
