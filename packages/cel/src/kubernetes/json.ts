/** A JSON value. Integers beyond 2^53 are bigints, so that int64 values stay exact. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Reports whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets a property with an untrusted name. Plain assignment to `__proto__` would change the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** Returns an own property with an untrusted name. Inherited names such as `constructor` are ignored. */
export function getOwn<Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Compares JSON values deeply. A key that holds undefined equals a missing key. 1 and 1n are equal. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    // biome-ignore lint/suspicious/noDoubleEquals: compares a number with a bigint by value.
    return (typeof a === 'bigint' || typeof b === 'bigint') && typeof a !== 'string' && typeof b !== 'string' && a == b
  }
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  }
  return !Array.isArray(b) && equalObjects(a as Record<string, unknown>, b as Record<string, unknown>)
}

function equalObjects(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let matched = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (!equal(a[key], getOwn(b, key))) return false
    matched++
  }
  let present = 0
  for (const key in b) if (b[key] !== undefined) present++
  return matched === present
}
