import { isObject } from '@crosstie/kube'

/** `map[a:1 b:map[c:[x y]]]`: how Go prints a map. */
export function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`
  if (!isObject(value)) return value === null ? '<nil>' : String(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key])}`)
  return `map[${members.join(' ')}]`
}
