import type { KubeObject, ObjectKey } from '@crosstie/kube'

/** Returns `namespace/name`, or `name` for a cluster-scoped object. Neither can contain a slash. */
export function keyText({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name
}

/** Returns the key of an object in the form of `keyText`. */
export function keyTextOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace ? `${namespace}/${name}` : name!
}

/** Parses the form of `keyText`. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
