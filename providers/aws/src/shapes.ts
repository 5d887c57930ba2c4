import type { Json } from '@crosstie/kube'

/**
 * The SDK knows its shapes at run time. With them what kinds call `dbName` goes
 * to the API as `DBName` and back, without a list of names of our own that
 * could be wrong.
 */

/** As the SDK exports them: `CreateDBInstanceMessage$`. */
export type Shape = readonly unknown[]

type Values = Readonly<Record<string, unknown>>

const LIST = 1
const MAP = 2
const STRUCTURE = 3
const UNION = 4

/** `DBInstanceClass` is `dbInstanceClass`, `MultiAZ` is `multiAZ`, `IOPS` is `iops`. */
export function fieldName(member: string): string {
  return member.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (head) => head.toLowerCase())
}

/** The members of a structure, by the name that our fields have; undefined for anything else. */
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

/** Our values as the API wants them. Fields that the shape does not have are left out. */
export function toApi<T>(shape: Shape, values: object): T {
  return told(shape, values) as T
}

/** Converts a response to our field names. Times become text, and unset fields are left out. */
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

/** Members are given as a shape, as a function that gives it, or as either with its traits. */
function resolved(shape: unknown): unknown {
  let known = shape
  while (typeof known === 'function' || (Array.isArray(known) && known.length === 2)) {
    known = typeof known === 'function' ? known() : known[0]
  }
  return Array.isArray(known) ? known : [known]
}

/** Of names without abbreviations, what the API calls them. */
export const capitalized = <N extends string>(name: N) => `${name[0]!.toUpperCase()}${name.slice(1)}` as Capitalize<N>
