import type { KubeObject } from '@crosstie/kube'

/** Revisions of one server are numbers that grow. */
export function isEarlier(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}

export const isOlder = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean =>
  isEarlier(a.resourceVersion ?? '', b.resourceVersion ?? '')
