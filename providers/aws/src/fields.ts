import { isDeepStrictEqual } from 'node:util'
import { s } from '@crosstie/resources/provider'

/** Fields that kinds of all services share, so that they are called and described alike. */

export const region = () => s.identifier(s.string({ doc: 'Region of AWS that it is in, such as eu-west-1.' }))

export const tags = () =>
  s.optional(s.map(s.string(), { shared: true, doc: 'Tags. Those that are not named here belong to others.' }))

/** A policy in JSON, as IAM has it. Compared by what it says, as services write it in ways of their own. */
export const policyDocument = (doc: string, options: { readonly lateInitialize?: false } = {}) =>
  s.string({ doc, same: samePolicy, ...options })

/** Do two policies say the same? One value and a list of one are the same to IAM, and so is the order of lists. */
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
