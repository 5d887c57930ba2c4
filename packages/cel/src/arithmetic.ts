import {
  CelDouble,
  CelDuration,
  CelList,
  CelTimestamp,
  CelUint,
  compareNumbers,
  fail,
  intFrom,
  isInt,
  maxInt,
  minInt,
  noSuchOverload,
  uintFrom,
  type Value,
} from './values.js'

const minSeconds = -62135596800n
const maxSeconds = 253402300799n
const second = 1_000_000_000n

function durationFrom(nanos: bigint): CelDuration {
  if (nanos < minInt || nanos > maxInt) fail('integer overflow')
  return new CelDuration(nanos)
}

/** Returns a timestamp. Fails with an evaluation error outside the years 1 to 9999. */
export function timestampFrom(nanos: bigint, offsetSeconds = 0): CelTimestamp {
  const seconds = floorDivide(nanos, second)
  if (seconds < minSeconds || seconds > maxSeconds) fail('timestamp overflow')
  return new CelTimestamp(nanos, offsetSeconds)
}

/** Divides and rounds toward negative infinity. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

/** Fails with the evaluation error for an operation that the value's type does not support. */
export function unsupported(value: Value, operation: string): never {
  if (typeof value === 'string' || value instanceof CelTimestamp || value instanceof CelDuration) noSuchOverload()
  return fail(`no such overload: ${operation}`)
}

/** Implements `a + b`. Fails with an evaluation error on overflow or unsupported types. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    return Number.isSafeInteger(sum) ? sum : intFrom(BigInt(a) + BigInt(b))
  }
  if (typeof a === 'string') return typeof b === 'string' ? a + b : noSuchOverload()
  if (isInt(a)) return isInt(b) ? intFrom(BigInt(a) + BigInt(b)) : noSuchOverload()
  if (a instanceof CelList) return a.add(b)
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value + b.value) : noSuchOverload()
  if (a instanceof CelUint) return b instanceof CelUint ? uintFrom(a.value + b.value) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.concat([a, b]) : noSuchOverload()
  if (a instanceof CelDuration) {
    if (b instanceof CelDuration) return durationFrom(a.nanos + b.nanos)
    return b instanceof CelTimestamp ? timestampFrom(a.nanos + b.nanos, b.offsetSeconds) : noSuchOverload()
  }
  if (a instanceof CelTimestamp) {
    return b instanceof CelDuration ? timestampFrom(a.nanos + b.nanos, a.offsetSeconds) : noSuchOverload()
  }
  return unsupported(a, '_+_')
}

/** Implements `a - b`. Fails with an evaluation error on overflow or unsupported types. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    return Number.isSafeInteger(difference) ? difference : intFrom(BigInt(a) - BigInt(b))
  }
  if (isInt(a)) return isInt(b) ? intFrom(BigInt(a) - BigInt(b)) : noSuchOverload()
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value - b.value) : noSuchOverload()
  if (a instanceof CelUint) return b instanceof CelUint ? uintFrom(a.value - b.value) : noSuchOverload()
  if (a instanceof CelDuration) return b instanceof CelDuration ? durationFrom(a.nanos - b.nanos) : noSuchOverload()
  if (a instanceof CelTimestamp) {
    if (b instanceof CelDuration) return timestampFrom(a.nanos - b.nanos, a.offsetSeconds)
    return b instanceof CelTimestamp ? durationFrom(a.nanos - b.nanos) : noSuchOverload()
  }
  return unsupported(a, '_-_')
}

/** Implements `a * b`. Fails with an evaluation error on overflow or unsupported types. */
export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    return Number.isSafeInteger(product) ? product + 0 : intFrom(BigInt(a) * BigInt(b))
  }
  if (isInt(a)) return isInt(b) ? intFrom(BigInt(a) * BigInt(b)) : noSuchOverload()
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value * b.value) : noSuchOverload()
  if (a instanceof CelUint) return b instanceof CelUint ? uintFrom(a.value * b.value) : noSuchOverload()
  return unsupported(a, '_*_')
}

/** Implements `a / b`. Fails with an evaluation error on overflow, division by zero or unsupported types. */
export function divide(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) noSuchOverload()
    if (Number(b) === 0) fail('division by zero')
    if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0
    return intFrom(BigInt(a) / BigInt(b))
  }
  if (a instanceof CelDouble) return b instanceof CelDouble ? new CelDouble(a.value / b.value) : noSuchOverload()
  if (a instanceof CelUint) {
    if (!(b instanceof CelUint)) noSuchOverload()
    return b.value === 0n ? fail('division by zero') : new CelUint(a.value / b.value)
  }
  return unsupported(a, '_/_')
}

/** Implements `a % b`. Fails with an evaluation error for a zero divisor or unsupported types. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) noSuchOverload()
    if (Number(b) === 0) fail('modulus by zero')
    if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
    if (BigInt(a) === minInt && BigInt(b) === -1n) fail('integer overflow')
    return intFrom(BigInt(a) % BigInt(b))
  }
  if (a instanceof CelUint) {
    if (!(b instanceof CelUint)) noSuchOverload()
    return b.value === 0n ? fail('modulus by zero') : new CelUint(a.value % b.value)
  }
  return unsupported(a, '_%_')
}

/** Implements `-value`. Fails with an evaluation error on overflow or an unsupported type. */
export function negate(value: Value): Value {
  if (typeof value === 'number') return 0 - value
  if (typeof value === 'bigint') return intFrom(-value)
  if (value instanceof CelDouble) return new CelDouble(-value.value)
  if (value instanceof CelDuration) return durationFrom(-value.nanos)
  return typeof value === 'boolean' ? noSuchOverload() : unsupported(value, '-_')
}

/** Returns -1, 0 or 1. Fails with an evaluation error for values of different types, which have no order. */
export function compare(a: Value, b: Value, operator = '_<_'): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : noSuchOverload()
  if (isInt(a) || a instanceof CelDouble || a instanceof CelUint) return compareNumeric(a, b)
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp ? compareBig(a.nanos, b.nanos) : noSuchOverload()
  if (a instanceof CelDuration) return b instanceof CelDuration ? compareBig(a.nanos, b.nanos) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : noSuchOverload()
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : noSuchOverload()
  return unsupported(a, operator)
}

function compareNumeric(a: Value, b: Value): number {
  const order = compareNumbers(a, b)
  if (order !== undefined) return order
  const nan = (value: Value) => value instanceof CelDouble && Number.isNaN(value.value)
  const numbers = [a, b].every((value) => isInt(value) || value instanceof CelDouble || value instanceof CelUint)
  return numbers && (nan(a) || nan(b)) ? fail('NaN values cannot be ordered') : noSuchOverload()
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Compares by UTF-8 bytes, which equals the order of code points. JavaScript's order differs outside the basic
 * plane.
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y) < 0 ? -1 : 1
  }
  return a.length < b.length ? -1 : 1
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
