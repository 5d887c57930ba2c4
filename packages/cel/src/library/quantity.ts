import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { structType, types } from '../types.js'
import {
  CelDouble,
  CelObject,
  EvaluationError,
  fail,
  intFrom,
  maxInt,
  minInt,
  noSuchOverload,
  type Value,
} from '../values.js'

const { bool, double, int, string } = types
const quantityType = structType('kubernetes.Quantity')

/** `value` times ten to the power of `scale`. */
interface Amount {
  readonly value: bigint
  readonly scale: number
  /**
   * Whether the amount is kept with unlimited precision, as Kubernetes does for amounts that do not fit a simpler
   * form.
   */
  readonly big: boolean
}

const formatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const suffixError = "unable to parse quantity's suffix"
const numberError = 'unable to parse numeric part of quantity'

const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}

function exponentOf(suffix: string): { base: 2 | 10; exponent: number } {
  if (Object.hasOwn(binary, suffix)) return { base: 2, exponent: binary[suffix]! }
  if (Object.hasOwn(decimal, suffix)) return { base: 10, exponent: decimal[suffix]! }
  const match = /^[eE]([+-]?[0-9]+)$/.exec(suffix)
  return match ? { base: 10, exponent: Number(match[1]) } : fail(suffixError)
}

/** Parses a text such as `1.5Gi` into an exact amount, in the form that the parser of Kubernetes chooses. */
function parseQuantity(text: string): Amount {
  if (text === '') fail(formatError)
  const match = /^([+-]?)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text)
  if (!match) return fail(formatError)
  const [, sign, whole, , denominator = '', suffix] = match
  const numerator = whole!.replace(/^0+/, '') || '0'
  const { base, exponent } = exponentOf(suffix!)
  const negative = sign === '-'
  const digits = BigInt(numerator + denominator)
  const precision =
    base === 10
      ? 18 - (numerator.length + denominator.length)
      : denominator === ''
        ? 15 - numerator.length - Math.trunc(Math.fround((exponent * 3) / 10)) - 1
        : -1
  const scale = (base === 10 ? exponent : 0) - denominator.length
  const factor = base === 2 ? 2n ** BigInt(exponent) : 1n
  const value = digits * factor
  if (precision >= 0 && scale >= -9 && value <= maxInt) return { value: negative ? -value : value, scale, big: false }
  if (whole === '' && denominator === '') fail(numberError)
  return bigAmount(value, scale, negative, base === 2)
}

/** Rounds up to billionths. A binary amount is limited to the maximum int64. */
function bigAmount(value: bigint, scale: number, negative: boolean, isBinary: boolean): Amount {
  let rounded = value
  let at = scale
  if (at < -9 && value !== 0n) {
    const divisor = 10n ** BigInt(-9 - at)
    rounded = (value + divisor - 1n) / divisor
    at = -9
  }
  if (isBinary && compareAmounts({ value: rounded, scale: at }, { value: maxInt, scale: 0 }) > 0) {
    rounded = maxInt
    at = 0
  }
  return { value: negative ? -rounded : rounded, scale: at, big: true }
}

type Plain = Pick<Amount, 'value' | 'scale'>

/** Returns both values at the smaller of the two scales. */
function align(a: Plain, b: Plain): readonly [bigint, bigint, number] {
  const scale = Math.min(a.scale, b.scale)
  return [a.value * 10n ** BigInt(a.scale - scale), b.value * 10n ** BigInt(b.scale - scale), scale]
}

function compareAmounts(a: Plain, b: Plain): number {
  const [x, y] = align(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

const fits = (value: bigint) => value >= minInt && value <= maxInt

function sum(a: Amount, b: Amount): Amount {
  const [x, y, scale] = align(a, b)
  if (!a.big && !b.big) {
    if (b.value === 0n) return a
    if (a.value === 0n) return b
    if (fits(x) && fits(y) && fits(x + y)) return { value: x + y, scale, big: false }
  }
  return { value: x + y, scale, big: true }
}

class CelQuantity extends CelObject {
  readonly type = quantityType
  constructor(
    readonly amount: Amount,
    /**
     * Whether the value was computed and not parsed. Kubernetes does not recognize such a value on the right side
     * of `==`.
     */
    readonly computed = false,
  ) {
    super()
  }

  equals(other: Value): boolean {
    if (!(other instanceof CelQuantity) || other.computed) return noSuchOverload()
    return compareAmounts(this.amount, other.amount) === 0
  }

  /** Returns the integer, or undefined if the amount in its current form is not an integer. */
  asInteger(): Value | undefined {
    const { value, scale, big } = this.amount
    if (big || scale < 0) return undefined
    const integer = value * 10n ** BigInt(scale)
    return fits(integer) ? intFrom(integer) : undefined
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch (error) {
    if (error instanceof EvaluationError) return false
    throw error
  }
}

const negated = (amount: Amount): Amount => ({ ...amount, value: -amount.value })
const ofInt = (value: number | bigint): Amount => ({ value: BigInt(value), scale: 0, big: false })
const computed = (amount: Amount) => new CelQuantity(amount, true)
const pair = [quantityType, quantityType] as const

/** The quantity library of Kubernetes. */
export const quantityLibrary: readonly FunctionDeclaration[] = [
  declare('quantity', [
    overload('string_to_quantity', [string], quantityType, (text: string) => new CelQuantity(parseQuantity(text))),
  ]),
  declare('isQuantity', [overload('is_quantity_string', [string], bool, isQuantity)]),
  declare('sign', [
    overload('quantity_sign', [quantityType], int, ({ amount: { value } }: CelQuantity) => {
      return value > 0n ? 1 : value < 0n ? -1 : 0
    }),
  ]),
  declare('isGreaterThan', [
    member('quantity_is_greater_than', pair, bool, (a: CelQuantity, b: CelQuantity) => {
      return compareAmounts(a.amount, b.amount) > 0
    }),
  ]),
  declare('isLessThan', [
    member('quantity_is_less_than', pair, bool, (a: CelQuantity, b: CelQuantity) => {
      return compareAmounts(a.amount, b.amount) < 0
    }),
  ]),
  declare('compareTo', [
    member('quantity_compare_to', pair, int, (a: CelQuantity, b: CelQuantity) => compareAmounts(a.amount, b.amount)),
  ]),
  declare('asApproximateFloat', [
    member('quantity_get_float', [quantityType], double, ({ amount: { value, scale } }: CelQuantity) => {
      return new CelDouble(scale === 0 ? Number(value) : Number(value) * 10 ** scale)
    }),
  ]),
  declare('asInteger', [
    member('quantity_get_int', [quantityType], int, (quantity: CelQuantity) => {
      return quantity.asInteger() ?? fail('cannot convert value to integer')
    }),
  ]),
  declare('isInteger', [
    member('quantity_is_integer', [quantityType], bool, (quantity: CelQuantity) => quantity.asInteger() !== undefined),
  ]),
  declare('add', [
    member('quantity_add', pair, quantityType, (a: CelQuantity, b: CelQuantity) => computed(sum(a.amount, b.amount))),
    member('quantity_add_int', [quantityType, int], quantityType, (a: CelQuantity, b: number | bigint) => {
      return computed(sum(a.amount, ofInt(b)))
    }),
  ]),
  declare('sub', [
    member('quantity_sub', pair, quantityType, (a: CelQuantity, b: CelQuantity) => {
      return computed(sum(a.amount, negated(b.amount)))
    }),
    member('quantity_sub_int', [quantityType, int], quantityType, (a: CelQuantity, b: number | bigint) => {
      return computed(sum(a.amount, ofInt(-BigInt(b))))
    }),
  ]),
]
