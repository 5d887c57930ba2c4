/** The identity of a kind in URLs and in objects. */
export interface ResourceType {
  /** The API group. Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural name in URLs, such as `secrets`. */
  readonly resource: string
  readonly namespaced: boolean
}

/** An API group and a version. */
export interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** An API group, a version and a kind. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

/** Formats the apiVersion of a group and version. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** Parses an apiVersion. Returns undefined if the text is not valid. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split('/')
  if (parts.length === 1) return { group: '', version: parts[0]! }
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! }
  return undefined
}

/** Formats a resource as messages name it: `secrets` or `certificates.example.org`. */
export function groupResource({ group, resource }: { group: string; resource: string }): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** Formats a kind as messages name it: `Secret` or `Certificate.example.org`. */
export function groupKind({ group, kind }: { group: string; kind: string }): string {
  return group === '' ? kind : `${kind}.${group}`
}
