import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors, fieldErrorText } from '../../errors.js'
import { equal, getOwn } from '../../json.js'
import { check } from '../check.js'
import { coerceEmbedded } from '../coerce.js'
import { embeddedErrors } from '../embedded.js'
import { explain } from '../explain.js'
import { SchemaNode } from '../node.js'
import { prune } from '../prune.js'
import { additionalSchema, itemSchema } from './walk.js'

const { invalid } = fieldErrors

/** Options of {@link defaultErrors}. */
export interface DefaultChecks {
  /** Whether unknown fields in a default are errors. They are tolerated if an earlier server accepted them. */
  readonly pruned: boolean
  /** Validates a default by the CEL rules of a schema. */
  readonly checkDefault?: ((schema: JSONSchemaProps, value: unknown, path: string) => readonly FieldError[]) | undefined
}

/** The context of a default: it is validated as part of the nearest enclosing object. */
interface Around {
  readonly root: JSONSchemaProps
  readonly insideMeta: boolean
  /** Wraps a value at this place into an otherwise empty object. */
  readonly wrap: (value: unknown) => unknown
}

/** Validates defaults. A default that its schema rejects or prunes is an error. */
export function defaultErrors(schema: JSONSchemaProps, path: string, checks: DefaultChecks): FieldError[] {
  const root: JSONSchemaProps = { ...schema, 'x-kubernetes-embedded-resource': true }
  return errorsOf(root, path, { root, insideMeta: false, wrap: (value) => value }, checks)
}

function errorsOf(schema: JSONSchemaProps, path: string, outer: Around, checks: DefaultChecks): FieldError[] {
  const isObject = schema['x-kubernetes-embedded-resource'] === true
  const around: Around = isObject ? { root: schema, insideMeta: false, wrap: (value) => value } : outer
  const errors: FieldError[] = []
  const value = schema.default
  if (value !== undefined && value !== null) {
    const found = around.insideMeta
      ? metaDefaultErrors(schema, value, `${path}.default`, around)
      : plainDefaultErrors(schema, value, `${path}.default`, isObject, checks.pruned)
    if (found.length === 0 && checks.checkDefault) append(found, checks.checkDefault(schema, value, `${path}.default`))
    append(errors, found)
  }
  const items = itemSchema(schema)
  if (items) {
    const wrap = (inner: unknown) => around.wrap([inner])
    append(errors, errorsOf(items, `${path}.items`, { ...around, wrap }, checks))
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = name === 'metadata' || name === 'apiVersion' || name === 'kind'
    const insideMeta = around.insideMeta || (isObject && isMeta)
    const wrap = (inner: unknown) => around.wrap({ [name]: inner })
    append(errors, errorsOf(property, `${path}.properties[${name}]`, { ...around, insideMeta, wrap }, checks))
  }
  return errors
}

function plainDefaultErrors(
  schema: JSONSchemaProps,
  value: unknown,
  path: string,
  isObject: boolean,
  mustBePruned: boolean,
): FieldError[] {
  const node = new SchemaNode(schema)
  const errors: FieldError[] = []
  if (mustBePruned && !equal(prune(value, node, isObject), value)) {
    errors.push(invalid(path, value, 'must not have unknown fields'))
  }
  const { error } = coerceEmbedded(value, node, isObject, path, {})
  if (error) return [...errors, error]
  const embedded = embeddedErrors(value, node, isObject, path)
  return [...errors, ...(embedded.length > 0 ? embedded : valueErrors(schema, value, path))]
}

/** Validates the default of metadata in an object that contains only this default. */
function metaDefaultErrors(schema: JSONSchemaProps, value: unknown, path: string, around: Around): FieldError[] {
  const wrapped = around.wrap(value) as Record<string, unknown>
  const object = { kind: 'Validation', apiVersion: 'validation/v1', ...wrapped }
  const node = new SchemaNode(around.root)
  const coerced = coerceEmbedded(object, node, true, '', {})
  const problems = coerced.error ? [coerced.error] : embeddedErrors(coerced.value, node, true)
  if (problems.length === 0) return valueErrors(schema, value, path)
  const texts = [...new Set(problems.map(fieldErrorText))]
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return [invalid(path, value, `must result in valid metadata: ${text}`)]
}

function valueErrors(schema: JSONSchemaProps, value: unknown, path: string): FieldError[] {
  const node = new SchemaNode(withoutIntOrString(schema), true)
  return check(value, node) ? [] : explain(value, node, undefined, path)
}

/** Returns the schema without int-or-string, which defaults may violate unless anyOf states the types. */
function withoutIntOrString(schema: JSONSchemaProps): JSONSchemaProps {
  const { 'x-kubernetes-int-or-string': _, properties, ...rest } = schema
  const items = itemSchema(schema)
  const additional = additionalSchema(schema)
  return {
    ...rest,
    ...(items ? { items: withoutIntOrString(items) } : {}),
    ...(additional ? { additionalProperties: withoutIntOrString(additional) } : {}),
    ...(properties ? { properties: mapValues(properties, withoutIntOrString) } : {}),
  }
}

function mapValues<T>(object: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.keys(object).map((key) => [key, map(getOwn(object, key) as T)]))
}

/** Reports whether a default contains fields that would be pruned. */
export function hasUnprunedDefault(schema: JSONSchemaProps): boolean {
  const root: JSONSchemaProps = { ...schema, 'x-kubernetes-embedded-resource': true }
  return unprunedBelow(root)
}

function unprunedBelow(schema: JSONSchemaProps): boolean {
  const { default: value } = schema
  const isObject = schema['x-kubernetes-embedded-resource'] === true
  if (value !== undefined && value !== null && !equal(prune(value, new SchemaNode(schema), isObject), value))
    return true
  const children = [itemSchema(schema), additionalSchema(schema), ...Object.values(schema.properties ?? {})]
  return children.some((child) => child && unprunedBelow(child))
}
