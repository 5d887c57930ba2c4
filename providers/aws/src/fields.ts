import { isDeepStrictEqual } from 'node:util'
import { s } from '@crosstie/resources/provider'

/** The region of a resource. */
export const region = () => s.identifier(s.string({ doc: 'Region of AWS that it is in, such as eu-west-1.' }))

/** The tags of a resource. Tags of other owners are kept. */
export const tags = () =>
  s.optional(s.map(s.string(), { shared: true, doc: 'Tags. Those that are not named here belong to others.' }))

/** A JSON policy document of IAM. Compared by meaning, because services reformat it. */
export const policyDocument = (doc: string, options: { readonly lateInitialize?: false } = {}) =>
  s.string({ doc, same: samePolicy, ...options })

/**
 * Reports whether two policies are equivalent. A single value equals a list of one, and the order of lists is
 * ignored.
 */
export function samePolicy(a: string, b: string): boolean {
  const [left, right] = [parsed(a), parsed(b)]
  return left !== undefined && right !== undefined && isDeepStrictEqual(canonical(left), canonical(right))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trimStart().startsWith('%7B') ? decodeURIComponent(text) : text)
  } catch {
    return undefined
  }
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(canonical)
    if (items.length === 1) return items[0]
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (value === null || typeof value !== 'object') return typeof value === 'boolean' ? String(value) : value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, canonical(inner)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
