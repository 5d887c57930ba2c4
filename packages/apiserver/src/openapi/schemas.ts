import { describe } from '../gotypes/descriptions.js'
import { type GoField, type GoStruct, type GoType, goStruct, type SpecialName } from '../gotypes/go-type.js'

/** The version of OpenAPI. Version 2 has other keywords and is less expressive. */
export type Dialect = 'v2' | 'v3'

/** A JSON document. */
export type Document = Record<string, unknown>

/** The package of metav1. */
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

/** Returns a reference to a model. */
export function refOf(model: string, dialect: Dialect): Document {
  return { $ref: `#/${dialect === 'v2' ? 'definitions' : 'components/schemas'}/${model}` }
}

/** The models of types with their own encoding. */
const specialModels: Readonly<Record<SpecialName, string>> = {
  Time: `${META}.Time`,
  MicroTime: `${META}.MicroTime`,
  FieldsV1: `${META}.FieldsV1`,
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  JSON: `${EXTENSIONS}.JSON`,
  JSONSchemaPropsOrBool: `${EXTENSIONS}.JSONSchemaPropsOrBool`,
  JSONSchemaPropsOrArray: `${EXTENSIONS}.JSONSchemaPropsOrArray`,
  JSONSchemaPropsOrStringArray: `${EXTENSIONS}.JSONSchemaPropsOrStringArray`,
}

const leaves: Readonly<Record<string, Document>> = {
  [specialModels.Time]: { type: 'string', format: 'date-time', description: 'A time with a resolution of seconds.' },
  [specialModels.MicroTime]: {
    type: 'string',
    format: 'date-time',
    description: 'A time with a resolution of microseconds.',
  },
  [specialModels.FieldsV1]: { type: 'object', description: 'A set of fields, encoded as a trie in JSON.' },
  [specialModels.RawExtension]: { type: 'object', description: 'An object of any kind.' },
  [specialModels.IntOrString]: {
    type: 'string',
    format: 'int-or-string',
    description: 'A number or a string.',
  },
  [specialModels.JSON]: { description: 'Any JSON value.' },
  [specialModels.JSONSchemaPropsOrBool]: { description: 'A schema or a boolean.' },
  [specialModels.JSONSchemaPropsOrArray]: { description: 'A schema or a list of schemas.' },
  [specialModels.JSONSchemaPropsOrStringArray]: { description: 'A schema or a list of names.' },
  [`${META}.Patch`]: { type: 'object', description: 'A patch in the format that the Content-Type names.' },
}

/** The schema of a type. */
export interface Model {
  readonly document: Document
  /** The models that it references. */
  readonly refs: readonly string[]
}

const models = { v2: new Map<string, Model>(), v3: new Map<string, Model>() }

/** Returns the model of an API type. It is computed once. */
export function structModel(name: string, dialect: Dialect): Model {
  let model = models[dialect].get(name)
  if (!model) {
    const refs = new Set<string>()
    const document = leaves[name] ?? structDocument(goStruct(name), dialect, refs)
    model = { document, refs: [...refs] }
    models[dialect].set(name, model)
  }
  return model
}

function structDocument(struct: GoStruct, dialect: Dialect, refs: Set<string>): Document {
  const properties: Document = {}
  const fields = [...struct.fields].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const field of fields) properties[field.name] = fieldDocument(struct, field, dialect, refs)
  const required = struct.fields.filter((field) => field.required).map(({ name }) => name)
  const description = describe(struct.model)
  return {
    ...(description ? { description } : {}),
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    ...(fields.length > 0 ? { properties } : {}),
    ...extensions(struct),
  }
}

function extensions({ facts }: Pick<GoField, 'facts'>): Document {
  return {
    ...(facts.keys ? { 'x-kubernetes-list-map-keys': facts.keys } : {}),
    ...(facts.list ? { 'x-kubernetes-list-type': facts.list } : {}),
    ...(facts.map ? { 'x-kubernetes-map-type': facts.map } : {}),
    ...(facts.mergeKey ? { 'x-kubernetes-patch-merge-key': facts.mergeKey } : {}),
    ...(facts.strategy ? { 'x-kubernetes-patch-strategy': facts.strategy } : {}),
  }
}

function fieldDocument(struct: GoStruct, field: GoField, dialect: Dialect, refs: Set<string>): Document {
  const description = describe(struct.model, field.name)
  const { facts } = field
  const extras = {
    ...(description ? { description } : {}),
    ...defaultOf(field, dialect),
    ...(facts.enum ? { enum: facts.enum } : {}),
    ...extensions(field),
  }
  return withExtras(typeDocument(field.type, dialect, refs), extras, dialect)
}

const zeros: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0 }

/** Fields that Go always writes have a zero value as default. Only OpenAPI 3 states it. */
function defaultOf({ facts, type, omitEmpty }: GoField, dialect: Dialect): Document {
  if (facts.default !== undefined) return { default: facts.default }
  if (dialect === 'v2') return {}
  if (type.kind === 'struct') return { default: {} }
  return omitEmpty || !(type.kind in zeros) ? {} : { default: zeros[type.kind] }
}

/** In OpenAPI 3 a reference cannot have siblings. */
function withExtras(schema: Document, extras: Document, dialect: Dialect): Document {
  if (dialect === 'v2' || !('$ref' in schema) || Object.keys(extras).length === 0) return { ...schema, ...extras }
  return { ...extras, allOf: [schema] }
}

function typeDocument(type: GoType, dialect: Dialect, refs: Set<string>): Document {
  switch (type.kind) {
    case 'string':
      return { type: 'string' }
    case 'bool':
      return { type: 'boolean' }
    case 'int32':
    case 'int64':
      return { type: 'integer', format: type.kind }
    case 'float64':
      return { type: 'number', format: 'double' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'any':
      return {}
    case 'pointer':
      return typeDocument(type.of, dialect, refs)
    case 'slice':
      return { type: 'array', items: elementDocument(type.of, dialect, refs) }
    case 'map':
      return { type: 'object', additionalProperties: elementDocument(type.of, dialect, refs) }
    case 'struct':
      return modelDocument(type.model, dialect, refs)
    case 'special':
      return modelDocument(specialModels[type.name], dialect, refs)
  }
}

/** Elements that are not pointers have Go's zero value as default. */
function elementDocument(type: GoType, dialect: Dialect, refs: Set<string>): Document {
  const schema = typeDocument(type, dialect, refs)
  if (dialect === 'v2') return schema
  if (type.kind === 'struct') return { default: {}, allOf: [schema] }
  return type.kind === 'string' ? { ...schema, default: '' } : schema
}

function modelDocument(model: string, dialect: Dialect, refs: Set<string>): Document {
  refs.add(model)
  return refOf(model, dialect)
}
