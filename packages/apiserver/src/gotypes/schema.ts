import type { Json } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { describe } from './descriptions.js'
import { type FieldFacts, type GoField, type GoStruct, type GoType, goStruct } from './go-type.js'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
/** A schema under construction. */
export type Schema = Mutable<JSONSchemaProps>

const SCHEMA_MODEL = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'
const schemas = new Map<string, JSONSchemaProps>()

/** Returns the schema of a whole object without references. It is computed once, and equal parts are shared. */
export function schemaOfModel(model: string): JSONSchemaProps {
  const known = schemas.get(model)
  if (known) return known
  const schema = structSchema(goStruct(model), (inner) =>
    // JSON schemas are recursive. Here they accept any object.
    inner === SCHEMA_MODEL ? anyObject : schemaOfModel(inner),
  )
  schemas.set(model, schema)
  return schema
}

const anyObject: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** Returns the schema of a struct. The caller provides the schemas of nested structs. */
function structSchema(struct: GoStruct, of: (model: string) => JSONSchemaProps): Schema {
  const properties: Record<string, JSONSchemaProps> = {}
  for (const field of struct.fields) properties[field.name] = fieldSchema(struct, field, of)
  const required = struct.fields.filter((field) => field.required).map((field) => field.name)
  const description = describe(struct.model)
  return {
    ...(description ? { description } : {}),
    type: 'object',
    ...(struct.fields.length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...factsSchema(struct.facts),
  }
}

function fieldSchema(struct: GoStruct, field: GoField, of: (model: string) => JSONSchemaProps): JSONSchemaProps {
  const { type, facts } = field
  const description = describe(struct.model, field.name)
  return {
    ...typeSchema(type, of),
    ...(description ? { description } : {}),
    ...(facts.default === undefined ? {} : { default: facts.default }),
    ...(facts.enum ? { enum: facts.enum } : {}),
    ...factsSchema(facts),
  }
}

function factsSchema(facts: FieldFacts): Schema {
  const schema: Schema = {}
  if (facts.keys) schema['x-kubernetes-list-map-keys'] = facts.keys
  if (facts.list) schema['x-kubernetes-list-type'] = facts.list
  if (facts.map) schema['x-kubernetes-map-type'] = facts.map
  if (facts.mergeKey) schema['x-kubernetes-patch-merge-key'] = facts.mergeKey
  if (facts.strategy) schema['x-kubernetes-patch-strategy'] = facts.strategy
  return schema
}

function typeSchema(type: GoType, of: (model: string) => JSONSchemaProps): JSONSchemaProps {
  switch (type.kind) {
    case 'string':
      return { type: 'string' }
    case 'bool':
      return { type: 'boolean' }
    case 'int32':
    case 'int64':
      return { type: 'integer', format: type.kind }
    case 'float64':
      return { type: 'number', format: 'double' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true }
    case 'pointer':
      return typeSchema(type.of, of)
    case 'slice':
      return { type: 'array', items: typeSchema(type.of, of) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, of) }
    case 'struct':
      return of(type.model)
    case 'special':
      return specialSchemas[type.name] ?? { 'x-kubernetes-preserve-unknown-fields': true }
  }
}

const specialSchemas: Readonly<Record<string, JSONSchemaProps & { readonly default?: Json }>> = {
  Time: { type: 'string', format: 'date-time' },
  MicroTime: { type: 'string', format: 'date-time' },
  IntOrString: { 'x-kubernetes-int-or-string': true },
  FieldsV1: anyObject,
  RawExtension: anyObject,
}
