import { isObject } from '@crosstie/kube'

/** Stands for what nobody knows before a resource is made, such as a name that the provider assigns. */
export const UNKNOWN = '(known after creation)'

export function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true
  if (Array.isArray(value)) return value.some(holdsUnknown)
  return isObject(value) && Object.values(value).some(holdsUnknown)
}

/** The value without what is not known. */
export function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== UNKNOWN).map(known)
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== UNKNOWN)
  return Object.fromEntries(entries.map(([key, inner]) => [key, known(inner)]))
}
