import type { HttpClient } from '@crosstie/controller'
import { apiVersionOf, groupKind, groupResource, parseApiVersion, type ResourceType } from '@crosstie/kube'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'

/** A kind of the server, with its names. */
export interface ServedKind extends ResourceType {
  readonly singular: string
  readonly shortNames: readonly string[]
  /** Categories that include this kind, such as `managed`. */
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
}

/** An object or a kind that the command line names. */
export interface Target {
  readonly kind: ServedKind
  /** The name. Absent: all objects of the kind. */
  readonly name?: string
}

interface DiscoveryList {
  readonly kind?: string
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly resources?: readonly DiscoveredResource[]
    }[]
  }[]
}

interface DiscoveredResource {
  readonly resource: string
  readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind?: string }
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
}

const DISCOVERY = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',')

/** Reads the kinds of the server, built-in and custom. */
export async function readKinds(client: HttpClient, signal?: AbortSignal): Promise<Kinds> {
  const read = (path: string) =>
    client.read<DiscoveryList>(path, { accept: `${DISCOVERY},application/json`, ...(signal ? { signal } : {}) })
  const lists = await Promise.all([read('/api'), read('/apis')])
  if (lists.some(({ kind }) => kind !== 'APIGroupDiscoveryList')) {
    throw new Error('the server does not tell all its kinds at once: it is older than Kubernetes 1.27')
  }
  return new Kinds(lists.flatMap(kindsIn))
}

function kindsIn({ items = [] }: DiscoveryList): readonly ServedKind[] {
  return items.flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.map((found) => ({
        group: metadata?.name ?? '',
        version,
        kind: found.responseKind?.kind ?? found.resource,
        resource: found.resource,
        namespaced: found.scope === 'Namespaced',
        singular: found.singularResource || (found.responseKind?.kind ?? '').toLowerCase(),
        shortNames: found.shortNames ?? [],
        categories: found.categories ?? [],
        verbs: found.verbs ?? [],
      })),
    ),
  )
}

/** The kinds of a server, by their names. */
export class Kinds {
  /** Every kind once, in the preferred version of the server. */
  readonly all: readonly ServedKind[]
  readonly #versions: readonly ServedKind[]

  constructor(versions: readonly ServedKind[]) {
    this.#versions = versions
    const seen = new Set<string>()
    this.all = versions.filter((kind) => {
      const name = groupResource(kind)
      return !seen.has(name) && seen.add(name)
    })
  }

