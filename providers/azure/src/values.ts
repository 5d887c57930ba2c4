import { isObject } from '@crosstie/kube'

/** Accessors for JSON of unknown shape. None of them throws. */

export type Values = Readonly<Record<string, unknown>>

/** The object, or an empty one. */
export const valuesOf = (value: unknown): Values => (isObject(value) ? value : {})

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A value by a path of names, such as `properties.network`. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce((inner, name) => valuesOf(inner)[name], value)

/** `over` on top of `base`: objects are merged, everything else is replaced. Null removes a value. */
export function merged(base: Values, over: Values): Values {
  const result: Record<string, unknown> = { ...base }
  for (const [name, value] of Object.entries(over)) {
    if (value === undefined || value === null) delete result[name]
    else result[name] = isObject(value) && isObject(result[name]) ? merged(valuesOf(result[name]), value) : value
  }
  return result
}

/** Without fields that are undefined or null. */
export const defined = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null))

export const without = (values: Values, ...names: readonly string[]): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
