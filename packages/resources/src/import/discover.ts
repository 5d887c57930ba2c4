import {
  apiVersionOf,
  type Client,
  groupResource,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import type { ManagedKind } from '../definition/managed.js'
import { identifiersOf } from '../definition/query.js'
import { policiesOf } from '../managed/policy/policy.js'
import { managedSpecOf } from '../managed/reconciliation.js'
import { annotations, externalNameOf, isDeleted, isQueried } from '../metadata/metadata.js'
import { FilterError, fieldFilter } from '../query/filter.js'
import { listExternal, type NamedResource, type ProviderAccess } from '../query/list-external.js'
import { mark, nameFor, readable } from '../query/names.js'
import { Links, linked, referencesOf } from './link.js'
import { DiscoverError, type Identifiers, type Known, placesOf, type Values } from './places.js'

/** Discovery of existing external resources, and manifests that observe them without changes (OBS2). */

/** The options of `discover`. */
export interface DiscoverOptions {
  readonly reach: ProviderAccess
  /** The kinds to discover. */
  readonly kinds: readonly ManagedKind[]
  /** All kinds of the provider. The locations of a kind may be resources of another kind. */
  readonly known: readonly ManagedKind[]
  readonly identifiers: Identifiers
  readonly providerConfig: string
  readonly filters: readonly FieldMatch[]
  /**
   * Called for a kind that could not be listed; discovery continues with the other kinds. If absent, the error is
   * thrown.
   */
  readonly failed?: (kind: ManagedKind, error: unknown) => void
  /** Called before each location is listed. */
  readonly looking?: (kind: ManagedKind, place: Values) => void
}

/** A filter such as `tags.team=payments`, or its negation with `!=`. */
export interface FieldMatch {
  readonly path: string
  readonly wanted: string
  readonly not: boolean
}

/** A discovered external resource. */
export interface Discovered extends Known {
  readonly kind: ManagedKind
  readonly externalName: string
  /** The object on the server that already represents the resource, if any. */
  readonly by?: { readonly name: string; readonly manages: boolean }
}

/** Discovers external resources, sorted by kind, location and name. It writes nothing. */
export async function discover(options: DiscoverOptions, signal: AbortSignal): Promise<readonly Discovered[]> {
  const { kinds, filters, failed } = options
  for (const kind of kinds) {
    if (!kind.query) throw new DiscoverError(`the API of ${kind.type.kind} cannot list, so nothing can be discovered`)
  }
  const matches = filterFor(kinds, filters)
  const search = new Search(options, signal)
  const chosen: Found[] = []
  for (const kind of kinds) {
    try {
      chosen.push(...(await search.of(kind)).filter((found) => matches(kind, found.listed)))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DiscoverError || !failed) throw error
      failed(kind, error)
    }
  }
  const shown = await search.withObjects(chosen)
  const others = await search.standing(targetsOf(kinds))
  const links = new Links([...shown, ...others])
  return shown.map((found) => (found.by ? found : { ...found, object: linked(found, links) }))
}

interface Found {
  readonly kind: ManagedKind
  readonly identifiers: Values
  readonly listed: NamedResource
}

type Standing = Known & { readonly name: string; readonly manages: boolean }

/** One discovery. Each list is requested once from the provider and once from the server. */
class Search {
  readonly #found = new Map<ManagedKind, Promise<readonly Found[]>>()
  readonly #standing = new Map<string, Promise<readonly Standing[]>>()

  constructor(
    private readonly options: DiscoverOptions,
    private readonly signal: AbortSignal,
  ) {}

  of(kind: ManagedKind): Promise<readonly Found[]> {
    let found = this.#found.get(kind)
    if (!found) {
      found = this.#look(kind)
      this.#found.set(kind, found)
    }
    return found
  }

