import type { KubeObject } from '@crosstie/kube'

/** Compares two resource versions of the same server, which are increasing numbers. */
export function isEarlier(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}

/** Whether the first object has an earlier resource version than the second. */
export const isOlder = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean =>
  isEarlier(a.resourceVersion ?? '', b.resourceVersion ?? '')
