import { getOwn, setOwn } from '../json.js'
import { type SchemaNode, someDefault } from './node.js'
import { dropped, mapArray, mapObject } from './walk.js'

/** Removes nulls that the schema does not allow and no default replaces. */
export function dropNulls(value: unknown, node: SchemaNode | undefined): unknown {
  if (node === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = node.items
    return items ? mapArray(value, (item) => dropNulls(item, items)) : value
  }
  return mapObject(value as Record<string, unknown>, (field, key) => {
    if (typeof field !== 'object') return field
    const child = node.field(key)
    if (field === null) return child && !child.nullable && !child.hasDefault ? dropped : field
    return dropNulls(field, child)
  })
}

/** Sets defaults for missing keys, and for nulls where null is not allowed. All objects share a default. */
export function applyDefaults(value: unknown, node: SchemaNode | undefined): unknown {
  if (node === undefined || typeof value !== 'object' || value === null || !node.holds(someDefault)) return value
  if (Array.isArray(value)) {
    const items = node.items
    return items ? mapArray(value, (item) => applyDefaults(orDefault(item, items), items)) : value
  }
  const filled = mapObject(value as Record<string, unknown>, (field, key) => {
    const child = node.field(key)
    return child ? applyDefaults(orDefault(field, child), child) : field
  })
  return addMissing(filled, filled !== value, node)
}

function orDefault(value: unknown, node: SchemaNode): unknown {
  return value === null && !node.nullable && node.hasDefault ? node.schema.default : value
}

function addMissing(object: Record<string, unknown>, own: boolean, node: SchemaNode): unknown {
  let target = own ? object : undefined
  for (const [name, child] of node.defaulted) {
    if (getOwn(object, name) !== undefined) continue
    target ??= { ...object }
    setOwn(target, name, applyDefaults(child.schema.default, child))
  }
  return target ?? object
}