  async #look(kind: ManagedKind): Promise<readonly Found[]> {
    const { reach, identifiers, known, looking } = this.options
    const places = await placesOf(kind, identifiers, async (type) => {
      const target = known.find((each) => groupResource(each.type) === groupResource(type))
      if (!target?.query) return await this.standing([type])
      return (await this.of(target)).map((found) => ({
        type,
        identifiers: found.identifiers,
        object: this.#manifest(found, nameFor(found.listed.externalName)),
      }))
    })
    const all: Found[] = []
    for (const place of places) {
      looking?.(kind, place)
      const stand = this.#object(kind, place, { name: 'discover' })
      const listed = await listExternal(reach, kind, stand, this.signal)
      all.push(...listed.map((each) => ({ kind, identifiers: place, listed: each })))
    }
    return all
  }

  /** Returns the objects of some kinds that exist on the server. */
  async standing(types: readonly ResourceType[]): Promise<readonly Standing[]> {
    const unique = new Map(types.map((type) => [groupResource(type), type]))
    return (await Promise.all([...unique.values()].map((type) => this.#objectsOf(type)))).flat()
  }

  #objectsOf(type: ResourceType): Promise<readonly Standing[]> {
    const key = groupResource(type)
    let objects = this.#standing.get(key)
    if (!objects) {
      objects = this.#read(type)
      this.#standing.set(key, objects)
    }
    return objects
  }

  async #read(type: ResourceType): Promise<readonly Standing[]> {
    const kind = this.options.known.find((each) => groupResource(each.type) === groupResource(type))
    const items = await itemsOf(this.options.reach.client, type, this.signal)
    // Objects of a query are deleted with the query and manage nothing, so they must not be referenced.
    return items
      .filter((object) => !isQueried(object) && !isDeleted(object))
      .map((object) => {
        const spec = managedSpecOf(object)
        const { may } = policiesOf(spec, { gate: true, hasDeletionPolicy: kind?.hasDeletionPolicy ?? true })
        const named = externalNameOf(object) || (kind?.naming === 'user-chosen' ? object.metadata.name! : '')
        return {
          type,
          identifiers: kind ? identifiersIn(kind, spec.forProvider ?? {}) : {},
          object: withName(object, named),
          name: object.metadata.name!,
          manages: may.create || may.update || may.delete,
        }
      })
  }

  /** Adds to each resource its existing object, or a manifest with a unique name. */
  async withObjects(found: readonly Found[]): Promise<readonly Discovered[]> {
    const standing = await this.standing(found.map(({ kind }) => kind.type))
    const taken = new Set(standing.map(({ type, name }) => `${groupResource(type)}/${name}`))
    const wanted = new Map<string, number>()
    const nameIn = (each: Found, name: string) => `${groupResource(each.kind.type)}/${name}`
    for (const each of found) {
      const name = nameIn(each, preferredName(each))
      wanted.set(name, (wanted.get(name) ?? 0) + 1)
    }
    return found.map((each) => {
      const { kind, identifiers, listed } = each
      const known = { type: kind.type, kind, identifiers, externalName: listed.externalName }
      const by = standing.find((other) => this.#standsFor(other, each))
      if (by) return { ...known, object: seen(by.object, listed), by: { name: by.name, manages: by.manages } }
      const preferred = preferredName(each)
      const alone = wanted.get(nameIn(each, preferred)) === 1 && !taken.has(nameIn(each, preferred))
      return { ...known, object: this.#manifest(each, alone ? preferred : markedName(each)) }
    })
  }

  #standsFor({ type, identifiers, object }: Standing, { kind, identifiers: place, listed }: Found): boolean {
    const spec = managedSpecOf(object)
    return (
      groupResource(type) === groupResource(kind.type) &&
      externalNameOf(object) === listed.externalName &&
      Object.keys(place).every((name) => identifiers[name] === place[name]) &&
      (!kind.providerConfig || (spec.providerConfigRef?.name ?? 'default') === this.options.providerConfig)
    )
  }

  #manifest({ kind, identifiers, listed }: Found, name: string): KubeObject {
    const notes = { [annotations.externalName]: listed.externalName }
    return seen(this.#object(kind, identifiers, { name, annotations: notes }), listed)
  }

  #object(kind: ManagedKind, forProvider: Values, metadata: KubeObject['metadata']): KubeObject {
    const { providerConfig } = this.options
    return {
      apiVersion: apiVersionOf(kind.type),
      kind: kind.type.kind,
      metadata,
      spec: {
        managementPolicies: ['Observe'],
        forProvider,
        ...(kind.providerConfig ? { providerConfigRef: { name: providerConfig } } : {}),
      },
    }
  }
}

