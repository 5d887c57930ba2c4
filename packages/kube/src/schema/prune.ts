import { append } from '../arrays.js'
import type { SchemaNode } from './node.js'
import { dropped, mapArray, mapObject } from './walk.js'

/** The paths of unknown fields, or undefined if they are not requested, so that no path is built. */
type Unknown = string[] | undefined

const isMeta = (key: string) => key === 'apiVersion' || key === 'kind' || key === 'metadata'
const isLeaf = (value: unknown) => typeof value !== 'object' || value === null

/**
 * Removes undeclared fields. With `root`, the value is a whole object, whose apiVersion, kind and metadata need not
 * be declared.
 */
export function prune(value: unknown, node: SchemaNode, root: boolean, unknown?: string[]): unknown {
  const found: Unknown = unknown && []
  const pruned = pruneKnown(value, node, found, '', root || node.embedded)
  if (unknown && found) append(unknown, found.sort())
  return pruned
}

function pruneKnown(value: unknown, node: SchemaNode, found: Unknown, path: string, embedded: boolean): unknown {
  if (isLeaf(value)) return value
  if (node.preserves) return pruneBelow(value, node, found, path, embedded)
  if (Array.isArray(value)) {
    const items = node.items
    return mapArray(value, (item, i) => pruneEither(item, items, found, indexPath(found, path, i)))
  }
  return mapObject(value as Record<string, unknown>, (field, key) => {
    if (embedded && isMeta(key)) return field
    const declared = node.property(key)
    if (declared) return isLeaf(field) ? field : pruneEither(field, declared, found, keyPath(found, path, key))
    if (node.hasAdditional) return pruneEither(field, node.additional, found, keyPath(found, path, key))
    return drop(found, path, key)
  })
}

/** Prunes only declared fields, as x-kubernetes-preserve-unknown-fields requires. */
function pruneBelow(value: unknown, node: SchemaNode, found: Unknown, path: string, embedded: boolean): unknown {
  if (isLeaf(value)) return value
  if (Array.isArray(value)) {
    const items = node.items
    if (!items) return value
    return mapArray(value, (item, i) => pruneBelow(item, items, found, indexPath(found, path, i), items.embedded))
  }
  return mapObject(value as Record<string, unknown>, (field, key) => {
    if ((embedded && isMeta(key)) || isLeaf(field)) return field
    const declared = node.property(key)
    if (!declared && !node.hasAdditional) return field
    return pruneEither(field, declared ?? node.additional, found, keyPath(found, path, key))
  })
}

function pruneEither(value: unknown, node: SchemaNode | undefined, found: Unknown, path: string): unknown {
  return node ? pruneKnown(value, node, found, path, node.embedded) : pruneUnknown(value, found, path)
}

/** Prunes a value without a schema: objects lose all keys, and scalars are kept. */
function pruneUnknown(value: unknown, found: Unknown, path: string): unknown {
  if (isLeaf(value)) return value
  if (Array.isArray(value)) return mapArray(value, (item, i) => pruneUnknown(item, found, indexPath(found, path, i)))
  return mapObject(value as Record<string, unknown>, (_, key) => drop(found, path, key))
}

function drop(found: Unknown, path: string, key: string): typeof dropped {
  // apiVersion, kind and metadata of an object may be removed, but are not reported as unknown.
  if (found && (path !== '' || !isMeta(key))) found.push(path === '' ? key : `${path}.${key}`)
  return dropped
}

const keyPath = (found: Unknown, path: string, key: string) => (!found ? '' : path === '' ? key : `${path}.${key}`)
const indexPath = (found: Unknown, path: string, index: number) => (found ? `${path}[${index}]` : '')
