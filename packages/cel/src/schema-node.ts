import { isObject } from './kubernetes/json.js'
import type { JSONSchemaProps, ValidationRule } from './kubernetes/schema.js'
import { escapeName } from './names.js'

/** A property of a schema. */
export interface SchemaField {
  /** The name of the property in the object. */
  readonly property: string
  readonly node: SchemaNode
}

const stringNode = (): SchemaNode => new SchemaNode({ type: 'string' })

/** A structural schema, prepared for expressions. Derived parts are computed once, on first use. */
export class SchemaNode {
  readonly type: string
  readonly format: string
  readonly nullable: boolean
  readonly intOrString: boolean
  readonly preservesUnknown: boolean
  readonly embedded: boolean
  readonly listType: string
  readonly listMapKeys: readonly string[]
  readonly rules: readonly ValidationRule[]
  private cachedProperties: ReadonlyMap<string, SchemaNode> | undefined
  private cachedItems: SchemaNode | undefined
  private cachedAdditional: SchemaNode | undefined
  private cachedFields: ReadonlyMap<string, SchemaField> | undefined
  private cachedMeta: SchemaNode | undefined

  constructor(
    readonly schema: JSONSchemaProps,
    properties?: ReadonlyMap<string, SchemaNode>,
  ) {
    this.type = schema.type ?? ''
    this.format = schema.format ?? ''
    this.nullable = schema.nullable ?? false
    this.intOrString = schema['x-kubernetes-int-or-string'] ?? false
    this.preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] ?? false
    this.embedded = schema['x-kubernetes-embedded-resource'] ?? false
    this.listType = schema['x-kubernetes-list-type'] ?? ''
    this.listMapKeys = schema['x-kubernetes-list-map-keys'] ?? []
    this.rules = schema['x-kubernetes-validations'] ?? []
    this.cachedProperties = properties
  }

  /** The properties, or undefined if the schema does not state `properties`. */
  get properties(): ReadonlyMap<string, SchemaNode> | undefined {
    const stated = this.schema.properties
    if (!this.cachedProperties && stated && Object.keys(stated).length > 0) {
      this.cachedProperties = new Map(Object.entries(stated).map(([name, schema]) => [name, new SchemaNode(schema)]))
    }
    return this.cachedProperties
  }

  get items(): SchemaNode | undefined {
    const { items } = this.schema
    if (!this.cachedItems && isObject(items)) this.cachedItems = new SchemaNode(items as JSONSchemaProps)
    return this.cachedItems
  }

  get additional(): SchemaNode | undefined {
    const { additionalProperties } = this.schema
    if (!this.cachedAdditional && isObject(additionalProperties)) {
      this.cachedAdditional = new SchemaNode(additionalProperties as JSONSchemaProps)
    }
    return this.cachedAdditional
  }

  /** The fields by the names that expressions use. */
  get fields(): ReadonlyMap<string, SchemaField> {
    if (!this.cachedFields) {
      const fields = new Map<string, SchemaField>()
      for (const [property, node] of this.properties ?? []) {
        const name = escapeName(property)
        if (name !== undefined) fields.set(name, { property, node })
      }
      this.cachedFields = fields
    }
    return this.cachedFields
  }

  /**
   * Returns the schema of a resource's root, in which apiVersion, kind, metadata.name and metadata.generateName are
   * declared.
   */
  withTypeAndObjectMeta(): SchemaNode {
    this.cachedMeta ??= this.hasTypeAndObjectMeta() ? this : this.addTypeAndObjectMeta()
    return this.cachedMeta
  }

  private hasTypeAndObjectMeta(): boolean {
    const metadata = this.properties?.get('metadata')
    return (
      this.properties?.get('kind')?.type === 'string' &&
      this.properties.get('apiVersion')?.type === 'string' &&
      metadata?.type === 'object' &&
      metadata.properties?.get('name')?.type === 'string' &&
      metadata.properties.get('generateName')?.type === 'string'
    )
  }

  private addTypeAndObjectMeta(): SchemaNode {
    const names = new Map([
      ['name', stringNode()],
      ['generateName', stringNode()],
    ])
    const properties = new Map(this.properties)
    properties.set('kind', stringNode())
    properties.set('apiVersion', stringNode())
    properties.set('metadata', new SchemaNode({ type: 'object' }, names))
    return new SchemaNode(this.schema, properties)
  }
}
