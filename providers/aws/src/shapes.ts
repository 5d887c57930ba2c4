import type { Json } from '@crosstie/kube'

/**
 * Conversion between field names and the names of the API. The SDK exports its shapes at run time, so that `dbName`
 * becomes `DBName` and back without a separate list of names.
 */

/** A shape that the SDK exports, such as `CreateDBInstanceMessage$`. */
export type Shape = readonly unknown[]

type Values = Readonly<Record<string, unknown>>

const LIST = 1
const MAP = 2
const STRUCTURE = 3
const UNION = 4

/**
 * Returns the field name of a member: `dbInstanceClass` for `DBInstanceClass`, `multiAZ` for `MultiAZ`, `iops` for
 * `IOPS`.
 */
export function fieldName(member: string): string {
  return member.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (head) => head.toLowerCase())
}

/** Returns the members of a structure by field name. The map is empty for other shapes. */
export function membersOf(shape: unknown): ReadonlyMap<string, { readonly member: string; readonly shape: unknown }> {
  const [kind, , , , names, shapes] = resolved(shape) as [number, ...unknown[]]
  if (kind !== STRUCTURE && kind !== UNION) return new Map()
  return new Map(
    (names as string[]).map((member, i) => [fieldName(member), { member, shape: (shapes as unknown[])[i] }]),
  )
}

/** Returns the member shape of a list or a map, or undefined for other shapes. */
export function itemsOf(shape: unknown): unknown {
  const known = resolved(shape)
  if (!Array.isArray(known)) return undefined
  return known[0] === LIST ? known[4] : known[0] === MAP ? known[5] : undefined
}

/** Converts values to the format of the API. Fields that the shape does not have are left out. */
export function toApi<T>(shape: Shape, values: object): T {
  return told(shape, values) as T
}

/** Converts a response to field names. Timestamps become strings, and unset fields are left out. */
export function fromApi<T = Readonly<Record<string, Json>>>(shape: Shape, answer: object): T {
  return heard(shape, answer) as T
}

function told(shape: unknown, value: unknown): unknown {
  if (value === undefined || value === null) return undefined
  const items = itemsOf(shape)
  if (Array.isArray(value)) return value.map((item) => told(items, item))
  if (typeof value !== 'object') return value
  const members = membersOf(shape)
  if (members.size === 0) return mapped(value as Values, (inner) => told(items, inner))
  const named = Object.entries(value).flatMap(([name, inner]) => {
    const known = members.get(name)
    return known && inner !== undefined && inner !== null ? [[known.member, told(known.shape, inner)]] : []
  })
  return Object.fromEntries(named)
}

function heard(shape: unknown, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  const items = itemsOf(shape)
  if (Array.isArray(value)) return value.map((item) => heard(items, item))
  if (typeof value !== 'object' || value === null) return value
  const members = membersOf(shape)
  if (members.size === 0) return mapped(value as Values, (inner) => heard(items, inner))
  const named = [...members].flatMap(([name, known]) => {
    const inner = (value as Values)[known.member]
    return inner === undefined || inner === null ? [] : [[name, heard(known.shape, inner)]]
  })
  return Object.fromEntries(named)
}

const mapped = (values: Values, each: (inner: unknown) => unknown): unknown =>
  Object.fromEntries(Object.entries(values).map(([key, inner]) => [key, each(inner)]))

/** Resolves a shape. A member refers to a shape directly, by a function, or by either with traits. */
function resolved(shape: unknown): unknown {
  let known = shape
  while (typeof known === 'function' || (Array.isArray(known) && known.length === 2)) {
    known = typeof known === 'function' ? known() : known[0]
  }
  return Array.isArray(known) ? known : [known]
}

/** Returns the API name of a field whose name has no abbreviation. */
export const capitalized = <N extends string>(name: N) => `${name[0]!.toUpperCase()}${name.slice(1)}` as Capitalize<N>
