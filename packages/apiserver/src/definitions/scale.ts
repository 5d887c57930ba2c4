import { append, type FieldError, fieldErrors, getOwn, isObject, type KubeObject } from '@crosstie/kube'
import type { Subresources } from './definition.js'

const { invalid } = fieldErrors
const REPLICAS_MAX = 2 ** 31 - 1

/** Validates the fields that the scale subresource shows. */
export function scaleErrors(
  object: KubeObject,
  scale: NonNullable<Subresources['scale']>,
  statusOnly: boolean,
): FieldError[] {
  const errors = statusOnly ? [] : replicasErrors(object, scale.specReplicasPath)
  append(errors, replicasErrors(object, scale.statusReplicasPath))
  if (scale.labelSelectorPath) {
    const found = find(object, scale.labelSelectorPath, 'string', (value) => typeof value === 'string')
    if ('error' in found) errors.push(invalid(scale.labelSelectorPath, '', found.error))
  }
  return errors
}

function replicasErrors(object: KubeObject, path: string): FieldError[] {
  const isInteger = (value: unknown) => typeof value === 'bigint' || Number.isSafeInteger(value)
  const found = find(object, path, 'int64', isInteger)
  if ('error' in found) return [invalid(path, 0, found.error)]
  const replicas = (found.value ?? 0) as number | bigint
  if (replicas < 0) return [invalid(path, replicas, 'should be a non-negative integer')]
  return replicas <= REPLICAS_MAX ? [] : [invalid(path, replicas, `should be less than or equal to ${REPLICAS_MAX}`)]
}

type Found = { readonly value: unknown } | { readonly error: string }

function find(object: KubeObject, path: string, type: string, holds: (value: unknown) => boolean): Found {
  const fields = path.replace(/^\./, '').split('.')
  let value: unknown = object
  for (let i = 0; i < fields.length; i++) {
    if (value === null) return { value: undefined }
    if (!isObject(value)) return { error: accessError(fields.slice(0, i + 1), value, 'map[string]interface{}') }
    value = getOwn(value, fields[i]!)
    if (value === undefined) return { value }
  }
  return holds(value) ? { value } : { error: accessError(fields, value, type) }
}

function accessError(fields: readonly string[], value: unknown, expected: string): string {
  return `.${fields.join('.')} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${expected}`
}

function goText(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  const keys = Object.keys(value).sort()
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
}

/** Returns Go's name of the type of a JSON value. */
export function goType(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (isObject(value)) return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'int64' : 'string'
}
