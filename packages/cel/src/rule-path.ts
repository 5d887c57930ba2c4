import { walkFieldPath } from './kubernetes/field-path.js'
import type { SchemaNode } from './schema-node.js'

const UNKNOWN_FIELD = 'does not refer to a valid field'

/**
 * Resolves a rule's `fieldPath`, such as `.spec.foo` or `['a.b']`, in a schema. Returns the field as field errors write it,
 * or undefined when the path is not valid or the schema does not have the field.
 */
export function resolveFieldPath(path: string, schema: SchemaNode): string | undefined {
  let node: SchemaNode | undefined = schema
  let result = ''
  const error = walkFieldPath(path, (name) => {
    const { properties } = node ?? {}
    if (properties) {
      node = properties.get(name)
      result += result === '' ? name : `.${name}`
      return node ? undefined : UNKNOWN_FIELD
    }
    if (node?.schema.additionalProperties === undefined) return UNKNOWN_FIELD
    node = node.additional
    result += `[${name}]`
    return undefined
  })
  return error === undefined ? result : undefined
}
