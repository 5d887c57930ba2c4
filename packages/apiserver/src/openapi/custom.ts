import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { type Dialect, type Document, META, refOf } from './schemas.js'

const API_VERSION = {
  type: 'string',
  description: 'The group and version of this representation of the object, such as `example.org/v1`.',
}
const KIND = { type: 'string', description: 'The kind of the object, such as `Database`.' }

function metadataDocument(dialect: Dialect): Document {
  const description = 'Standard object metadata: name, labels, owners and more.'
  const ref = refOf(`${META}.ObjectMeta`, dialect)
  return dialect === 'v2' ? { ...ref, description } : { allOf: [ref], description }
}

/** Returns the schema of a custom resource as OpenAPI publishes it. */
export function customDocument(schema: JSONSchemaProps | undefined, dialect: Dialect): Document {
  // kubectl would reject unlisted properties of an object that accepts any.
  if (!schema || (dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields'])) return { type: 'object' }
  return embed(schema, dialect, true)
}

/** Embedded objects have apiVersion, kind and metadata. */
function embed(schema: JSONSchemaProps, dialect: Dialect, isRoot: boolean): Document {
  const document = dialect === 'v2' ? reduced(schema) : complete(schema)
  const unlisted = dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true
  if (!isRoot && (unlisted || !schema['x-kubernetes-embedded-resource'])) return document
  const properties = {
    ...(document['properties'] as Document | undefined),
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: metadataDocument(dialect),
  }
  const required = (document['required'] ?? []) as readonly string[]
  const whole = isRoot ? required : [...new Set([...required, 'kind', 'apiVersion'])]
  return { ...document, properties: sorted(properties), ...(whole.length > 0 ? { required: whole } : {}) }
}

function sorted(object: Document): Document {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

type Schemas = Readonly<Record<string, JSONSchemaProps>>

function mapChildren(schema: JSONSchemaProps, dialect: Dialect): Document {
  const { properties, items, additionalProperties } = schema
  const child = (one: JSONSchemaProps) => embed(one, dialect, false)
  const children = (all: Schemas) =>
    sorted(Object.fromEntries(Object.entries(all).map(([name, one]) => [name, child(one)])))
  return {
    ...(properties ? { properties: children(properties) } : {}),
    ...(items ? { items: child(items as JSONSchemaProps) } : {}),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? child(additionalProperties) : additionalProperties,
        }),
  }
}

function complete(schema: JSONSchemaProps): Document {
  const either = schema['x-kubernetes-int-or-string'] && !schema.anyOf ? { anyOf: intOrString } : {}
  return { ...schema, ...either, ...mapChildren(schema, 'v3') }
}

const intOrString = [{ type: 'integer' }, { type: 'string' }]

/** OpenAPI 2 has neither alternatives nor null, and kubectl takes the rest too literally, so parts are left out. */
function reduced(schema: JSONSchemaProps): Document {
  const { allOf: _a, oneOf: _o, anyOf: _y, not: _n, nullable, default: _d, ...rest } = schema
  const document: Document = { ...rest, ...mapChildren(schema, 'v2') }
  const anything = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (nullable || anything) {
    delete document['items']
    delete document['properties']
  }
  const shapeless = document['type'] === 'array' && !document['items']
  if (nullable || shapeless || (anything && document['type'] === 'object')) delete document['type']
  const required = schema.required?.filter((name) => !schema.properties?.[name]?.nullable)
  if (required && required.length > 0) document['required'] = required
  else delete document['required']
  return document
}
