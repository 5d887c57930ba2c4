/*
 * Requests within the size limit that are as expensive as a client can choose. They run against the embedded server
 * (`heavy.test.ts`) and against kube-apiserver (`side-by-side.ts`).
 */

/** The namespace of the tenant. */
export const NAMESPACE = 'tenant'
/** The path of the tenant's ConfigMaps. */
export const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
/** The path of the tenant's Secrets. */
export const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
/** The path of the tenant's Things. */
export const THINGS = `/apis/heavy.example.org/v1/namespaces/${NAMESPACE}/things`
/** The path of the CustomResourceDefinitions. */
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The path of the SelfSubjectAccessReviews. */
export const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
/** The path of the tenant's Roles. */
export const ROLES = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`

/** An expensive request. */
export interface Attack {
  /** `tenant` has the role `admin` in its namespace and may write things there. */
  readonly as: 'tenant' | 'administrator'
  readonly path: string
  readonly body?: () => unknown
  readonly method?: string
  readonly type?: string
  readonly accept?: string
  /** The object that must exist before. */
  readonly seed?: { readonly path: string; readonly body: () => unknown }
  /** The expected status code of the embedded server. */
  readonly status: number
  /** The status code of kube-apiserver, where it differs. */
  readonly upstream?: number
  readonly message?: RegExp
}

/** Just below the limit of fields in one object. */
export const COUNT = 59_000

/** Returns an object with `count` entries. */
export const many = <T>(count: number, value: (i: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => value(i)))
/** Returns an array with `count` items. */
export const list = <T>(count: number, value: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => value(i))
/** Returns a ConfigMap. */
export const map = (metadata: object, rest: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest })
/** Returns a Thing. */
export const thing = (metadata: object, spec: object = {}) => ({
  apiVersion: 'heavy.example.org/v1',
  kind: 'Thing',
  metadata,
  spec,
})
/** Returns an owner reference. */
export const owner = (i: number) => ({ apiVersion: 'v1', kind: 'X', name: `n${i}`, uid: `u${i}` })
/** Returns a Thing as YAML. */
export const yaml = (name: string, body: string) =>
  `apiVersion: heavy.example.org/v1\nkind: Thing\nmetadata: {name: ${name}}\nspec:\n  any:\n${body}`
/** Returns nested brackets of a depth. */
export const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
/** The content type of a strategic merge patch. */
export const STRATEGIC = 'application/strategic-merge-patch+json'
/** The content type of a JSON merge patch. */
export const MERGE = 'application/merge-patch+json'
/** The content type of a JSON patch. */
export const JSON_PATCH = 'application/json-patch+json'
/** The content type of a server-side apply patch. */
export const APPLY = 'application/apply-patch+yaml'

/** Runs the attack as the tenant. */
export const tenant = { as: 'tenant' } as const
/** Runs the attack as the administrator. */
export const administrator = { as: 'administrator' } as const