const PAGE = 500

/** Returns all objects of a kind. Returns none if the server does not serve the kind. */
async function itemsOf(client: Client, type: ResourceType, signal: AbortSignal): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = []
  let token: string | undefined
  try {
    do {
      const page = await client.list(type, { limit: PAGE, ...(token ? { continue: token } : {}), signal })
      items.push(...page.items)
      token = page.metadata.continue
    } while (token)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return items
}

const identifiersIn = (kind: ManagedKind, forProvider: Values): Values =>
  Object.fromEntries(Object.keys(identifiersOf(kind.parameters)).map((name) => [name, forProvider[name]]))

function withName(object: KubeObject, externalName: string): KubeObject {
  const { metadata } = object
  const notes = { ...metadata.annotations, [annotations.externalName]: externalName }
  return { ...object, metadata: { ...metadata, annotations: notes } }
}

/** Returns the object as it will be once observed, since references may read its status. */
const seen = (object: KubeObject, { atProvider }: NamedResource): KubeObject => ({ ...object, status: { atProvider } })

/**
 * Returns the external name if it is readable. Otherwise returns a readable name with a suffix, since names from
 * tags are not unique.
 */
function preferredName(found: Found): string {
  const { externalName } = found.listed
  return calledByTag(found) || /[:/]/.test(externalName) ? markedName(found) : nameFor(externalName)
}

function markedName(found: Found): string {
  const { externalName } = found.listed
  const last = externalName.split(/[:/]/).findLast(Boolean) ?? ''
  const places = Object.entries(found.identifiers).map(([name, value]) => `${name}=${value}`)
  return [calledByTag(found) || readable(last), mark(externalName, ...places)].filter(Boolean).join('-')
}

/** Returns the name from the tag `Name`, since an assigned id is not meaningful. */
function calledByTag({ kind, listed }: Found): string {
  if (kind.naming !== 'provider-assigned' || !kind.tags) return ''
  const tags = listed.atProvider[kind.tags.field] as Readonly<Record<string, unknown>> | undefined
  return typeof tags?.['Name'] === 'string' ? readable(tags['Name']) : ''
}

/** Returns a combined filter. Throws FilterError if none of the kinds has a field, which is probably a typo. */
function filterFor(kinds: readonly ManagedKind[], matches: readonly FieldMatch[]) {
  const filters = matches.map(({ path, wanted, not }) => {
    const errors: FilterError[] = []
    const byKind = new Map(
      kinds.flatMap((kind) => {
        try {
          return [[kind, fieldFilter(kind, path, wanted)] as const]
        } catch (error) {
          if (!(error instanceof FilterError)) throw error
          errors.push(error)
          return []
        }
      }),
    )
    if (byKind.size === 0) throw errors[0]!
    return (kind: ManagedKind, found: NamedResource) => (byKind.get(kind)?.(found) ?? false) !== not
  })
  return (kind: ManagedKind, found: NamedResource) => filters.every((matches) => matches(kind, found))
}

/** Returns the kinds that fields of these kinds refer to. */
function targetsOf(kinds: readonly ManagedKind[]): readonly ResourceType[] {
  return kinds.flatMap((kind) => referencesOf(kind).map(({ node }) => node.reference!.to()))
}
