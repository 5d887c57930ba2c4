import { isObject } from '@crosstie/kube'

/**
 * A placeholder for a value that is known only after a resource is created, such as a name that the provider
 * assigns.
 */
export const UNKNOWN = '(known after creation)'

/** Returns whether the value contains an unknown value. */
export function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true
  if (Array.isArray(value)) return value.some(holdsUnknown)
  return isObject(value) && Object.values(value).some(holdsUnknown)
}

/** Returns the value without its unknown parts. */
export function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== UNKNOWN).map(known)
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== UNKNOWN)
  return Object.fromEntries(entries.map(([key, inner]) => [key, known(inner)]))
}
