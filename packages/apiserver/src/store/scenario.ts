import type { KubeObject } from '@crosstie/kube'
import type { Store, Write } from './store.js'

/** Returns a small object. */
export const thing = (name: string, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'test/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
})

/** Returns a write of an object. */
export const put = (
  key: string,
  spec: Record<string, unknown> = {},
  expect: number | 'absent' | 'any' = 'any',
): Write => ({ do: 'put', key, object: thing(key.split('/').at(-1)!, spec), expect })

/** Returns a write that creates an object. */
export const create = (key: string, spec?: Record<string, unknown>): Write => put(key, spec, 'absent')

/** Returns a write that deletes an object. */
export const remove = (key: string, expect: number | 'any' = 'any'): Write => ({ do: 'delete', key, expect })

/** Returns the keys of a page. */
export const keysOf = (page: { readonly items: readonly { readonly key: string }[] }): string[] =>
  page.items.map(({ key }) => key)

/** Returns the spec of a stored object. */
export const specOf = (stored: { readonly object: KubeObject } | undefined): unknown => stored?.object['spec']

/** Returns everything that readers see, for comparisons. */
export const stateOf = (store: Store): [string, string][] =>
  store.list('').items.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])
