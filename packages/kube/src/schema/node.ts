import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { getOwn } from '../json.js'
import { rulesOf, type ValueRules } from './rules.js'

/**
 * One place in a schema, compiled for repeated use. Children are created when an object first reaches them, since a
 * CRD may have thousands of places that objects never use. Rules are computed once.
 */
export class SchemaNode {
  readonly schema: JSONSchemaProps
  readonly preserves: boolean
  readonly embedded: boolean
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly listType: string | undefined
  /** Whether additionalProperties are stated, as a schema or a boolean. */
  readonly hasAdditional: boolean
  readonly hasProperties: boolean
  /** Whether allOf, anyOf, oneOf or not are stated. */
  readonly hasBranches: boolean

  private readonly propertySchemas: Readonly<Record<string, JSONSchemaProps>>
  private children: Map<string, SchemaNode> | undefined
  private itemsNode: SchemaNode | undefined
  private additionalNode: SchemaNode | undefined
  private contents = -1
  private valueRules: ValueRules | undefined
  private branchNodes: Branches | undefined
  private withDefaults: readonly (readonly [string, SchemaNode])[] | undefined

  constructor(
    schema: JSONSchemaProps,
    private readonly keepFormats = false,
  ) {
    this.schema = schema
    this.preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
    this.embedded = schema['x-kubernetes-embedded-resource'] === true
    this.nullable = schema.nullable === true
    this.hasDefault = hasDefault(schema)
    this.listType = schema['x-kubernetes-list-type']
    this.hasAdditional = schema.additionalProperties !== undefined && schema.additionalProperties !== null
    this.propertySchemas = schema.properties ?? nothing
    this.hasProperties = Object.keys(this.propertySchemas).length > 0
    this.hasBranches = Boolean(schema.allOf?.length || schema.anyOf?.length || schema.oneOf?.length || schema.not)
  }

  /** The rules for the value itself, without its children. */
  get rules(): ValueRules {
    this.valueRules ??= rulesOf(this.schema, this.keepFormats)
    return this.valueRules
  }

  get branches(): Branches {
    const { allOf, anyOf, oneOf, not } = this.schema
    const nodes = (schemas: readonly JSONSchemaProps[] | undefined) => (schemas ?? []).map((s) => this.child(s))
    this.branchNodes ??= {
      allOf: nodes(allOf),
      anyOf: nodes(anyOf),
      oneOf: nodes(oneOf),
      not: not ? this.child(not) : undefined,
    }
    return this.branchNodes
  }

  /** Returns the schema of a declared property. */
  property(name: string): SchemaNode | undefined {
    if (!this.hasProperties) return undefined
    return this.children?.get(name) ?? this.newProperty(name)
  }

  /** Caches only declared names: the names in objects are untrusted and not bounded. */
  private newProperty(name: string): SchemaNode | undefined {
    const schema = getOwn(this.propertySchemas, name) as JSONSchemaProps | undefined
    if (!schema) return undefined
    const node = this.child(schema)
    this.children ??= new Map()
    this.children.set(name, node)
    return node
  }

  /** The schema of undeclared properties, if any. */
  get additional(): SchemaNode | undefined {
    const schema = this.schema.additionalProperties
    if (typeof schema !== 'object' || schema === null) return undefined
    this.additionalNode ??= this.child(schema)
    return this.additionalNode
  }

  get items(): SchemaNode | undefined {
    const schema = this.schema.items
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined
    this.itemsNode ??= this.child(schema as JSONSchemaProps)
    return this.itemsNode
  }

  /** Returns the schema of a key, declared or not. */
  field(name: string): SchemaNode | undefined {
    return this.property(name) ?? this.additional
  }

  /** The declared properties that have a default. */
  get defaulted(): readonly (readonly [string, SchemaNode])[] {
    this.withDefaults ??= Object.keys(this.propertySchemas)
      .filter((name) => hasDefault(this.propertySchemas[name]!))
      .map((name) => [name, this.property(name)!] as const)
    return this.withDefaults
  }

  /** Reports whether a feature occurs here or below, so that a walk can skip places. */
  holds(thing: number): boolean {
    if (this.contents < 0) this.contents = contentsOf(this.schema)
    return (this.contents & thing) !== 0
  }

  private child(schema: JSONSchemaProps): SchemaNode {
    return new SchemaNode(schema, this.keepFormats)
  }
}

/** The features of a schema part, as bits. */
export const someDefault = 1
/** An embedded resource occurs. */
export const someEmbeddedResource = 2
/** A list with unique items occurs. */
export const someUniqueItems = 4

const nothing: Readonly<Record<string, JSONSchemaProps>> = {}

function hasDefault(schema: JSONSchemaProps): boolean {
  return schema.default !== undefined && schema.default !== null
}

function contentsOf(schema: JSONSchemaProps): number {
  const listType = schema['x-kubernetes-list-type']
  let contents = hasDefault(schema) ? someDefault : 0
  if (schema['x-kubernetes-embedded-resource']) contents |= someEmbeddedResource
  if (listType === 'set' || listType === 'map') contents |= someUniqueItems
  for (const child of Object.values(schema.properties ?? {})) contents |= contentsOf(child)
  for (const child of [schema.items, schema.additionalProperties]) {
    if (typeof child === 'object' && child !== null && !Array.isArray(child)) {
      contents |= contentsOf(child as JSONSchemaProps)
    }
  }
  return contents
}

/** The compiled branches of a schema. */
export interface Branches {
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
}