  /** Returns the kind of an object, or undefined if the server does not serve it. */
  of({ apiVersion, kind }: { readonly apiVersion?: string; readonly kind?: string }): ServedKind | undefined {
    return this.#versions.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  }

  /** Returns the kind of a reference in any version. */
  ofAnyVersion({ apiVersion = '', kind }: { readonly apiVersion?: string; readonly kind?: string }) {
    const group = parseApiVersion(apiVersion)?.group
    return (
      this.of({ apiVersion, ...(kind ? { kind } : {}) }) ?? this.all.find((k) => k.kind === kind && k.group === group)
    )
  }

  /**
   * Finds one kind: `vpc`, `vpcs`, `VPC`, a short name, `vpcs.ec2.aws.crossplane.io` or
   * `vpcs.v1beta1.ec2.aws.crossplane.io`. Throws a usage error.
   */
  one(word: string): ServedKind {
    const found = this.find(word)
    if (found) return found
    const many = this.#inCategory(word)
    if (many.length > 0) {
      throw new UsageError(`'${word}' means ${many.length} kinds; one is needed, such as ${groupResource(many[0]!)}`)
    }
    throw new UsageError(
      `the server has no kind '${word}'.${didYouMean(word, this.words())} 'crosstie kinds' lists what it has`,
    )
  }

  /** Finds kinds: one, several separated by commas, or a category such as `managed`. Throws a usage error. */
  some(word: string): readonly ServedKind[] {
    const kinds = word
      .split(',')
      .filter(Boolean)
      .flatMap((each) => {
        const category = this.find(each) ? [] : this.#inCategory(each)
        return category.length > 0 ? category : [this.one(each)]
      })
    if (kinds.length === 0) throw new UsageError(`'${word}' names no kind`)
    return kinds
  }

  /** Finds a kind. Returns undefined if no kind has the name. Throws if it is ambiguous and none is built in. */
  find(word: string): ServedKind | undefined {
    const asked = word.toLowerCase()
    const exact = this.#versions.find((kind) => namesWithVersion(kind).includes(asked))
    const candidates = exact ? [exact] : this.all.filter((kind) => namesOf(kind).includes(asked))
    // Built-in kinds win, as with kubectl; the core group first.
    const best = candidates.find(({ group }) => group === '') ?? candidates.find(({ group }) => isBuiltIn(group))
    if (best || candidates.length < 2) return best ?? candidates[0]
    const list = candidates.map((kind) => `  ${groupResource(kind)}`).join('\n')
    throw new UsageError(`'${word}' is ambiguous; use one of:\n${list}`)
  }

  /** Returns only the kinds of a category such as `managed`. */
  within(category: string): Kinds {
    return new Kinds(this.#versions.filter(({ categories }) => categories.includes(category)))
  }

  /**
   * Returns a suggestion for a missing object: objects of the same name of kinds with the same name. Empty if none
   * exist.
   */
  namesakes(kind: ServedKind, name: string): string {
    const others = this.all.filter(
      (each) => each.singular === kind.singular && each.group !== kind.group && !isBuiltIn(each.group),
    )
    const named = others.map(({ group, singular }) => `${groupResource({ group, resource: singular })}/${name}`)
    return named.length > 0 ? `. Did you mean ${named.join(' or ')}?` : ''
  }

  /** Returns all names, for suggestions and completions. */
  words(): readonly string[] {
    const categories = this.all.flatMap((kind) => kind.categories)
    return [...new Set([...this.all.flatMap(({ resource, singular }) => [resource, singular]), ...categories])]
  }

  /** Parses `KIND`, `KIND NAME...` and `KIND/NAME...`. Throws a usage error. */
  targets(words: readonly string[]): readonly Target[] {
    if (words.length === 0) throw new UsageError('name a kind, such as `managed`, or KIND/NAME')
    if (words.some((word) => word.includes('/'))) return words.map((word) => this.#target(word))
    const [kinds, ...names] = words
    return this.some(kinds!).flatMap((kind) =>
      names.length === 0 ? [{ kind }] : names.map((name) => ({ kind, name })),
    )
  }

  /** Parses `KIND/NAME` or `KIND NAME`. Throws a usage error. */
  target(words: readonly string[]): Required<Target> {
    const { kind, name } = parseObject(words)
    return { kind: this.one(kind), name }
  }

  #target(word: string): Target {
    const [kind = '', name = '', ...more] = word.split('/')
    if (!kind || !name || more.length > 0) throw new UsageError(`'${word}' is not KIND/NAME, such as secret/login`)
    return { kind: this.one(kind), name }
  }

  #inCategory(word: string): readonly ServedKind[] {
    const asked = word.toLowerCase()
    return this.all.filter(({ categories }) => categories.includes(asked))
  }
}

function namesOf({ group, kind, resource, singular, shortNames }: ServedKind): readonly string[] {
  const names = [resource, singular, kind.toLowerCase(), ...shortNames]
  return group === '' ? names : [...names, ...names.map((name) => `${name}.${group}`)]
}

function namesWithVersion({ group, version, kind, resource, singular }: ServedKind): readonly string[] {
  return [resource, singular, kind.toLowerCase()].map((name) => `${name}.${version}${group && `.${group}`}`)
}

/** Reports whether a group belongs to Kubernetes: it has no dot, or ends in its domain. */
export const isBuiltIn = (group: string): boolean => !group.includes('.') || group.endsWith('.k8s.io')

/** Returns the name of a kind for messages: `VPC`, or `VPC.ec2.aws.crossplane.io` if it is ambiguous. */
export const kindName = (kind: ResourceType): string => groupKind(kind)

/** Parses `vpc/main` or `vpc main`. */
function parseObject(words: readonly string[]): { readonly kind: string; readonly name: string } {
  const [kind, name, ...more] = words.length === 1 ? words[0]!.split('/') : words
  if (!kind || !name || more.length > 0) throw new UsageError('name an object as KIND/NAME, such as mysqlinstance/sql')
  return { kind, name }
}

/** Reports whether a word names a kind, in any case: `vpc`, `vpcs` or `vpcs.ec2.aws.crossplane.io`. */
export function isCalled({ kind, resource, group }: ResourceType, word: string): boolean {
  const asked = word.toLowerCase()
  const names = [kind.toLowerCase(), resource]
  return names.some((name) => asked === name || asked === `${name}.${group}`)
}
