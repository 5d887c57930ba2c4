import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { getOwn, isObject, type Json } from '../json.js'
import { coerceEmbedded } from './coerce.js'
import { SchemaNode, someDefault, someEmbeddedResource } from './node.js'
import { prune } from './prune.js'

/** A path from an object to a value: keys, and a symbol for any list item. */
type Path = readonly (string | typeof ITEM)[]
const ITEM = Symbol('item')

/**
 * Returns the schema with its defaults as objects get them. Defaults are validated when the CRD is written, but the
 * metadata of an embedded resource may contain unknown fields there, which are removed.
 */
export function withPrunedDefaults(schema: JSONSchemaProps): JSONSchemaProps {
  const root = new SchemaNode(schema)
  return root.holds(someDefault) && root.holds(someEmbeddedResource) ? below(schema, root, []) : schema
}

function below(schema: JSONSchemaProps, root: SchemaNode, path: Path): JSONSchemaProps {
  const { default: value, properties, items, additionalProperties } = schema
  const child = (part: JSONSchemaProps, step: string | typeof ITEM) => below(part, root, [...path, step])
  return {
    ...schema,
    ...(value === undefined || value === null ? {} : { default: pruned(value, root, path) }),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, child(part, key)])) }
      : {}),
    ...(isSchema(items) ? { items: child(items, ITEM) } : {}),
    ...(isSchema(additionalProperties) ? { additionalProperties: child(additionalProperties, '*') } : {}),
  }
}

const isSchema = (part: unknown): part is JSONSchemaProps => isObject(part)

/** Returns the rest of a value after decoding and pruning an object that contains only this value. */
function pruned(value: Json, root: SchemaNode, path: Path): Json | undefined {
  const object = path.reduceRight<Json>((inner, step) => (step === ITEM ? [inner] : { [step]: inner }), value)
  const { value: typed } = coerceEmbedded(object, root, true, '', { drop: true })
  return path.reduce<unknown>(partAt, prune(typed, root, true)) as Json | undefined
}

function partAt(value: unknown, step: string | typeof ITEM): unknown {
  if (step === ITEM) return Array.isArray(value) ? value[0] : undefined
  return isObject(value) ? getOwn(value, step) : undefined
}
