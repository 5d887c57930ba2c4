import { apiVersionOf, groupResource, messageOf } from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import type { Budgets } from '../external/budget.js'
import { type Discovered, discover } from '../import/discover.js'
import { DiscoverError } from '../import/places.js'
import type { Surroundings } from '../providerconfig/use.js'
import { FilterError } from '../query/filter.js'
import { RequestError, type Rights } from './authorize.js'
import type { DiscoveredItem, DiscoveryRequestSpec, DiscoveryRequestStatus } from './define.js'
import type { PlanningOptions } from './plan.js'

/** The dependencies of answers to DiscoveryRequests. */
export interface DiscoveryOptions extends Pick<PlanningOptions, 'client' | 'budgetsFor'> {
  readonly providers: readonly { readonly name: string; readonly kinds: readonly ManagedKind[] }[]
  readonly surroundings: Surroundings
  /** The budgets of kinds without their own. */
  readonly budgets: Budgets
}

/** The maximum size of an answer. An object may have 1.5 MiB, which leaves room for the rest of the request. */
const BYTES_MAX = 1_000_000

/**
 * Answers a DiscoveryRequest. Lists external resources and the objects that represent them, and writes nothing.
 *
 * @throws RequestError if the requester may not create objects that observe these resources, may not read the
 * ProviderConfig, or if the request is invalid
 */
export async function answerDiscoveryRequest(
  options: DiscoveryOptions,
  spec: DiscoveryRequestSpec,
  rights: Rights,
  signal: AbortSignal,
): Promise<DiscoveryRequestStatus> {
  const { known, kinds } = chosenKinds(options, spec)
  const providerConfig = spec.providerConfig ?? 'default'
  for (const { type, providerConfig: config } of kinds) {
    await rights.require({ verb: 'create', type })
    if (config) await rights.require({ verb: 'get', type: config.type, name: providerConfig })
  }
  const errors: { readonly kind: string; readonly message: string }[] = []
  const budgets = (kinds[0] && options.budgetsFor?.(kinds[0])) ?? options.budgets
  const found = await discover(
    {
      reach: { client: options.client, surroundings: options.surroundings, budgets },
      kinds,
      known,
      identifiers: spec.identifiers ?? {},
      providerConfig,
      filters: spec.filters ?? [],
      failed: ({ type }, error) => errors.push({ kind: groupResource(type), message: messageOf(error) }),
    },
    signal,
  ).catch((error: unknown) => {
    const invalid = error instanceof FilterError || error instanceof DiscoverError
    throw invalid ? new RequestError('InvalidRequest', error.message) : error
  })
  return { ...page(found, spec.continue), ...(errors.length > 0 ? { errors } : {}) }
}

function chosenKinds({ providers }: DiscoveryOptions, { provider, kinds: names = [] }: DiscoveryRequestSpec) {
  const known = providers.find(({ name }) => name === provider)?.kinds ?? []
  if (provider !== undefined && known.length === 0) {
    const running = providers.map(({ name }) => name).join(', ')
    throw new RequestError(
      'InvalidRequest',
      `this control plane does not run the provider ${provider}. It runs ${running}`,
    )
  }
  const all = provider === undefined ? providers.flatMap(({ kinds }) => kinds) : known
  if (names.length === 0) return { known: all, kinds: all.filter(({ query }) => query) }
  return { known: all, kinds: [...new Set(names.map((name) => kindCalled(all, name)))] }
}

/** Returns the kind that a word such as `vpc`, `VPC`, `vpcs` or `vpcs.ec2.aws.crossplane.io` names. */
function kindCalled(kinds: readonly ManagedKind[], word: string): ManagedKind {
  const name = word.toLowerCase()
  const found = kinds.filter(({ type: { kind, resource, group } }) =>
    [kind.toLowerCase(), resource].some((each) => name === each || name === `${each}.${group}`),
  )
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (found.length > 0) {
    const names = found.map(({ type }) => groupResource(type)).join(', ')
    throw new RequestError('InvalidRequest', `'${word}' names several kinds. Choose from ${names}`)
  }
  const names = kinds.flatMap(({ query, type }) => (query ? [type.kind] : [])).join(', ')
  throw new RequestError('InvalidRequest', `unknown managed kind '${word}'. Available: ${names}`)
}

const positionOf = ({ kind, identifiers, externalName }: Discovered): string =>
  JSON.stringify([groupResource(kind.type), Object.values(identifiers), externalName])

/** Returns the part of the list after a position that fits into one object. */
function page(found: readonly Discovered[], after: string | undefined): DiscoveryRequestStatus {
  const position = after === undefined ? -1 : found.findIndex((each) => positionOf(each) === after)
  if (after !== undefined && position < 0) {
    throw new RequestError('InvalidRequest', 'spec.continue is outdated: the list changed. Start again without it')
  }
  const items: DiscoveredItem[] = []
  let bytes = 0
  let last = ''
  for (const each of found.slice(position + 1)) {
    const item = discoveredItem(each)
    bytes += Buffer.byteLength(JSON.stringify(item))
    if (bytes > BYTES_MAX && items.length > 0) {
      return { items, continue: last }
    }
    items.push(item)
    last = positionOf(each)
  }
  return { items }
}

/** Returns an external resource as an item of an answer, without its observed state. */
export function discoveredItem({ kind, externalName, identifiers, object, by }: Discovered): DiscoveredItem {
  const { status: _, ...manifest } = object
  const { type } = kind
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    externalName,
    identifiers,
    manifest: { ...manifest, apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata },
    ...(by ? { object: by } : {}),
  }
}
