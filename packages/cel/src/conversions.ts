import { timestampFrom } from './arithmetic.js'
import { formatDuration, formatTimestamp, parseGoDuration, parseTimestamp } from './time.js'
import { type Type, types } from './types.js'
import {
  CelDouble,
  CelDuration,
  CelTimestamp,
  CelUint,
  fail,
  intFrom,
  isInt,
  maxInt,
  maxUint,
  minInt,
  typeOf,
  uintFrom,
  type Value,
} from './values.js'

function cannot(value: Value, to: Type): never {
  return fail(`type conversion error from '${typeOf(value).name}' to '${to.name}'`)
}

/** Implements `int(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toInt(value: Value): Value {
  if (isInt(value)) return value
  if (value instanceof CelUint) return intFrom(value.value)
  if (value instanceof CelDouble) return doubleToInt(value.value)
  if (value instanceof CelDuration) return intFrom(value.nanos)
  if (value instanceof CelTimestamp) return intFrom((value.nanos - mod(value.nanos)) / 1_000_000_000n)
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) {
    const number = BigInt(value.replace(/^\+/, ''))
    if (number >= minInt && number <= maxInt) return intFrom(number)
  }
  return cannot(value, types.int)
}

function mod(nanos: bigint): bigint {
  return ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
}

function doubleToInt(value: number): Value {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) fail('integer overflow')
  return intFrom(BigInt(Math.trunc(value)))
}

/** Implements `uint(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toUint(value: Value): Value {
  if (value instanceof CelUint) return value
  if (isInt(value)) return uintFrom(BigInt(value))
  if (value instanceof CelDouble) {
    if (!Number.isFinite(value.value) || value.value < 0 || value.value >= 2 ** 64) fail('unsigned integer overflow')
    return new CelUint(BigInt(Math.trunc(value.value)))
  }
  if (typeof value === 'string' && /^\d+$/.test(value)) {
    const number = BigInt(value)
    if (number <= maxUint) return new CelUint(number)
  }
  return cannot(value, types.uint)
}

/** Implements `double(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toDouble(value: Value): Value {
  if (value instanceof CelDouble) return value
  if (isInt(value)) return new CelDouble(Number(value))
  if (value instanceof CelUint) return new CelDouble(Number(value.value))
  if (typeof value === 'string') {
    const number = parseGoFloat(value)
    if (number !== undefined) return new CelDouble(number)
  }
  return cannot(value, types.double)
}

function parseGoFloat(text: string): number | undefined {
  const special = /^([+-]?)(?:(inf(?:inity)?)|(nan))$/i.exec(text)
  if (special) return special[3] ? Number.NaN : special[1] === '-' ? -Infinity : Infinity
  const digits = text.replace(/(?<=\d)_(?=\d)/g, '')
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits)) return undefined
  const number = Number(digits)
  return Number.isFinite(number) ? number : undefined
}

/** Implements `bool(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') {
    if (/^(?:1|t|T|TRUE|true|True)$/.test(value)) return true
    if (/^(?:0|f|F|FALSE|false|False)$/.test(value)) return false
  }
  return cannot(value, types.bool)
}

/** Implements `bytes(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : cannot(value, types.bytes)
}

/** Implements `duration(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toDuration(value: Value): Value {
  if (value instanceof CelDuration) return value
  if (typeof value === 'string') {
    const nanos = parseGoDuration(value)
    if (nanos !== undefined) return new CelDuration(nanos)
  }
  return cannot(value, types.duration)
}

/** Implements `timestamp(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toTimestamp(value: Value): Value {
  if (value instanceof CelTimestamp) return value
  if (isInt(value)) return timestampFrom(BigInt(value) * 1_000_000_000n)
  if (typeof value === 'string') {
    const parsed = parseTimestamp(value)
    if (parsed) return timestampFrom(parsed.nanos, parsed.offsetSeconds)
  }
  return cannot(value, types.timestamp)
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Implements `string(value)`. Fails with an evaluation error if the value cannot be converted. */
export function toText(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(value)
  }
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelDouble) return formatDouble(value.value)
  if (value instanceof CelTimestamp) return formatTimestamp(value)
  if (value instanceof CelDuration) return formatDuration(value)
  if (value instanceof Uint8Array) {
    try {
      return strictUtf8.decode(value)
    } catch {
      fail('invalid UTF-8 in bytes, cannot convert to string')
    }
  }
  return cannot(value, types.string)
}

/** Formats a double as Go's `%g`: the shortest digits, with an exponent for very large and very small numbers. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const magnitude = Math.abs(value)
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e6)) return value.toString()
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const digits = exponent.slice(1).padStart(2, '0')
  return `${mantissa}e${exponent[0]}${digits}`
}
