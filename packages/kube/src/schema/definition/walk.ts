import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'

/** Reports whether a predicate holds for a schema or any schema below it, including branches. */
export function schemaHas(
  schema: JSONSchemaProps | undefined | null,
  holds: (schema: JSONSchemaProps) => boolean,
): boolean {
  if (!schema) return false
  return holds(schema) || childSchemas(schema).some((child) => schemaHas(child, holds))
}

/** Returns all direct child schemas. */
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

/** Returns the schema of all items, or undefined for a list of schemas. */
export function itemSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const { items } = schema
  return !items || Array.isArray(items) ? undefined : (items as JSONSchemaProps)
}

/** Returns the schema of additional properties, if any. */
export function additionalSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const { additionalProperties: additional } = schema
  return typeof additional === 'object' && additional !== null ? additional : undefined
}

/** Reports whether a keyword is stated: its value is not the empty value of its kind. */
export function isStated(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}
