import { getOwn, isObject, type Json } from '@crosstie/kube'
import type { Path } from '../protocol/diagnostics.js'
import { valueFromJson } from '../protocol/json.js'
import { isNumber } from '../protocol/numbers.js'
import { type CtyType, objectOf, tupleOf } from '../protocol/types.js'
import { Dynamic, isList, isMap, Unknown, type Value, type ValueMap } from '../protocol/values.js'
import { type Field, isSecret, type ObjectShape, type Shape } from './shape.js'

/** Converts between the fields of an object and the values of a provider. */

/** The configuration that the values at a path of the object stand for. Secrets have been filled in. Throws with the field that does not fit. */
export function configFrom(shape: ObjectShape, values: object, path = 'spec.forProvider'): ValueMap {
  return objectFrom(shape, values, path)
}

function objectFrom({ fields }: ObjectShape, values: object, path: string): ValueMap {
  const entries = fields.map((field) => {
    const given = getOwn(values as Record<string, unknown>, field.name)
    const missing = given === undefined || given === null || !field.configurable
    return [field.original, missing ? emptyOf(field) : fieldFrom(field, given, `${path}.${field.name}`)]
  })
  return Object.fromEntries(entries)
}

function emptyOf({ empty, shape }: Field): Value {
  if (empty === 'list') return []
  if (empty === 'map') return {}
  return empty === 'object' && shape.kind === 'object' ? objectFrom(shape, {}, '') : null
}

function fieldFrom(field: Field, given: unknown, path: string): Value {
  if (!isSecret(field) || typeof given !== 'string') return valueFrom(field.shape, given, path)
  if (field.shape.kind === 'leaf' && field.shape.type === 'string') return given
  return valueFrom(field.shape, secretJson(given, path), path, true)
}

/** The content of the Secret must not be quoted. */
function secretJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path}SecretRef names a Secret whose value is not JSON`)
  }
}

/** `original` is true for JSON that uses the names of the provider. */
function valueFrom(shape: Shape, given: unknown, path: string, original = false): Value {
  switch (shape.kind) {
    case 'leaf':
      return leafFrom(shape.type, given, path)
    case 'object':
      return isObject(given)
        ? objectFrom(shape, original ? renamed(shape, given) : given, path)
        : refuse(path, 'object')
    case 'embedded':
      return [valueFrom(shape.item, Array.isArray(given) ? given[0] : given, path, original)]
    case 'collection':
      if (shape.of === 'map') {
        if (!isObject(given)) return refuse(path, 'object')
        const entries = Object.entries(given).map(([key, item]) => [
          key,
          valueFrom(shape.item, item, `${path}.${key}`, original),
        ])
        return Object.fromEntries(entries)
      }
      if (!Array.isArray(given)) return refuse(path, 'list')
      return given.map((item, index) => valueFrom(shape.item, item, `${path}[${index}]`, original))
  }
}

function renamed({ fields }: ObjectShape, given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(fields.map(({ name, original }) => [name, getOwn(given, original) ?? getOwn(given, name)]))
}

function leafFrom(type: CtyType, given: unknown, path: string): Value {
  if (type === 'dynamic') return dynamicFrom(given)
  try {
    const value = valueFromJson(type, given)
    return typeof value === 'string' ? value.normalize('NFC') : value
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`)
  }
}

function refuse(path: string, expected: string): never {
  throw new Error(`${path}: a value of type ${expected} is needed`)
}

/** A value whose type follows from its content, as Terraform infers the type of an expression. */
function dynamicFrom(given: unknown): Value {
  if (given === null || given === undefined) return null
  const type = inferred(given)
  return new Dynamic(type, valueFromJson(type, given))
}

function inferred(given: unknown): CtyType {
  if (typeof given === 'boolean') return 'bool'
  if (typeof given === 'number') return 'number'
  if (Array.isArray(given)) return tupleOf(given.map(inferred))
  if (!isObject(given)) return 'string'
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return objectOf(Object.fromEntries(entries.map(([name, value]) => [name, inferred(value)])))
}

