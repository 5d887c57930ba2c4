import type { KubeObject } from '@crosstie/kube'
import type { Store, Write } from './store.js'

/** A small object for tests. */
export const thing = (name: string, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'test/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
})

export const put = (
  key: string,
  spec: Record<string, unknown> = {},
  expect: number | 'absent' | 'any' = 'any',
): Write => ({ do: 'put', key, object: thing(key.split('/').at(-1)!, spec), expect })

export const create = (key: string, spec?: Record<string, unknown>): Write => put(key, spec, 'absent')

export const remove = (key: string, expect: number | 'any' = 'any'): Write => ({ do: 'delete', key, expect })

export const keysOf = (page: { readonly items: readonly { readonly key: string }[] }): string[] =>
  page.items.map(({ key }) => key)

export const specOf = (stored: { readonly object: KubeObject } | undefined): unknown => stored?.object['spec']

/** All that readers see, to be compared. */
export const stateOf = (store: Store): [string, string][] =>
  store.list('').items.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])
