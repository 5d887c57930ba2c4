import type { StructFields } from './environment.js'
import { isReserved } from './names.js'
import type { SchemaNode } from './schema-node.js'
import { listOf, mapOf, structType, type Type, types } from './types.js'

const requestBytesMax = 3 * 1024 * 1024

/** The type of a schema together with the size limits that cost estimates need. */
export interface DeclType {
  readonly type: Type
  readonly node: SchemaNode
  /** The fields of an object, by the names that expressions use. */
  readonly fields?: ReadonlyMap<string, DeclType>
  /** The element type of a list or a map. */
  readonly element?: DeclType
  readonly isMap?: boolean
  readonly maxElements: number
  /** The minimum number of bytes of a value in JSON. */
  readonly minBytes: number
}

function simple(node: SchemaNode, type: Type, minBytes: number, maxElements = 0): DeclType {
  return { type, node, minBytes, maxElements }
}

/**
 * Declares the type of a schema. Returns undefined if expressions cannot access it. Structs are named by their
 * path.
 */
export function declareType(node: SchemaNode, isRoot: boolean, name: string): DeclType | undefined {
  if (node.intOrString) {
    return simple(node, types.dyn, 1, node.schema.maxLength === undefined ? requestBytesMax - 2 : maxBytes(node))
  }
  const described = isRoot ? node.withTypeAndObjectMeta() : node
  switch (described.type) {
    case 'array':
      return declareList(described, name)
    case 'object':
      return described.additional ? declareMap(described, name) : declareObject(described, name)
    case 'string':
      return declareString(described)
    case 'boolean':
      return simple(described, types.bool, 4)
    case 'number':
      return simple(described, types.double, 1)
    case 'integer':
      return simple(described, types.int, 1)
    default:
      return undefined
  }
}

function declareList(node: SchemaNode, name: string): DeclType | undefined {
  const element = node.items && declareType(node.items, node.items.embedded, `${name}.@idx`)
  if (!element) return undefined
  const { maxItems } = node.schema
  const maxElements =
    maxItems === undefined ? Math.trunc((requestBytesMax - 2) / (element.minBytes + 1)) : Math.max(0, maxItems)
  return { type: listOf(element.type), node, element, maxElements, minBytes: 2 }
}

function declareMap(node: SchemaNode, name: string): DeclType | undefined {
  const element = declareType(node.additional!, node.additional!.embedded, `${name}.@elem`)
  if (!element) return undefined
  const { maxProperties } = node.schema
  const maxElements =
    maxProperties === undefined
      ? Math.trunc((requestBytesMax - 2) / (element.minBytes + 6))
      : Math.max(0, maxProperties)
  return { type: mapOf(types.string, element.type), node, element, isMap: true, maxElements, minBytes: 2 }
}

function declareObject(node: SchemaNode, name: string): DeclType {
  const fields = new Map<string, DeclType>()
  const required = new Set(node.schema.required)
  const names = new Map([...node.fields].map(([field, { property }]) => [property, field]))
  let minBytes = 2
  for (const [property, child] of node.properties ?? []) {
    const field = names.get(property)
    const declared = declareType(child, child.embedded, `${name}.${field ?? property}`)
    if (!declared) continue
    if (field !== undefined) fields.set(field, declared)
    // The server sets the default, so the field may be absent from the request.
    const hasDefault = child.schema.default !== undefined && child.schema.default !== null
    if (required.has(property) && !hasDefault) minBytes += Buffer.byteLength(property) + declared.minBytes + 4
  }
  return { type: structType(name), node, fields, maxElements: 0, minBytes }
}

const formatBounds: Readonly<Record<string, readonly [Type, number, number]>> = {
  duration: [types.duration, 3, 32],
  date: [types.timestamp, 12, 12],
  'date-time': [types.timestamp, 21, 32],
}

function declareString(node: SchemaNode): DeclType {
  const bounds = formatBounds[node.format]
  if (bounds) return simple(node, ...bounds)
  const { maxLength, enum: values } = node.schema
  if (node.format === 'byte') {
    return simple(node, types.bytes, 2, maxLength === undefined ? requestBytesMax - 2 : Math.max(0, maxLength))
  }
  if (maxLength !== undefined) return simple(node, types.string, 2, maxBytes(node))
  if (values && values.length > 0) {
    const lengths = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0))
    return simple(node, types.string, 2, Math.max(...lengths))
  }
  return simple(node, types.string, 2, requestBytesMax - 2)
}

/** Returns the maximum number of bytes. maxLength counts characters, each of which may take four bytes. */
function maxBytes(node: SchemaNode): number {
  return Math.max(0, node.schema.maxLength ?? 0) * 4
}

/** Returns how many values of a size fit into one request. */
export function maxCardinality(minBytes: number): number {
  return Math.trunc(requestBytesMax / (minBytes + 1))
}

/** Returns the struct types within a declaration, for the checker, and their schemas, for the planner. */
export function structsOf(root: DeclType): {
  readonly structs: ReadonlyMap<string, StructFields>
  readonly nodes: ReadonlyMap<string, SchemaNode>
} {
  const structs = new Map<string, StructFields>()
  const nodes = new Map<string, SchemaNode>()
  const visit = (declared: DeclType) => {
    if (declared.element) visit(declared.element)
    const { fields } = declared
    if (!fields) return
    nodes.set(declared.type.name, declared.node)
    structs.set(declared.type.name, {
      field: (name) => (fields.get(name) ?? (isReserved(name) ? fields.get(`__${name}__`) : undefined))?.type,
    })
    for (const field of fields.values()) visit(field)
  }
  visit(root)
  return { structs, nodes }
}
