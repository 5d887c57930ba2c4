import { groupResource, messageOf } from '@crosstie/kube'
import {
  DiscoverError,
  type Discovered,
  type DiscoveredItem,
  type DiscoveryRequestStatus,
  discover,
  discoveredItem,
  discoveryRequestType,
  type FieldMatch,
  FilterError,
} from '@crosstie/resources'
import { callBudgets } from '../../daemon/budgets.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Input, UsageError } from '../command.js'
import type { Api } from '../shared/access.js'
import { requestAnswer } from '../shared/requests.js'
import { managedKind, surroundings } from './imports.js'

/** A search for external resources, from the command line. */
export interface Search {
  readonly provider: string
  /** Kinds, or the word `all`. */
  readonly kinds: readonly string[]
  readonly providerConfig: string
  readonly identifiers: Readonly<Record<string, readonly string[]>>
  readonly filters: readonly FieldMatch[]
}

/** External resources, and the kinds that could not be listed. */
export interface Findings {
  readonly items: readonly DiscoveredItem[]
  readonly errors: readonly { readonly kind: string; readonly message: string }[]
}

/** Has the control plane list external resources, page by page. */
export async function findByRequest(input: Input, api: Api, search: Search): Promise<Findings> {
  const { kinds, ...rest } = search
  const items: DiscoveredItem[] = []
  const errors = new Map<string, string>()
  let position: string | undefined
  do {
    const spec = { ...rest, kinds: kinds.includes('all') ? [] : kinds, ...(position ? { continue: position } : {}) }
    const answer = await requestAnswer<DiscoveryRequestStatus>(input, api, discoveryRequestType, spec)
    items.push(...(answer.items ?? []))
    for (const { kind, message } of answer.errors ?? []) errors.set(kind, message)
    position = answer.continue
  } while (position !== undefined)
  return { items, errors: [...errors].map(([kind, message]) => ({ kind, message })) }
}

/** Lists external resources in this process, with the credentials that it finds here. */
export async function findHere({ progress, signal }: Input, api: Api, search: Search): Promise<Findings> {
  const { provider, kinds: words, ...rest } = search
  const { kinds: known } = await loadRegistry([provider])
  const listing = known.filter(({ query }) => query)
  const kinds = words.includes('all') ? listing : [...new Set(words.map((word) => managedKind(known, word)))]
  const reach = { client: api.client, surroundings, budgets: callBudgets() }
  const errors: { readonly kind: string; readonly message: string }[] = []
  const options = {
    ...{ reach, kinds, known, ...rest },
    looking: ({ type: { kind } }: { readonly type: { readonly kind: string } }) => progress.say(`listing ${kind}`),
    failed: ({ type }: Discovered['kind'], error: unknown) =>
      errors.push({ kind: groupResource(type), message: messageOf(error) }),
  }
  const found = await discover(options, signal).catch((error: unknown) => {
    if (error instanceof FilterError || error instanceof DiscoverError) throw new UsageError(error.message)
    throw error
  })
  return { items: found.map(discoveredItem), errors }
}
