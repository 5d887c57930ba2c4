/** Where a request leads: a resource, a collection of resources, or an action on a resource. */
export interface Target {
  readonly subscription: string
  readonly group?: string
  /** `Microsoft.Network`; undefined for resource groups. */
  readonly namespace?: string
  /** `['virtualNetworks', 'subnets']`. */
  readonly types: readonly string[]
  readonly names: readonly string[]
  /** The last word of the path, when it is neither a type nor a name: `listKeys`. */
  readonly action?: string
  /** The path names all resources of the last type. */
  readonly collection: boolean
}

const PROVIDER = /^\/subscriptions\/([^/]+)(?:\/resourceGroups\/([^/]+))?\/providers\/([^/]+)\/(.+)$/i
const GROUP = /^\/subscriptions\/([^/]+)\/resourceGroups(?:\/([^/]+))?$/i

/** Undefined when the path does not lead to resources. */
export function parseTarget(path: string, method: string): Target | undefined {
  const inProvider = PROVIDER.exec(path)
  if (inProvider) {
    const [, subscription = '', group, namespace = '', rest = ''] = inProvider
    const words = rest.split('/').map(decodeURIComponent)
    const odd = words.length % 2 === 1
    const isAction = odd && method === 'POST'
    const pairs = isAction ? words.slice(0, -1) : words
    return {
      subscription,
      ...(group ? { group: decodeURIComponent(group) } : {}),
      namespace,
      types: pairs.filter((_, i) => i % 2 === 0),
      names: pairs.filter((_, i) => i % 2 === 1),
      ...(isAction ? { action: words.at(-1) ?? '' } : {}),
      collection: odd && !isAction,
    }
  }
  const inGroups = GROUP.exec(path)
  if (!inGroups) return undefined
  const [, subscription = '', group] = inGroups
  return {
    subscription,
    ...(group ? { group: decodeURIComponent(group) } : {}),
    types: ['resourceGroups'],
    names: group ? [decodeURIComponent(group)] : [],
    collection: group === undefined,
  }
}

/** `Microsoft.Network/virtualNetworks/subnets`. */
export const typeOf = ({ namespace = 'Microsoft.Resources', types }: Target): string => [namespace, ...types].join('/')

/** The id of the resource, as Azure writes it. */
export function idOf({ subscription, group, namespace, types, names }: Target): string {
  const base = `/subscriptions/${subscription}${group ? `/resourceGroups/${group}` : ''}`
  if (!namespace) return base
  const pairs = types.flatMap((type, i) => (names[i] === undefined ? [] : [type, names[i]]))
  return `${base}/providers/${namespace}/${pairs.join('/')}`
}

/** The resource that a child belongs to; undefined for those on the top level. */
export function parentOf(target: Target): Target | undefined {
  if (!target.namespace || target.types.length < 2) return undefined
  return { ...target, types: target.types.slice(0, -1), names: target.names.slice(0, target.types.length - 1) }
}

export const lastName = ({ names }: Target): string => names.at(-1) ?? ''
