/**
 * Returns the version that satisfies both a claim and a class, which is the more specific one. Throws if they
 * conflict.
 */
export function agreedVersion(offeredBy: string, asked: unknown, offered: unknown): string | undefined {
  if (typeof asked !== 'string') return typeof offered === 'string' ? offered : undefined
  if (typeof offered !== 'string' || `${asked}.`.startsWith(`${offered}.`)) return asked
  if (`${offered}.`.startsWith(`${asked}.`)) return offered
  throw new Error(`the claim asks for version ${asked}, but ${offeredBy} is for version ${offered}`)
}
