/*
 * Requests within the size limit that are as expensive as a client can choose. They run against the embedded server
 * (`heavy.test.ts`) and against kube-apiserver (`side-by-side.ts`).
 */

export const NAMESPACE = 'tenant'
export const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
export const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
export const THINGS = `/apis/heavy.example.org/v1/namespaces/${NAMESPACE}/things`
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
export const ROLES = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`

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
  /** The answer of the embedded server. */
  readonly status: number
  /** The answer of kube-apiserver, where it differs. */
  readonly upstream?: number
  readonly message?: RegExp
}

/** Just below the limit of fields in one object. */
export const COUNT = 59_000

export const many = <T>(count: number, value: (i: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => value(i)))
export const list = <T>(count: number, value: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => value(i))
export const map = (metadata: object, rest: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest })
export const thing = (metadata: object, spec: object = {}) => ({
  apiVersion: 'heavy.example.org/v1',
  kind: 'Thing',
  metadata,
  spec,
})
export const owner = (i: number) => ({ apiVersion: 'v1', kind: 'X', name: `n${i}`, uid: `u${i}` })
export const yaml = (name: string, body: string) =>
  `apiVersion: heavy.example.org/v1\nkind: Thing\nmetadata: {name: ${name}}\nspec:\n  any:\n${body}`
export const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
export const STRATEGIC = 'application/strategic-merge-patch+json'
export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const APPLY = 'application/apply-patch+yaml'

export const tenant = { as: 'tenant' } as const
export const administrator = { as: 'administrator' } as const
