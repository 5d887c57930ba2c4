import { type FieldPathOptions, type JSONSchemaProps, walkFieldPath } from '@crosstie/cel/kubernetes'
import { getOwn } from '../../json.js'
import { additionalSchema } from './walk.js'

/** The field that a JSON path such as `.spec.color` names in a schema, or the reason why the path is not valid. */
export type FoundField =
  | { readonly path: string; readonly first: string; readonly schema: JSONSchemaProps | undefined }
  | { readonly error: string }

/** Follows a path of fields and quoted map keys, such as `.spec.labels['a/b']`, through a schema. */
export function findField(jsonPath: string, root: JSONSchemaProps, options?: FieldPathOptions): FoundField {
  let path = ''
  let first = ''
  let schema: JSONSchemaProps | undefined = root
  const error = walkFieldPath(
    jsonPath,
    (name) => {
      const step = stepInto(schema, name)
      if (!step) return 'does not refer to a valid field'
      schema = step.schema
      if (!step.named) path += `[${name}]`
      else path += path === '' ? name : `.${name}`
      if (first === '') first = path
      return undefined
    },
    options,
  )
  return error === undefined ? { path, first, schema } : { error }
}

function stepInto(
  schema: JSONSchemaProps | undefined,
  name: string,
): { readonly schema: JSONSchemaProps | undefined; readonly named: boolean } | undefined {
  if (!schema) return undefined
  if (Object.keys(schema.properties ?? {}).length > 0) {
    const property = getOwn(schema.properties!, name) as JSONSchemaProps | undefined
    return property && { schema: property, named: true }
  }
  if (schema.additionalProperties === undefined || schema.additionalProperties === null) return undefined
  return { schema: additionalSchema(schema), named: false }
}
