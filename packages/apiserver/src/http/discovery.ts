import { createHash } from 'node:crypto'
import { apiVersionOf } from '@crosstie/kube'
import type { Definition, Version } from '../definitions/definition.js'
import { byPriority } from '../definitions/versions.js'
import type { KindRegistry } from '../serving/registry.js'

// The order of groups in kube-apiserver. Groups of CRDs follow by name.
const groupOrder = [
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'rbac.authorization.k8s.io',
  'coordination.k8s.io',
]

interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** Returns groups with their served versions, the preferred version first. */
export function groupsOf(registry: KindRegistry): readonly Group[] {
  const versions = new Map<string, Set<string>>()
  for (const { group, versions: served } of registry.definitions()) {
    if (group === '') continue
    const known = versions.get(group) ?? new Set()
    for (const { name } of served) known.add(name)
    versions.set(group, known)
  }
  return [...versions]
    .filter(([, names]) => names.size > 0)
    .map(([name, names]) => ({ name, versions: [...names].sort(byPriority) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1))
}

function rank(group: string): number {
  const place = groupOrder.indexOf(group)
  return place < 0 ? groupOrder.length : place
}

/** The document at /api. */
export function apiVersions(serverAddress: string): unknown {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** The document at /apis. */
export function apiGroupList(registry: KindRegistry): unknown {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(registry).map(groupBody) }
}

/** The document at /apis/GROUP. Undefined for a group that is not served. */
export function apiGroup(registry: KindRegistry, name: string): unknown {
  const group = groupsOf(registry).find((candidate) => candidate.name === name)
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(group) }
}

function groupBody({ name, versions }: Group) {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: all, preferredVersion: all[0] }
}

/** The document at /apis/GROUP/VERSION. Undefined for a version that is not served. */
export function apiResourceList(registry: KindRegistry, group: string, version: string): unknown {
  const definitions = servedIn(registry, group, version)
  if (definitions.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    // The core group has never had this field.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: definitions.flatMap((definition) => resourcesOf(definition, version)),
  }
}

function servedIn(registry: KindRegistry, group: string, version: string): readonly Definition[] {
  return registry
    .definitions()
    .filter((one) => one.group === group && one.versions.some(({ name }) => name === version))
    .sort((a, b) => (a.names.plural < b.names.plural ? -1 : 1))
}

function verbsOf({ verbs, strategy }: Definition): readonly string[] {
  return strategy.discoveryVerbs.filter((verb) => verbs.includes(verb))
}

function resourcesOf(definition: Definition, versionName: string): unknown[] {
  const { names, namespaced } = definition
  const version = versionOf(definition, versionName)
  const below = subresourcesOf(definition, version).map(({ name, kind, verbs, group, version: of }) => ({
    name: `${names.plural}/${name}`,
    singularName: '',
    namespaced,
    ...(group === undefined ? {} : { group, version: of }),
    kind,
    verbs,
  }))
  return [mainResource(definition), ...below]
}

function mainResource(definition: Definition): unknown {
  const { names, namespaced } = definition
  return {
    name: names.plural,
    singularName: names.singular,
    namespaced,
    kind: names.kind,
    verbs: verbsOf(definition),
    ...(names.shortNames.length > 0 ? { shortNames: names.shortNames } : {}),
    ...(names.categories.length > 0 ? { categories: names.categories } : {}),
    ...(definition.verbs.includes('list') ? { storageVersionHash: storageVersionHash(definition) } : {}),
  }
}

interface Subresource {
  readonly name: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly group?: string
  readonly version?: string
}

/** Returns the subresources of a version as discovery lists them. */
export function subresourcesOf({ names }: Definition, { subresources }: Version): readonly Subresource[] {
  const verbs = ['get', 'patch', 'update']
  const list: Subresource[] = []
  if (subresources.status) list.push({ name: 'status', kind: names.kind, verbs })
  if (subresources.scale) list.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs })
  if (subresources.finalize) list.unshift({ name: 'finalize', kind: names.kind, verbs: ['update'] })
  if (subresources.token) {
    list.push({ name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] })
  }
  return list
}

function versionOf(definition: Definition, name: string): Version {
  return definition.versions.find((version) => version.name === name)!
}

/**
 * Clients compare it with the hash of other servers of the same cluster, so the algorithm is that of
 * kube-apiserver.
 */
function storageVersionHash({ group, storage, names }: Definition): string {
  const digest = createHash('sha256').update(`${group}/${storage}/${names.kind}`).digest()
  return digest.subarray(0, 8).toString('base64')
}

/** apidiscovery.k8s.io/v2: all resources in one document, for /api (core) or /apis. */
export function aggregatedDiscovery(registry: KindRegistry, core: boolean, apiVersion: string): unknown {
  const groups = core ? [{ name: '', versions: ['v1'] }] : groupsOf(registry)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => ({
        version,
        resources: servedIn(registry, name, version).map((one) => aggregatedResource(one, version)),
        freshness: 'Current',
      })),
    })),
  }
}

function aggregatedResource(definition: Definition, versionName: string): unknown {
  const { group, names, namespaced } = definition
  const version = versionOf(definition, versionName)
  const own = definition.strategy.discoveryNamesGroup ? { group, version: versionName } : { group: '', version: '' }
  const kindOf = (kind: string, of = own) => ({ ...of, kind })
  const below = subresourcesOf(definition, version).map(({ name, kind, verbs, group: g, version: v }) => ({
    subresource: name,
    responseKind: kindOf(kind, g === undefined ? undefined : { group: g, version: v! }),
    verbs,
  }))
  return {
    resource: names.plural,
    responseKind: kindOf(names.kind),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: names.singular,
    verbs: verbsOf(definition),
    ...(names.shortNames.length > 0 ? { shortNames: names.shortNames } : {}),
    ...(names.categories.length > 0 ? { categories: names.categories } : {}),
    ...(below.length > 0 ? { subresources: below } : {}),
  }
}
