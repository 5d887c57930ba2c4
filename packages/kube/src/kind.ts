/** How a kind is addressed: what its URL and its objects say about it. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural of the URL, such as `secrets`. */
  readonly resource: string
  readonly namespaced: boolean
}

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** Undefined when the text is no apiVersion. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split('/')
  if (parts.length === 1) return { group: '', version: parts[0]! }
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! }
  return undefined
}

/** `secrets` or `certificates.example.org`: how messages name a resource. */
export function groupResource({ group, resource }: { group: string; resource: string }): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** `Secret` or `Certificate.example.org`: how messages name a kind. */
export function groupKind({ group, kind }: { group: string; kind: string }): string {
  return group === '' ? kind : `${kind}.${group}`
}
