import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { getOwn, isObject } from '../json.js'
import { elementJson } from './field-set.js'

/**
 * A type as field ownership uses it: the parts of a value that have separate owners. A value is one of the shapes
 * that are present. structured-merge-diff calls this an atom.
 */
export interface ManagedType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

/** The scalar types. */
export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped'
/** The shapes of a value. */
export type Shape = 'scalar' | 'list' | 'map'

/** The type of a list. */
export interface ListType {
  /**
   * Whether the list has one owner. Otherwise its elements are identified by keys, or by value if there are no
   * keys.
   */
  readonly atomic: boolean
  /** The keys in alphabetical order. */
  readonly keys: readonly ListKey[]
  /** The key names as messages quote them. */
  readonly keyNames: readonly string[]
  readonly element: ManagedType
}

/** A key of a list. */
export interface ListKey {
  readonly name: string
  /** The prefix of the key in a path element, such as `"name":`. */
  readonly prefix: string
  readonly default?: unknown
}

/** The type of a map. */
export interface MapType {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, ManagedType>
  /** The type of undeclared fields. Absent if they are not allowed. */
  readonly element?: ManagedType
}

/** The reason why a value does not fit its type. */
export class SchemaMismatchError extends Error {
  override readonly name = 'SchemaMismatchError'
}

const noFields: ReadonlyMap<string, ManagedType> = new Map()

/** Any value, with one owner. */
const untyped: ManagedType = makeRecursive((self) => ({
  scalar: 'untyped',
  list: { atomic: true, keys: [], keyNames: [], element: self },
  map: { atomic: true, fields: noFields, element: self },
}))

/** Any value. Maps have owners per field; lists have one owner. */
const deduced: ManagedType = makeRecursive((self) => ({
  scalar: 'untyped',
  list: { atomic: true, keys: [], keyNames: [], element: untyped },
  map: { atomic: false, fields: noFields, element: self },
}))

function makeRecursive(make: (self: ManagedType) => ManagedType): ManagedType {
  const self: ManagedType = {}
  return Object.assign(self, make(self))
}

const text: ManagedType = { scalar: 'string' }
const number: ManagedType = { scalar: 'numeric' }
const flag: ManagedType = { scalar: 'boolean' }
const anyScalar: ManagedType = { scalar: 'untyped' }
const texts: ManagedType = { map: { atomic: false, fields: noFields, element: text } }

const ownerReference: ManagedType = {
  map: {
    atomic: true,
    fields: new Map([
      ['apiVersion', text],
      ['blockOwnerDeletion', flag],
      ['controller', flag],
      ['kind', text],
      ['name', text],
      ['uid', text],
    ]),
  },
}

/** metav1.ObjectMeta, which CRD schemas do not describe. */
const objectMeta: ManagedType = {
  map: {
    atomic: false,
    fields: new Map<string, ManagedType>([
      ['annotations', texts],
      ['creationTimestamp', anyScalar],
      ['deletionGracePeriodSeconds', number],
      ['deletionTimestamp', anyScalar],
      ['finalizers', { list: { atomic: false, keys: [], keyNames: [], element: text } }],
      ['generateName', text],
      ['generation', number],
      ['labels', texts],
      ['managedFields', { list: { atomic: true, keys: [], keyNames: [], element: deduced } }],
      ['name', text],
      ['namespace', text],
      [
        'ownerReferences',
        {
          list: {
            atomic: false,
            keys: [{ name: 'uid', prefix: '"uid":' }],
            keyNames: ['uid'],
            element: ownerReference,
          },
        },
      ],
      ['resourceVersion', text],
      ['selfLink', text],
      ['uid', text],
    ]),
  },
}

const compiled = new WeakMap<JSONSchemaProps, ManagedType>()

/** Returns the type of the objects that a schema describes. Compiled once per schema. */
export function managedTypeOf(schema: JSONSchemaProps | undefined): ManagedType {
  if (schema === undefined) return { map: { atomic: false, fields: noFields, element: deduced } }
  let type = compiled.get(schema)
  if (!type) {
    type = convert(schema, false, true)
    compiled.set(schema, type)
  }
  return type
}

/** `preserving` is set if an ancestor preserves unknown fields. */
function convert(schema: JSONSchemaProps, preserving: boolean, resource = false): ManagedType {
  const preserve = preserving || schema['x-kubernetes-preserve-unknown-fields'] === true
  const hasMeta = resource || schema['x-kubernetes-embedded-resource'] === true
  switch (hasMeta ? 'object' : schema.type) {
    case 'object':
      return { map: convertMap(schema, preserve, hasMeta) }
    case 'array':
      return { list: convertList(schema, preserve) }
    case 'integer':
    case 'number':
      return number
    case 'boolean':
      return flag
    case 'string':
      return schema.format === undefined || schema.format === '' || schema.format === 'byte' ? text : anyScalar
    default:
      return { scalar: 'untyped', list: convertList(schema, preserve), map: convertMap(schema, preserve, false) }
  }
}

