import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'

/** Is there a schema, here or anywhere below, junctors included, of which the answer holds? */
export function schemaHas(
  schema: JSONSchemaProps | undefined | null,
  holds: (schema: JSONSchemaProps) => boolean,
): boolean {
  if (!schema) return false
  return holds(schema) || childSchemas(schema).some((child) => schemaHas(child, holds))
}

/** All schemas directly inside of one. */
function childSchemas(schema: JSONSchemaProps): JSONSchemaProps[] {
  const { items, additionalItems, additionalProperties, not } = schema
  const { allOf = [], anyOf = [], oneOf = [], dependencies = {} } = schema
  return [
    ...asSchemas(items),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...asSchemas(not),
    ...Object.values(schema.properties ?? {}),
    ...asSchemas(additionalProperties),
    ...Object.values(schema.patternProperties ?? {}),
    ...asSchemas(additionalItems),
    ...Object.values(schema.definitions ?? {}),
    ...Object.values(dependencies).flatMap((dependency) =>
      Array.isArray(dependency) ? [] : asSchemas(dependency as JSONSchemaProps),
    ),
  ]
}

function asSchemas(
  value: JSONSchemaProps | readonly JSONSchemaProps[] | boolean | undefined | null,
): JSONSchemaProps[] {
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value) ? [...value] : [value as JSONSchemaProps]
}

/** The one schema of all items; undefined for a list of schemas. */
export function itemSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const { items } = schema
  return !items || Array.isArray(items) ? undefined : (items as JSONSchemaProps)
}

/** The schema of additional properties, if they have one. */
export function additionalSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const { additionalProperties: additional } = schema
  return typeof additional === 'object' && additional !== null ? additional : undefined
}

/** A key counts as stated unless it holds the empty value of its kind. */
export function isStated(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}
