import { type CtyType, hasDynamic, listOf, mapOf, type ObjectType, objectOf, parseType, setOf } from './types.js'
import type { WireAttribute, WireBlock, WireIdentitySchema, WireObject, WireSchema } from './wire.js'

/** Schemas of protocol 5 and 6 in one model. */
export interface Schema {
  /** Of the state; a provider upgrades state of earlier versions. */
  readonly version: number
  readonly block: Block
  /** The type of the whole object. */
  readonly type: ObjectType
}

export interface Block {
  readonly attributes: Readonly<Record<string, Attribute>>
  readonly blocks: Readonly<Record<string, NestedBlock>>
  readonly description: string
  readonly deprecated: boolean
}

export interface Attribute {
  readonly type: CtyType
  /** Absent for attributes of protocol 5 and those without a schema of their own. */
  readonly nested?: NestedAttributes
  readonly description: string
  readonly required: boolean
  readonly optional: boolean
  readonly computed: boolean
  readonly sensitive: boolean
  /** Given to the provider and never kept in state. */
  readonly writeOnly: boolean
  readonly deprecated: boolean
}

export type AttributeNesting = 'single' | 'list' | 'set' | 'map'

export interface NestedAttributes {
  readonly nesting: AttributeNesting
  readonly attributes: Readonly<Record<string, Attribute>>
}

export interface NestedBlock {
  readonly nesting: AttributeNesting | 'group'
  readonly block: Block
  readonly minItems: number
  /** 0: unlimited. */
  readonly maxItems: number
}

export interface IdentitySchema {
  readonly version: number
  readonly type: ObjectType
  readonly requiredForImport: readonly string[]
}

const nestings = [undefined, 'single', 'list', 'set', 'map', 'group'] as const

export function schemaFromWire(wire: WireSchema): Schema {
  const block = blockFromWire(wire.block ?? {})
  return { version: Number(wire.version ?? 0), block, type: typeOfBlock(block) }
}

function blockFromWire(wire: WireBlock): Block {
  return {
    attributes: attributesFromWire(wire.attributes),
    blocks: Object.fromEntries(
      (wire.blockTypes ?? []).map(({ typeName, block, nesting, minItems, maxItems }) => [
        typeName,
        {
          nesting: nestingOf(nesting, typeName),
          block: blockFromWire(block ?? {}),
          minItems: Number(minItems ?? 0),
          maxItems: Number(maxItems ?? 0),
        },
      ]),
    ),
    description: wire.description ?? '',
    deprecated: wire.deprecated ?? false,
  }
}

function attributesFromWire(wires: readonly WireAttribute[] = []): Readonly<Record<string, Attribute>> {
  return Object.fromEntries(wires.map((wire) => [wire.name, attributeFromWire(wire)]))
}

function attributeFromWire(wire: WireAttribute): Attribute {
  const nested = wire.nestedType ? nestedFromWire(wire.nestedType, wire.name) : undefined
  return {
    type: nested ? typeOfNested(nested) : parseType(Buffer.from(wire.type ?? []).toString('utf8')),
    ...(nested ? { nested } : {}),
    description: wire.description ?? '',
    required: wire.required ?? false,
    optional: wire.optional ?? false,
    computed: wire.computed ?? false,
    sensitive: wire.sensitive ?? false,
    writeOnly: wire.writeOnly ?? false,
    deprecated: wire.deprecated ?? false,
  }
}

function nestedFromWire(wire: WireObject, name: string): NestedAttributes {
  const nesting = nestingOf(wire.nesting, name)
  if (nesting === 'group') throw new Error(`attribute ${name} has the nesting of a block`)
  return { nesting, attributes: attributesFromWire(wire.attributes) }
}

function nestingOf(number: number | undefined, name: string) {
  const nesting = nestings[number ?? 0]
  if (!nesting) throw new Error(`${name} has the unknown nesting mode ${number}`)
  return nesting
}

export function identityFromWire(wire: WireIdentitySchema): IdentitySchema {
  const attributes = wire.identityAttributes ?? []
  return {
    version: Number(wire.version ?? 0),
    type: objectOf(
      Object.fromEntries(
        attributes.map(({ name, type }) => [name, parseType(Buffer.from(type ?? []).toString('utf8'))]),
      ),
    ),
    requiredForImport: attributes.filter(({ requiredForImport }) => requiredForImport).map(({ name }) => name),
  }
}

/** The object type that a block's values have. */
export function typeOfBlock({ attributes, blocks }: Block): ObjectType {
  return objectOf({
    ...typesOf(attributes),
    ...Object.fromEntries(Object.entries(blocks).map(([name, nested]) => [name, typeOfNestedBlock(nested)])),
  })
}

const typesOf = (attributes: Readonly<Record<string, Attribute>>): Record<string, CtyType> =>
  Object.fromEntries(Object.entries(attributes).map(([name, { type }]) => [name, type]))

function typeOfNested({ nesting, attributes }: NestedAttributes): CtyType {
  return collected(nesting, objectOf(typesOf(attributes)))
}

/** Items with types of their own differ from each other, so the whole carries its type. */
function typeOfNestedBlock({ nesting, block }: NestedBlock): CtyType {
  const item = typeOfBlock(block)
  if ((nesting === 'list' || nesting === 'map') && hasDynamic(item)) return 'dynamic'
  return collected(nesting, item)
}

function collected(nesting: NestedBlock['nesting'], item: ObjectType): CtyType {
  switch (nesting) {
    case 'list':
      return listOf(item)
    case 'set':
      return setOf(item)
    case 'map':
      return mapOf(item)
    default:
      return item
  }
}
