import { getOwn, isObject, type KubeObject, setOwn } from '@crosstie/kube'

const parts = (path: string) => path.split('.').filter((part) => part !== '')

/** Returns the value at a path such as `.spec.replicas`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object
  for (const part of parts(path)) value = isObject(value) ? getOwn(value, part) : undefined
  return value
}

/** Returns the object with another value at the path. Other parts are shared. */
export function withValueAt(object: KubeObject, path: string, value: unknown): KubeObject {
  const copy: Record<string, unknown> = { ...object }
  let place = copy
  const names = parts(path)
  for (const name of names.slice(0, -1)) {
    const below = getOwn(place, name)
    const next = isObject(below) ? { ...below } : {}
    setOwn(place, name, next)
    place = next
  }
  setOwn(place, names.at(-1)!, value)
  return copy as unknown as KubeObject
}
