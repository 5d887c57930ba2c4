import { toDouble, toText } from '../conversions.js'
import { quote } from '../kubernetes/print.js'
import { formatDuration, formatTimestamp } from '../time.js'
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  CelUint,
  EvaluationError,
  fail,
  isInt,
  typeOf,
  type Value,
} from '../values.js'

/** The letter of a formatting clause, such as `f` in `%.3f`. */
export type Clause = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o'

/** The error for an argument that a clause cannot print, by clause. */
export const clauseErrors: Readonly<Record<Clause, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ',
  d: 'decimal clause can only be used on integers, was given ',
  f: 'fixed-point clause can only be used on doubles, was given ',
  e: 'scientific clause can only be used on doubles, was given ',
  b: 'only integers and bools can be formatted as binary, was given ',
  x: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  X: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  o: 'octal clause can only be used on integers, was given ',
}

/**
 * Walks a format string. `format` returns the text of one clause. `complain` must not return. With `endFirst`, an
 * incomplete clause is reported before a missing argument.
 */
export function interpolate(
  text: string,
  argCount: number,
  format: (clause: Clause, precision: number | undefined, index: number) => string,
  complain: (message: string) => never,
  endFirst = false,
): string {
  let result = ''
  let index = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '%') result += text[i]
    else if (text[i + 1] === '%') {
      result += '%'
      i++
    } else {
      const ended = i + 1 >= text.length
      if (ended && endFirst) complain('unexpected end of string')
      if (index >= argCount) complain(`index ${index} out of range`)
      if (ended) complain('unexpected end of string')
      const match = /^%(\.(\d*))?([\s\S])?/.exec(text.slice(i))!
      const [whole, dot, digits, clause] = match
      const problem = 'could not parse formatting clause: '
      if (dot !== undefined && clause === undefined) {
        complain(`${problem}error while parsing precision: could not find end of precision specifier`)
      }
      if (dot !== undefined && digits === '') {
        const detail = 'strconv.Atoi: parsing "": invalid syntax'
        complain(`${problem}error while parsing precision: error while converting precision to integer: ${detail}`)
      }
      if (!(clause! in clauseErrors)) complain(`${problem}unrecognized formatting clause "${clause}"`)
      result += format(clause as Clause, digits === undefined ? undefined : Number(digits), index++)
      i += whole.length - 1
    }
  }
  return result
}

/** Implements `text.format(args)`. Fails with an evaluation error for an invalid clause or argument. */
export function formatString(text: string, args: CelList): string {
  return interpolate(
    text,
    args.size,
    (clause, precision, index) => formatClause(clause, precision, args.at(index)),
    fail,
  )
}

function wrong(clause: Clause, value: Value): never {
  return fail(`error during formatting: ${clauseErrors[clause]}${typeOf(value).name}`)
}

function formatClause(clause: Clause, precision: number | undefined, value: Value): string {
  switch (clause) {
    case 's':
      return plainText(value)
    case 'd':
      return isInt(value) || value instanceof CelUint ? (toText(value) as string) : wrong('d', value)
    case 'f':
      return fixed(doubleOf('f', value), precision ?? 6)
    case 'e':
      return scientific(doubleOf('e', value)).padStart(precision ?? 6)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return integerOf('b', value).toString(2)
    case 'o':
      return integerOf('o', value).toString(8)
    default:
      return hex(clause, value)
  }
}

function integerOf(clause: Clause, value: Value): bigint {
  if (isInt(value)) return BigInt(value)
  return value instanceof CelUint ? value.value : wrong(clause, value)
}

function doubleOf(clause: Clause, value: Value): number {
  if (value instanceof CelDouble) return value.value
  const special = value === 'NaN' || value === 'Infinity' || value === '-Infinity'
  return special ? (toDouble(value) as CelDouble).value : wrong(clause, value)
}

