import { type FieldError, fieldErrors } from '../errors.js'
import { getOwn, setOwn } from '../json.js'
import { canonical } from './check.js'
import { type SchemaNode, someUniqueItems } from './node.js'

/** Returns errors about duplicate items in sets and keyed lists. */
export function duplicates(value: unknown, node: SchemaNode): FieldError[] {
  const errors: FieldError[] = []
  if (node.holds(someUniqueItems) && !Array.isArray(value)) walk(value, node, '', errors)
  return errors
}

function walk(value: unknown, node: SchemaNode | undefined, path: string, errors: FieldError[]): void {
  if (node === undefined || typeof value !== 'object' || value === null || !node.holds(someUniqueItems)) return
  if (Array.isArray(value)) {
    if (node.listType === 'set') reportSet(value, path, errors)
    else if (node.listType === 'map') reportMap(value as Record<string, unknown>[], node, path, errors)
    const { items } = node
    if (items) for (let i = 0; i < value.length; i++) walk(value[i], items, `${path}[${i}]`, errors)
    return
  }
  const object = value as Record<string, unknown>
  for (const key in object) {
    if (typeof object[key] !== 'object') continue
    if (node.additional) walk(object[key], node.additional, `${path}[${key}]`, errors)
    walk(object[key], node.property(key), path === '' ? key : `${path}.${key}`, errors)
  }
}

// The limit bounds the size of the response.
const DUPLICATES_MAX = 10_000

function reportSet(value: readonly unknown[], path: string, errors: FieldError[]): void {
  if (plainlyDistinct(value) || errors.length >= DUPLICATES_MAX) return
  for (const i of repeated(value.map(canonical))) errors.push(fieldErrors.duplicate(`${path}[${i}]`, value[i]))
}

function reportMap(
  value: readonly (Record<string, unknown> | null)[],
  node: SchemaNode,
  path: string,
  errors: FieldError[],
): void {
  for (let i = 0; i < value.length; i++) {
    const item = value[i]
    if (item !== null && (typeof item !== 'object' || Array.isArray(item))) {
      errors.push(fieldErrors.invalid(`${path}[${i}]`, item, 'must be an object for an array of list-type map'))
      return
    }
  }
  const names = node.schema['x-kubernetes-list-map-keys'] ?? []
  if (names.length === 1 && plainlyDistinct(value.map((item) => item && getOwn(item, names[0]!)))) return
  const keys = value.map((item) => keyOf(item, names))
  for (const i of repeated(keys.map(canonical))) errors.push(fieldErrors.duplicate(`${path}[${i}]`, keys[i]))
}

/** Fast path for distinct scalars, which does not compare texts. */
function plainlyDistinct(values: readonly unknown[]): boolean {
  if (values.length < 2) return true
  return values.every((value) => typeof value === 'string') && new Set(values).size === values.length
}

function keyOf(item: Record<string, unknown> | null, names: readonly string[]): Record<string, unknown> {
  const key: Record<string, unknown> = {}
  for (const name of item === null ? [] : names) {
    const part = getOwn(item!, name)
    if (part !== undefined) setOwn(key, name, part)
  }
  return key
}

/** Returns the positions at which a text appears for the second time. Further repetitions are not reported. */
function repeated(texts: readonly string[]): number[] {
  const times = new Map<string, number>()
  const indices: number[] = []
  texts.forEach((text, i) => {
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    if (before === 1 && indices.length < DUPLICATES_MAX) indices.push(i)
  })
  return indices
}
