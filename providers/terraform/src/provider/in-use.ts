import { type Client, groupResource, ignoring, isNotFound, type ResourceType } from '@crosstie/kube'
import type { ManagedKind } from '@crosstie/resources/provider'

export const definitionType: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}

const typesOf = ({ type, classType, query }: ManagedKind): readonly ResourceType[] => [
  type,
  classType,
  ...(query ? [query.type] : []),
]

/** Objects, classes and queries of kinds, as text such as `Pet a, b`. */
export async function objectsOf(
  client: Client,
  kinds: readonly ManagedKind[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = await Promise.all(kinds.flatMap(typesOf).map((type) => objectsOfType(client, type, signal)))
  return found.filter((text) => text !== '')
}

const NAMES_MAX = 3

async function objectsOfType(client: Client, type: ResourceType, signal: AbortSignal): Promise<string> {
  const list = await client.list(type, { limit: NAMES_MAX + 1, signal }).catch(ignoring(isNotFound))
  const names = (list?.items ?? []).map(({ metadata }) => metadata.name)
  if (names.length === 0) return ''
  return `${type.kind} ${names.slice(0, NAMES_MAX).join(', ')}${names.length > NAMES_MAX ? ' and others' : ''}`
}

/** Deletes the definitions of kinds. True when none of them is left. */
export async function deleteDefinitions(
  client: Client,
  types: readonly ResourceType[],
  signal: AbortSignal,
): Promise<boolean> {
  const left = await Promise.all(
    types.map(async (type) => {
      const key = { name: groupResource(type) }
      const found = await client.get(definitionType, key, { signal }).catch(ignoring(isNotFound))
      if (found && !found.metadata.deletionTimestamp) {
        await client.delete(definitionType, key, { signal }).catch(ignoring(isNotFound))
      }
      return found !== undefined
    }),
  )
  return !left.includes(true)
}

/** The types of kinds, their classes and queries. */
export const kindTypes = (kinds: readonly ManagedKind[]): readonly ResourceType[] => kinds.flatMap(typesOf)

/**
 * All types that come with kinds, in the order in which their definitions must go. A ProviderConfig is released when its
 * users were counted, so the definition of the users stays until that of the ProviderConfigs is gone.
 */
export function removalOrder(kinds: readonly ManagedKind[]): readonly (readonly ResourceType[])[] {
  const configs = [...new Set(kinds.flatMap(({ providerConfig }) => providerConfig ?? []))]
  return [kindTypes(kinds), configs.map(({ type }) => type), configs.map(({ usageType }) => usageType)]
}