function hex(clause: 'x' | 'X', value: Value): string {
  const text =
    typeof value === 'string' || value instanceof Uint8Array
      ? Buffer.from(value as string).toString('hex')
      : integerOf(clause, value).toString(16)
  return clause === 'X' ? text.toUpperCase() : text
}

/** Formats a number in the locale en_US: digits in groups of three. */
function fixed(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  const digits = exactDigits(Math.abs(value), precision)
  const whole = digits.slice(0, digits.length - precision).replace(/\B(?=(?:\d{3})+$)/g, ',')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return precision === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-precision)}`
}

/** Returns the digits of the exact value times ten to the precision. Halves are rounded to the even neighbor. */
function exactDigits(value: number, precision: number): string {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  const raw = bits.getBigUint64(0)
  const biased = Number((raw >> 52n) & 0x7ffn)
  const fraction = raw & 0xfffffffffffffn
  const mantissa = (biased === 0 ? fraction : fraction | (1n << 52n)) * 10n ** BigInt(precision)
  const exponent = Math.max(biased, 1) - 1075
  if (exponent >= 0) return (mantissa << BigInt(exponent)).toString().padStart(precision + 1, '0')
  const divisor = 1n << BigInt(-exponent)
  const quotient = mantissa / divisor
  const twice = (mantissa % divisor) * 2n
  const up = twice > divisor || (twice === divisor && quotient % 2n === 1n)
  return (quotient + (up ? 1n : 0n)).toString().padStart(precision + 1, '0')
}

/** Formats a number with six digits. The precision, if any, is treated as a width. */
function scientific(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  const [mantissa, exponent] = value.toExponential(6).split('e') as [string, string]
  const power = exponent.slice(1).padStart(2, '0')
  return `${mantissa}×10${superscript((exponent[0] === '-' ? '-' : '') + power)}`
}

const superscripts: Readonly<Record<string, string>> = { '-': '⁻' }
const superscriptDigits = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function superscript(text: string): string {
  return [...text].map((c) => superscripts[c] ?? superscriptDigits[Number(c)]).join('')
}

function plainText(value: Value): string {
  if (value instanceof CelList) return listText(value)
  if (value instanceof CelMap) return mapText(value)
  if (value === null) return 'null'
  const type = typeOf(value)
  if (type.kind === 'type') return (value as { name: string }).name
  const printable = ['int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration']
  if (!printable.includes(type.kind)) wrong('s', value)
  try {
    return toText(value) as string
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error
    return fail(`error during formatting: could not convert argument ${quote(error.message)} to string`)
  }
}

/** Prints a value inside a list or a map as a literal of the language. */
function literalText(value: Value): string {
  if (typeof value === 'string') return quote(value)
  if (value instanceof Uint8Array) return `b${quote(toText(value) as string)}`
  if (value instanceof CelDouble) {
    if (Number.isFinite(value.value)) return value.value.toFixed(6)
    return quote(Number.isNaN(value.value) ? 'NaN' : value.value > 0 ? '+Inf' : '-Inf')
  }
  if (value instanceof CelTimestamp) return `timestamp(${quote(formatTimestamp(value))})`
  if (value instanceof CelDuration) return `duration(${quote(formatDuration(value))})`
  if (value instanceof CelList || value instanceof CelMap || value === null) return plainText(value)
  const type = typeOf(value)
  if (['int', 'uint', 'bool', 'type'].includes(type.kind)) return plainText(value)
  return fail(`error during formatting: no formatting function for ${type.name}`)
}

function listText(list: CelList): string {
  return `[${list.values().map(literalText).join(', ')}]`
}

function mapText(map: CelMap): string {
  const pairs = map.keys().map((key) => {
    const keyType = typeOf(key)
    if (!['string', 'bool', 'int', 'uint'].includes(keyType.kind)) {
      fail(`error during formatting: no formatting function for map key of type ${keyType.name}`)
    }
    return [literalText(key), literalText(map.find(key)!)] as const
  })
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}
