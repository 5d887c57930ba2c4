import type { JSONSchemaProps, ValidationRule } from '@crosstie/cel/kubernetes'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors } from '../../errors.js'
import { getOwn } from '../../json.js'
import { findField } from './fieldpath.js'
import { printItems } from './internal.js'
import { structuralProblem } from './structural.js'
import { additionalSchema, isStated, itemSchema } from './walk.js'

const { required, invalid, forbidden, notSupported } = fieldErrors

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Reports whether a schema has a type that OpenAPI does not define. */
export const hasUnknownType = (schema: JSONSchemaProps) => isStated(schema.type) && !types.includes(schema.type!)

/** The parts of the validation that are skipped for definitions that violated them before. */
export interface Strictness {
  readonly validTypes: boolean
  readonly atomicSets: boolean
  readonly listMapKeys: boolean
}

interface Place {
  readonly root: boolean
  /** Whether the place is inside of apiVersion, kind or metadata of the object or of an embedded resource. */
  readonly insideMeta: boolean
  /** The reason why defaults are not allowed here, or undefined if they are. */
  readonly noDefaults?: string | undefined
}

/** Validates keywords: unsupported ones and contradictory ones. */
export function keywordErrors(schema: JSONSchemaProps, path: string, strictness: Strictness): FieldError[] {
  return errorsOf(schema, path, { root: true, insideMeta: false }, strictness)
}

function errorsOf(schema: JSONSchemaProps, path: string, place: Place, strictness: Strictness): FieldError[] {
  return [
    ...unsupportedErrors(schema, path, place, strictness),
    ...childErrors(schema, path, place, strictness),
    ...mapTypeErrors(schema, path),
    ...listTypeErrors(schema, path, strictness),
    ...ruleErrors(schema, path),
  ]
}

