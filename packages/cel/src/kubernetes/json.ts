/** What a JSON document holds. Integers beyond 2^53 are bigints, so that int64 survives. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Sets a property whose name came from outside. Plain assignment to
 * `__proto__` would change the prototype instead of adding a key.
 */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** Reads a property whose name came from outside; inherited names such as `constructor` do not count. */
export function getOwn<Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Deep equality of JSON values; a key that holds undefined is the same as no key. 1 and 1n are equal. */
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
