import type { Attribute, Block, NestedBlock } from '../protocol/schema.js'
import type { CtyType } from '../protocol/types.js'
import { camelCase } from './names.js'

/** The structure of a value, with the names that its fields have in an object. */
export type Shape =
  | { readonly kind: 'leaf'; readonly type: CtyType }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'collection'; readonly of: 'list' | 'set' | 'map'; readonly item: Shape }
  /** A block of which there can be one at most: an object here, a list or set of one item for the provider. */
  | { readonly kind: 'embedded'; readonly item: Extract<Shape, { readonly kind: 'object' }> }

export interface Field {
  /** In camelCase. */
  readonly name: string
  /** As the provider calls it. */
  readonly original: string
  readonly shape: Shape
  readonly description: string
  /** False for values that only the provider sets. */
  readonly configurable: boolean
  readonly required: boolean
  /** The provider reports it, though it may be configured too. */
  readonly reported: boolean
  /** It must not be readable in an object. */
  readonly sensitive: boolean
  /** The value that stands for its absence. */
  readonly empty: 'null' | 'list' | 'map' | 'object'
}

export type ObjectShape = Extract<Shape, { readonly kind: 'object' }>

/** The shape of a resource. */
export function shapeOfBlock(block: Block): ObjectShape {
  const attributes = Object.entries(block.attributes).map(([name, attribute]) => fieldOfAttribute(name, attribute))
  const blocks = Object.entries(block.blocks).map(([name, nested]) => fieldOfBlock(name, nested))
  return { kind: 'object', fields: named([...attributes, ...blocks]) }
}

/** Two names that become one in camelCase keep the provider's spelling. */
function named(fields: readonly Field[]): readonly Field[] {
  const counts = new Map<string, number>()
  for (const { name } of fields) counts.set(name, (counts.get(name) ?? 0) + 1)
  return fields.map((field) => (counts.get(field.name)! > 1 ? { ...field, name: field.original } : field))
}

function fieldOfAttribute(original: string, attribute: Attribute): Field {
  const { required, optional, computed, sensitive, writeOnly } = attribute
  // An id that may be set is a relic of an older SDK: the provider assigns it.
  const assigned = original === 'id' && optional && computed
  return {
    name: camelCase(original),
    original,
    shape: attribute.nested ? shapeOfNested(attribute.nested) : shapeOfType(attribute.type),
    description: attribute.description,
    configurable: (required || optional) && !assigned,
    required,
    reported: !writeOnly,
    sensitive: sensitive || writeOnly,
    empty: 'null',
  }
}

function shapeOfNested({ nesting, attributes }: NonNullable<Attribute['nested']>): Shape {
  const item: ObjectShape = {
    kind: 'object',
    fields: named(Object.entries(attributes).map(([name, attribute]) => fieldOfAttribute(name, attribute))),
  }
  return nesting === 'single' ? item : { kind: 'collection', of: nesting, item }
}

function fieldOfBlock(original: string, { nesting, block, minItems, maxItems }: NestedBlock): Field {
  const item = shapeOfBlock(block)
  const many = nesting === 'list' || nesting === 'set'
  return {
    name: camelCase(original),
    original,
    shape:
      nesting === 'single' || nesting === 'group'
        ? item
        : many && maxItems === 1
          ? { kind: 'embedded', item }
          : { kind: 'collection', of: nesting, item },
    description: block.description,
    configurable: true,
    required: minItems > 0,
    reported: true,
    sensitive: false,
    empty: many ? 'list' : nesting === 'map' ? 'map' : nesting === 'group' ? 'object' : 'null',
  }
}

function shapeOfType(type: CtyType): Shape {
  if (typeof type === 'string' || type.kind === 'tuple') return { kind: 'leaf', type }
  if (type.kind !== 'object') return { kind: 'collection', of: type.kind, item: shapeOfType(type.element) }
  const fields = Object.entries(type.attributes).map(
    ([original, of]): Field => ({
      name: camelCase(original),
      original,
      shape: shapeOfType(of),
      description: '',
      configurable: true,
      required: false,
      reported: true,
      sensitive: false,
      empty: 'null',
    }),
  )
  return { kind: 'object', fields: named(fields) }
}

/** Does a user give a sensitive value somewhere inside? */
export function holdsSensitiveInput(shape: Shape): boolean {
  switch (shape.kind) {
    case 'leaf':
      return false
    case 'object':
      return shape.fields.some(
        ({ configurable, sensitive, shape: inner }) => configurable && (sensitive || holdsSensitiveInput(inner)),
      )
    default:
      return holdsSensitiveInput(shape.item)
  }
}

/** A field whose value is in a Secret as a whole, since parts of a collection cannot be. */
export const isSecret = ({ configurable, sensitive, shape }: Field): boolean =>
  configurable && (sensitive || (shape.kind === 'collection' && holdsSensitiveInput(shape)))