function unsupportedErrors(
  schema: JSONSchemaProps,
  path: string,
  place: Place,
  { validTypes }: Strictness,
): FieldError[] {
  const errors: FieldError[] = []
  const unsupported = (key: string) => errors.push(forbidden(`${path}.${key}`, `${key} is not supported`))
  if (validTypes && hasUnknownType(schema)) errors.push(notSupported(`${path}.type`, schema.type, types))
  if (schema.default !== undefined && schema.default !== null && place.noDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`))
  }
  if (schema.id) unsupported('id')
  if (schema.additionalItems !== undefined && schema.additionalItems !== null) unsupported('additionalItems')
  if (Object.keys(schema.patternProperties ?? {}).length > 0) unsupported('patternProperties')
  if (Object.keys(schema.definitions ?? {}).length > 0) unsupported('definitions')
  if (schema.dependencies) unsupported('dependencies')
  if (typeof schema.$ref === 'string') unsupported('$ref')
  if (schema.type === 'null') {
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(`${path}.uniqueItems`, detail))
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  return errors
}

function childErrors(schema: JSONSchemaProps, path: string, place: Place, strictness: Strictness): FieldError[] {
  const errors: FieldError[] = []
  const inner = { ...place, root: false }
  const visit = (child: JSONSchemaProps | undefined | null, at: string, where: Place = inner) => {
    if (child) append(errors, errorsOf(child, `${path}.${at}`, where, strictness))
  }
  const additional = schema.additionalProperties
  if (additional === false || additionalSchema(schema)) {
    if (Object.keys(schema.properties ?? {}).length > 0) {
      const detail = 'additionalProperties and properties are mutual exclusive'
      errors.push(forbidden(`${path}.additionalProperties`, detail))
    }
    const noDefaults = place.insideMeta ? 'inside additionalProperties applying to object metadata' : place.noDefaults
    visit(additionalSchema(schema), 'additionalProperties', { ...inner, noDefaults })
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    visit(property, `properties[${name}]`, placeOfProperty(schema, name, place))
  }
  visit(schema.not, 'not')
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    schema[junctor]?.forEach((branch, i) => {
      visit(branch, `${junctor}[${i}]`)
    })
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {})) visit(definition, `definitions[${name}]`)
  visit(itemSchema(schema), 'items')
  if (Array.isArray(schema.items)) {
    schema.items.forEach((item: JSONSchemaProps, i: number) => {
      visit(item, `items[${i}]`)
    })
  }
  for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
    if (!Array.isArray(dependency)) visit(dependency as JSONSchemaProps, `dependencies[${name}]`)
  }
  return errors
}

function placeOfProperty(schema: JSONSchemaProps, name: string, place: Place): Place {
  const isMeta = name === 'metadata' || name === 'kind' || name === 'apiVersion'
  if (!isMeta || !(place.root || schema['x-kubernetes-embedded-resource'])) return { ...place, root: false }
  return { root: false, insideMeta: true, noDefaults: place.root ? `in top-level ${name}` : place.noDefaults }
}

function mapTypeErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const mapType = schema['x-kubernetes-map-type'] as string | undefined
  if (mapType === undefined || mapType === null) return []
  const errors = wrongType(schema, 'object', `${path}.type`, 'must be object if x-kubernetes-map-type is specified')
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
  }
  return errors
}

function wrongType(schema: JSONSchemaProps, type: string, path: string, detail: string): FieldError[] {
  if (schema.type === type) return []
  return [schema.type ? invalid(path, schema.type, detail) : required(path, detail)]
}

function listTypeErrors(schema: JSONSchemaProps, path: string, strictness: Strictness): FieldError[] {
  const listType = schema['x-kubernetes-list-type'] as string | undefined | null
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const at = `${path}.x-kubernetes-list-type`
  const errors: FieldError[] = []
  if (typeof listType === 'string') {
    const wrong = wrongType(schema, 'array', `${path}.type`, 'must be array if x-kubernetes-list-type is specified')
    append(errors, wrong)
    if (wrong.length === 0 && strictness.atomicSets) append(errors, setItemErrors(schema, path))
    if (!['atomic', 'set', 'map'].includes(listType)) {
      errors.push(notSupported(at, listType, ['atomic', 'set', 'map']))
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(typeof listType === 'string' ? invalid(at, listType, detail) : required(at, detail))
  }
  if (listType === 'map') append(errors, listMapErrors(schema, keys, path))
  if (strictness.listMapKeys) append(errors, listMapKeyErrors(schema, path))
  return errors
}

/** Reports whether a set has items that are merged, which is not allowed. */
export function hasGranularSet(schema: JSONSchemaProps): boolean {
  return setItemErrors(schema, '').length > 0
}

function setItemErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const items = itemSchema(schema)
  if (schema['x-kubernetes-list-type'] !== 'set' || !items) return []
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type'] ?? null
  if (items.type === 'array' && listType !== null && listType !== 'atomic') {
    return [invalid(`${path}.items.x-kubernetes-list-type`, listType, detail)]
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalid(`${path}.items.x-kubernetes-map-type`, listType, detail)]
  }
  return []
}

function listMapErrors(schema: JSONSchemaProps, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const items = itemSchema(schema)
  const at = `${path}.x-kubernetes-list-map-keys`
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'))
  if (!schema.items) {
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'))
  } else if (!items) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map'
    errors.push(invalid(`${path}.items`, printItems(schema.items), detail))
  } else if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalid(`${path}.items.type`, items.type ?? '', detail))
  } else append(errors, listMapPropertyErrors(items, keys, path, at))
  return errors
}

function listMapPropertyErrors(
  items: JSONSchemaProps,
  keys: readonly string[],
  path: string,
  at: string,
): FieldError[] {
  const errors: FieldError[] = []
  keys.forEach((key, i) => {
    const property = getOwn(items.properties ?? {}, key) as JSONSchemaProps | undefined
    if (!property) errors.push(invalid(at, keys, 'entries must all be names of item properties'))
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail))
    }
    if (keys.indexOf(key) < i) errors.push(invalid(at, keys, 'must not contain duplicate entries'))
  })
  return errors
}

/** Reports whether keys of a keyed list are optional, or its items nullable. */
export function hasLooseListKeys(schema: JSONSchemaProps): boolean {
  return listMapKeyErrors(schema, '').length > 0
}

function listMapKeyErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const items = itemSchema(schema)
  const listType = schema['x-kubernetes-list-type']
  if (!items || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(forbidden(`${path}.items.nullable`, detail))
  }
  if (listType === 'set') return errors
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = getOwn(items.properties ?? {}, key) as JSONSchemaProps | undefined
    if (!property) continue
    const at = `${path}.items.properties[${key}]`
    if (!items.required?.includes(key) && (property.default ?? null) === null) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push(required(`${at}.default`, detail))
    }
    if (property.nullable) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      errors.push(forbidden(`${at}.nullable`, detail))
    }
  }
  return errors
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** Validates the parts of rules that do not need compilation. */
function ruleErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  return rules.flatMap((rule, i) => [
    ...messageErrors(rule, `${path}.x-kubernetes-validations[${i}]`),
    ...reasonAndPathErrors(rule, schema, `${path}.x-kubernetes-validations[${i}]`),
  ])
}

const hasLineBreaks = (text: string) => /[\n\r]/.test(text)

function messageErrors(
  { rule = '', message = '', messageExpression = '' }: ValidationRule,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (rule.trim() === '') errors.push(required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'))
  } else if (hasLineBreaks(message.trim())) {
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
  } else if (hasLineBreaks(rule.trim()) && message.trim() === '') {
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  return errors
}

function reasonAndPathErrors(rule: ValidationRule, schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { reason, fieldPath = '' } = rule
  if (typeof reason === 'string' && !reasons.includes(reason)) {
    errors.push(notSupported(`${path}.reason`, reason, reasons))
  }
  if (fieldPath === '') return errors
  const complain = (detail: string) => errors.push(invalid(`${path}.fieldPath`, fieldPath, detail))
  if (fieldPath.trim() === '') complain('must be non-empty if specified')
  if (hasLineBreaks(fieldPath)) complain('must not contain line breaks')
  if (structuralProblem(schema) === undefined && 'error' in findField(fieldPath, schema)) {
    complain('must be a valid path')
  }
  return errors
}
