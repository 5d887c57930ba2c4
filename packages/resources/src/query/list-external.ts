import { type Client, type KubeObject, messageOf } from '@crosstie/kube'
import type { Present } from '../definition/external.js'
import type { ManagedKind } from '../definition/managed.js'
import { identifiersOf } from '../definition/query.js'
import { type Budgets, unlimited } from '../external/budget.js'
import { readProviderConfig, type Surroundings } from '../providerconfig/use.js'
import { Redactor } from '../status/redact.js'

type Values = Readonly<Record<string, unknown>>

/** The dependencies of calls to a provider. */
export interface ProviderAccess {
  readonly client: Client
  readonly surroundings: Surroundings
  readonly budgets: Budgets
  /** Called after each call to the provider. */
  readonly called?: (kind: ManagedKind, call: string, failed: boolean) => void
}

/** A listed external resource. It always has a name. */
export interface NamedResource extends Present {
  readonly externalName: string
}

/**
 * Lists the external resources of a kind in one location, sorted by name. The location is given by the identifiers
 * and the ProviderConfig of an object. Errors contain no secrets.
 */
export async function listExternal(
  reach: ProviderAccess,
  kind: ManagedKind,
  place: KubeObject,
  signal: AbortSignal,
): Promise<readonly NamedResource[]> {
  const { list } = kind.external
  if (!list) throw new Error(`the API of ${kind.type.kind} cannot list`)
  const spec = (place['spec'] ?? {}) as { forProvider?: Values; providerConfigRef?: { name?: string } }
  const { forProvider = {}, providerConfigRef: { name = 'default' } = {} } = spec
  const secrets = new Redactor()
  try {
    const config =
      kind.providerConfig &&
      (await readProviderConfig(reach.client, kind.providerConfig, name, reach.surroundings, signal))
    if (config?.credentials) secrets.addDocument(config.credentials)
    // A list is a single request, so change notifications are not needed.
    const context = { managed: place, api: reach.client, follow: () => {}, trackChanges: () => () => {}, signal }
    const client = await kind.external.connect({ ...context, config })
    try {
      const budget = (kind.unmetered ? unlimited : reach.budgets).of(spec.providerConfigRef?.name ?? '')
      await budget.take(signal)
      const answer = await list.call(kind.external, { client, forProvider, signal }).then(
        (found) => {
          budget.note()
          reach.called?.(kind, 'List', false)
          return found
        },
        (error) => {
          budget.note(error)
          reach.called?.(kind, 'List', true)
          throw error
        },
      )
      return inPlace(kind, forProvider, answer)
    } finally {
      await (client as Partial<AsyncDisposable> | null | undefined)?.[Symbol.asyncDispose]?.()
    }
  } catch (error) {
    const message = `cannot list ${kind.type.kind}: ${secrets.redact(messageOf(error))}`
    throw new Error(message, secrets.redact(messageOf(error)) === messageOf(error) ? { cause: error } : {})
  }
}

/** Removes resources of other locations, which some APIs list too, and duplicates. */
function inPlace(kind: ManagedKind, forProvider: Values, found: readonly Present[]): readonly NamedResource[] {
  const identifiers = Object.keys(identifiersOf(kind.parameters))
  const here = ({ atProvider }: Present) =>
    identifiers.every((name) => atProvider[name] === undefined || atProvider[name] === forProvider[name])
  const named = found.filter((each): each is NamedResource => Boolean(each.externalName) && here(each))
  const byName = new Map(named.map((each) => [each.externalName, each]))
  return [...byName.values()].sort((a, b) => (a.externalName < b.externalName ? -1 : 1))
}