/** The state of a resource as status.atProvider shows it: without sensitive values, and without what is absent. */
export function reportFrom(shape: ObjectShape, state: Value): Readonly<Record<string, Json>> {
  return (jsonOf(shape, state, true) ?? {}) as Readonly<Record<string, Json>>
}

/** One value as people see it. `hide` leaves out sensitive fields. Undefined for null and unknown values. */
function jsonOf(shape: Shape, value: Value, hide: boolean): Json | undefined {
  if (value === null || value instanceof Unknown) return undefined
  switch (shape.kind) {
    case 'leaf':
      return plainJson(value)
    case 'object': {
      if (!isMap(value)) return undefined
      const shown = hide ? shape.fields.filter(({ sensitive }) => !sensitive) : shape.fields
      const entries = shown.flatMap(({ name, original, shape: inner }) => {
        const json = jsonOf(inner, value[original] ?? null, hide)
        return json === undefined ? [] : [[name, json] as const]
      })
      return Object.fromEntries(entries)
    }
    case 'embedded':
      return isList(value) && value.length > 0 ? jsonOf(shape.item, value[0]!, hide) : undefined
    case 'collection':
      if (isList(value)) return value.map((item) => jsonOf(shape.item, item, hide) ?? null)
      if (!isMap(value)) return undefined
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, jsonOf(shape.item, item, hide) ?? null]),
      )
  }
}

function plainJson(value: Value): Json | undefined {
  if (value === null || value instanceof Unknown) return undefined
  if (value instanceof Dynamic) return plainJson(value.value)
  // JSON in Kubernetes has no more digits than a double. The stored state keeps all.
  if (isNumber(value)) return Number(value.toString())
  if (isList(value)) return value.map((item) => plainJson(item) ?? null)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item) ?? null]))
}

/** Sensitive values that the provider reports, for the connection Secret, by the provider's names joined with dots. */
export function connectionFrom(shape: ObjectShape, state: Value): Readonly<Record<string, string>> {
  return Object.fromEntries(sensitiveIn(shape, state, []))
}

function* sensitiveIn(shape: ObjectShape, state: Value, path: readonly string[]): Generator<[string, string]> {
  if (!isMap(state)) return
  for (const field of shape.fields) {
    const value = state[field.original] ?? null
    if (value === null || value instanceof Unknown) continue
    const here = [...path, field.original]
    if (field.sensitive || isSecret(field)) {
      const json = jsonOf(field.shape, value, false)
      if (json !== undefined) yield [here.join('.'), typeof json === 'string' ? json : JSON.stringify(json)]
    } else if (field.shape.kind === 'object') yield* sensitiveIn(field.shape, value, here)
    else if (field.shape.kind === 'embedded' && isList(value))
      yield* sensitiveIn(field.shape.item, value[0] ?? null, here)
  }
}

/** A path of the provider as a path below forProvider, and whether its value may be shown. */
export function fieldPath(
  shape: ObjectShape,
  path: Path,
): { readonly text: string; readonly shape: Shape; readonly secret: boolean } {
  let at: Shape = shape
  let text = ''
  let secret = false
  for (const [index, step] of path.entries()) {
    if (at.kind === 'embedded') {
      at = at.item
      if (typeof step === 'number') continue
    }
    if (at.kind === 'object') {
      const field: Field | undefined = at.fields.find(({ original }) => original === step)
      secret ||= field !== undefined && (field.sensitive || isSecret(field))
      text += `${index === 0 ? '' : '.'}${field?.name ?? step}`
      at = field?.shape ?? { kind: 'leaf', type: 'dynamic' }
    } else {
      text += typeof step === 'number' ? `[${step}]` : `.${step}`
      at = at.kind === 'collection' ? at.item : at
    }
  }
  return { text, shape: at, secret }
}

/** A value of a difference, for people. */
export function shownValue(shape: Shape, value: Value, secret: boolean): Json | undefined {
  if (value instanceof Unknown) return '(known after apply)'
  if (secret) return value === null ? undefined : '(sensitive)'
  return jsonOf(shape, value, true)
}
