import { setOwn } from '../json.js'

/** Returned by a mapping function to drop a key. */
export const dropped = Symbol('dropped')

/** Maps the values of an object. Returns the same object if nothing changed. */
export function mapObject(
  object: Record<string, unknown>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const key in object) {
    const value = object[key]
    const next = map(value, key)
    if (next !== value && copy === undefined) copy = keysBefore(object, key)
    if (copy !== undefined && next !== dropped) setOwn(copy, key, next)
  }
  return copy ?? object
}

function keysBefore(object: Record<string, unknown>, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key in object) {
    if (key === end) break
    setOwn(copy, key, object[key])
  }
  return copy
}

/** Maps the items of an array. Returns the same array if nothing changed. */
export function mapArray(array: readonly unknown[], map: (value: unknown, index: number) => unknown): unknown {
  let copy: unknown[] | undefined
  for (let i = 0; i < array.length; i++) {
    const next = map(array[i], i)
    if (next === array[i]) continue
    copy ??= array.slice()
    copy[i] = next
  }
  return copy ?? array
}
