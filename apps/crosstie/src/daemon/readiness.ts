import { apiVersionOf, type Client, type GroupVersion, groupResource, messageOf } from '@crosstie/kube'
import type { Unready } from './health.js'
import type { ProviderRegistry } from './registry.js'

/** The API is checked at most this often. */
const FRESH_MS = 5_000
const PATIENCE_MS = 4_000

/**
 * Returns a check that reports why controllers cannot work: the API cannot be reached, or does not serve the kinds.
 * Leadership does not matter.
 */
export function unreadyUntilServed(client: Client, { kinds, claims }: ProviderRegistry): Unready {
  const types = [...kinds.map(({ type }) => type), ...claims.map(({ type }) => type)]
  const wanted = new Map(types.map((type) => [apiVersionOf(type), type]))
  let asked: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined
  const ask = async (): Promise<string | undefined> => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const read = async (where: GroupVersion) => await client.discover(where, { signal })
    try {
      const served = (await Promise.all([...wanted.values()].map(read))).flat().map(groupResource)
      const missing = types.map(groupResource).filter((name) => !served.includes(name))
      if (missing.length === 0) return undefined
      return `the API does not serve ${missing[0]}${missing.length > 1 ? ` and ${missing.length - 1} more kinds` : ''}: apply what 'crosstie manifests --only crds' prints`
    } catch (error) {
      return `the API cannot be reached: ${messageOf(error)}`
    }
  }
  return () => {
    if (!asked || Date.now() - asked.at > FRESH_MS) asked = { at: Date.now(), answer: ask() }
    return asked.answer
  }
}
