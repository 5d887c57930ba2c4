import { isObject } from '@crosstie/kube'
import type { ObjectSchema } from '@crosstie/resources/provider'

type Node = ObjectSchema<Record<string, never>>['node']

/** The members of a value that one of the schemas has. Azure reports members that no version documents. */
export function picked(node: Node, value: unknown, more?: Node): unknown {
  if (node.type === 'object' && isObject(value)) {
    const fields = { ...more?.fields, ...node.fields }
    const known = Object.entries(value).flatMap(([name, inner]) => {
      const field = fields[name]
      if (!field || inner === null || inner === undefined) return []
      return [[name, picked(field, inner, node.fields?.[name] ? more?.fields?.[name] : undefined)]]
    })
    return Object.fromEntries(known)
  }
  const { items } = node
  if (node.type === 'list' && items && Array.isArray(value))
    return value.map((item) => picked(items, item, more?.items))
  return value
}