function convertMap(schema: JSONSchemaProps, preserve: boolean, hasMeta: boolean): MapType {
  const fields = new Map<string, ManagedType>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) fields.set(name, convert(property, preserve))
  if (hasMeta) fields.set('apiVersion', text).set('kind', text).set('metadata', objectMeta)
  const element = elementOf(schema, preserve || fields.size === 0, preserve)
  return { atomic: schema['x-kubernetes-map-type'] === 'atomic', fields, ...(element ? { element } : {}) }
}

function elementOf(schema: JSONSchemaProps, open: boolean, preserve: boolean): ManagedType | undefined {
  const additional = schema.additionalProperties
  if (additional === undefined) return open ? deduced : undefined
  if (typeof additional === 'boolean') return additional ? deduced : undefined
  return convert(additional, preserve)
}

function convertList(schema: JSONSchemaProps, preserve: boolean): ListType {
  const items = Array.isArray(schema.items) ? undefined : (schema.items as JSONSchemaProps | undefined)
  const element = items ? convert(items, preserve) : untyped
  const names = listKeyNames(schema)
  const keys = [...(names ?? [])].sort().map((name): ListKey => {
    const property = items?.properties && (getOwn(items.properties, name) as JSONSchemaProps | undefined)
    return { name, prefix: `${JSON.stringify(name)}:`, default: property?.default ?? undefined }
  })
  return { atomic: names === undefined, keys, keyNames: names ?? [], element }
}

/**
 * Returns the keys of a list: undefined if it is atomic, empty if it is a set. Built-in kinds may state only a
 * patch strategy.
 */
function listKeyNames(schema: JSONSchemaProps): readonly string[] | undefined {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return []
    case 'map':
      return schema['x-kubernetes-list-map-keys'] ?? []
    case 'atomic':
      return undefined
  }
  const strategy = schema['x-kubernetes-patch-strategy']
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return undefined
  const key = schema['x-kubernetes-patch-merge-key']
  return key ? [key] : []
}

/**
 * Reports whether a map has no declared fields and entries of any type. Schemas do not make such maps atomic or
 * granular.
 */
export function isDeducedMap(map: MapType): boolean {
  return map.fields.size === 0 && map.element?.scalar === 'untyped' && map.element !== untyped
}

/** Returns the type of a field of a map, or undefined if the field is not allowed. */
export function fieldType(map: MapType, name: string): ManagedType | undefined {
  return map.fields.get(name) ?? map.element
}

/** Returns the shape by which a value is handled. Null fits every shape. */
export function shapeOf(type: ManagedType, value: unknown): Shape | undefined {
  return deduceShape(type, value) ?? (type.map ? 'map' : type.scalar ? 'scalar' : type.list ? 'list' : undefined)
}

/** Returns the shape of a value, or undefined if the value does not determine it. */
export function deduceShape(type: ManagedType, value: unknown): Shape | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return type.list && 'list'
  if (typeof value === 'object') return type.map && 'map'
  return type.scalar && 'scalar'
}

/** Returns the path element of a list item, such as `k:{"name":"a"}`. Throws a SchemaMismatchError. */
export function listElement(list: ListType, item: unknown): string {
  if (list.keys.length === 0) return setElement(item)
  if (item === null) throw new SchemaMismatchError('associative list with keys may not have a null element')
  if (!isObject(item)) throw new SchemaMismatchError('associative list with keys may not have non-map elements')
  let members = ''
  for (const key of list.keys) {
    const own = getOwn(item, key.name)
    const value = own === undefined ? key.default : own
    if (value === undefined) continue
    if (members !== '') members += ','
    members += key.prefix + elementJson(value)
  }
  if (members === '') {
    const names = `[${list.keyNames.map((name) => JSON.stringify(name)).join(' ')}]`
    throw new SchemaMismatchError(
      `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`,
    )
  }
  return `k:{${members}}`
}

function setElement(item: unknown): string {
  if (item === null)
    throw new SchemaMismatchError("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) throw new SchemaMismatchError('not supported: associative list with lists as elements')
  if (typeof item === 'object')
    throw new SchemaMismatchError("associative list without keys has an element that's a map type")
  return `v:${elementJson(item)}`
}
