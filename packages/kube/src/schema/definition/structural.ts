import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { RE2JS } from 're2js'
import { append } from '../../arrays.js'
import { type FieldError, fieldErrors, fieldErrorText, messageOf } from '../../errors.js'
import { getOwn } from '../../json.js'
import { additionalSchema, isStated, itemSchema } from './walk.js'

const { required, invalid, forbidden } = fieldErrors

type Level = 'root' | 'item' | 'field'

/** Returns the reason why a schema cannot be converted to a structural one, or undefined. */
export function structuralProblem(schema: JSONSchemaProps): string | undefined {
  const unsupported = unsupportedKeyword(schema)
  if (unsupported) return `OpenAPIV3Schema '${unsupported}' is not supported`
  for (const branch of [
    ...asList(schema.not),
    ...asList(schema.allOf),
    ...asList(schema.anyOf),
    ...asList(schema.oneOf),
  ]) {
    const problem = structuralProblem(branch)
    if (problem) return problem
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  }
  for (const child of [itemSchema(schema), ...Object.values(schema.properties ?? {}), additionalSchema(schema)]) {
    const problem = child && structuralProblem(child)
    if (problem) return problem
  }
  return undefined
}

function unsupportedKeyword(schema: JSONSchemaProps): string | undefined {
  if (schema.id) return 'id'
  if (schema.$schema) return 'schema'
  if (schema.$ref) return '$ref'
  if (Object.keys(schema.patternProperties ?? {}).length > 0) return 'patternProperties'
  if (Object.keys(schema.dependencies ?? {}).length > 0) return 'dependencies'
  if (isStated(schema.additionalItems) || schema.additionalItems === false) return 'additionalItems'
  return Object.keys(schema.definitions ?? {}).length > 0 ? 'definitions' : undefined
}

const asList = (value: JSONSchemaProps | readonly JSONSchemaProps[] | undefined): readonly JSONSchemaProps[] =>
  value ? (Array.isArray(value) ? value : [value as JSONSchemaProps]) : []

/**
 * Validates that a schema is structural: types are stated outside of allOf, anyOf, oneOf and not, and fields that
 * these constrain are declared outside of them too.
 */
export function structuralErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)]
  const texts = new Map(errors.map((error) => [error, fieldErrorText(error)]))
  return errors.sort((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : texts.get(a)! > texts.get(b)! ? 1 : 0))
}

/** Reports whether a schema is structural. */
export function isStructural(schema: JSONSchemaProps): boolean {
  return structuralProblem(schema) === undefined && structuralErrors(schema, '').length === 0
}

function invariants(schema: JSONSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = []
  const items = itemSchema(schema)
  const additional = additionalSchema(schema)
  if (schema.type === 'array' && !schema.items) errors.push(required(`${path}.items`, 'must be specified'))
  if (items) append(errors, invariants(items, 'item', `${path}.items`))
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    append(errors, invariants(property, 'field', `${path}.properties[${name}]`))
  }
  if (statesAdditional(schema) && level === 'root') {
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'))
  }
  if (additional) append(errors, invariants(additional, 'field', `${path}.additionalProperties`))
  append(errors, extensionErrors(schema, path))
  append(errors, valueErrors(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), path))
  append(errors, typeErrors(schema, level, path))
  append(errors, metaErrors(schema, level, path))
  return errors
}

/** Reports whether additionalProperties are stated. `additionalProperties: false` counts too. */
const statesAdditional = (schema: JSONSchemaProps) =>
  schema.additionalProperties !== undefined && schema.additionalProperties !== null

function extensionErrors(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (!schema['x-kubernetes-int-or-string']) return errors
  for (const extension of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (!schema[extension]) continue
    errors.push(invalid(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true'))
  }
  return errors
}

function typeErrors(schema: JSONSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = []
  const type = schema.type ?? ''
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail))
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !preserves) {
    errors.push(required(`${path}.type`, `must not be empty ${untyped[level]}`))
  }
  if (embedded && statesAdditional(schema)) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbidden(`${path}.additionalProperties`, detail))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(`${path}.type`, type, 'must be object at the root'))
  }
  if (embedded && !preserves && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(`${path}.properties`, detail))
  }
  return errors
}

const untyped: Record<Level, string> = {
  root: 'at the root',
  item: 'for specified array items',
  field: 'for specified object fields',
}

/** Validates the schemas of apiVersion, kind and metadata, which may state almost nothing. */
function metaErrors(schema: JSONSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = []
  const isObject = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  const properties = schema.properties ?? {}
  for (const name of ['kind', 'apiVersion']) {
    const property = getOwn(properties, name) as JSONSchemaProps | undefined
    if (isObject && property && property.type !== 'string') {
      errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'))
    }
  }
  const metadata = getOwn(properties, 'metadata') as JSONSchemaProps | undefined
  if (!metadata) return errors
  const at = `${path}.properties[metadata]`
  if (isObject && metadata.type !== 'object') errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'))
  if (level === 'root' && restrictsMetadata(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(at, detail))
  }
  return errors
}

function restrictsMetadata(metadata: JSONSchemaProps): boolean {
  const allowed = new Set(['type', 'default', 'externalDocs', 'example'])
  const names = Object.keys(metadata.properties ?? {})
  if (names.every((name) => name === 'name' || name === 'generateName')) allowed.add('properties')
  return Object.entries(metadata).some(
    ([key, value]) => !allowed.has(key) && isStated(value) && !isEmptyJunctor(key, value),
  )
}

const isEmptyJunctor = (key: string, value: unknown) =>
  ['allOf', 'anyOf', 'oneOf', 'enum'].includes(key) && Array.isArray(value) && value.length === 0

/**
 * Reports whether branches are `anyOf: [{type: integer}, {type: string}]`, the only combination that may state
 * types.
 */
function isIntOrString(branches: readonly JSONSchemaProps[] | undefined): boolean {
  return branches?.length === 2 && saysOnly(branches[0]!, 'integer') && saysOnly(branches[1]!, 'string')
}

function saysOnly(schema: JSONSchemaProps, type: string): boolean {
  return schema.type === type && Object.entries(schema).every(([key, value]) => key === 'type' || !isStated(value))
}

/** Validates a branch, which may contain only value validations. */
function valueErrors(schema: JSONSchemaProps, skipAnyOf: boolean, skipFirstAllOf: boolean, path: string): FieldError[] {
  const errors: FieldError[] = []
  const branches = (name: 'anyOf' | 'allOf' | 'oneOf', skip: (i: number) => boolean) =>
    schema[name]?.forEach((branch, i) => {
      append(errors, branchErrors(branch, skip(i), `${path}.${name}[${i}]`))
    })
  if (!skipAnyOf) branches('anyOf', () => false)
  branches('allOf', (i) => skipFirstAllOf && i === 0)
  branches('oneOf', () => false)
  if (schema.not) append(errors, branchErrors(schema.not, false, `${path}.not`))
  if (schema.pattern) append(errors, patternErrors(schema.pattern, `${path}.pattern`))
  return errors
}

function patternErrors(pattern: string, path: string): FieldError[] {
  try {
    RE2JS.compile(pattern)
    return []
  } catch (error) {
    // Go prints the rest of the text even if it is empty.
    const text = messageOf(error).replace(/(trailing backslash at end of expression)$/, '$1: ``')
    return [invalid(path, pattern, `must be a valid regular expression, but isn't: ${text}`)]
  }
}

const emptyInBranches: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function branchErrors(branch: JSONSchemaProps, skipAnyOf: boolean, path: string): FieldError[] {
  const errors = valueErrors(branch, skipAnyOf, false, path)
  const items = itemSchema(branch)
  if (items) append(errors, branchErrors(items, false, `${path}.items`))
  const properties = branch.properties ?? {}
  for (const [name, property] of Object.entries(properties)) {
    append(errors, branchErrors(property, false, `${path}.properties[${name}]`))
  }
  if (additionalSchema(branch) || branch.additionalProperties === true) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'))
  }
  for (const [key, detail] of emptyInBranches) {
    const value = branch[key]
    const stated = key === 'default' ? value !== undefined && value !== null : isStated(value)
    if (stated && !(Array.isArray(value) && value.length === 0)) errors.push(forbidden(`${path}.${key}`, detail))
  }
  if (Object.hasOwn(properties, 'metadata')) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  }
  return errors
}

/** Validates that the fields of a branch are declared outside of it. */
function completeness(branch: JSONSchemaProps, schema: JSONSchemaProps, at: string, from: string): FieldError[] {
  const errors: FieldError[] = []
  if (branch.not) append(errors, branchCompleteness(branch.not, schema, at, `${from}.not`))
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    branch[name]?.forEach((inner, i) => {
      append(errors, branchCompleteness(inner, schema, at, `${from}.${name}[${i}]`))
    })
  }
  return errors
}

function branchCompleteness(
  branch: JSONSchemaProps,
  schema: JSONSchemaProps | undefined,
  at: string,
  from: string,
): FieldError[] {
  if (!schema) return [required(at, `because it is defined in ${from}`)]
  const errors = completeness(branch, schema, at, from)
  const items = itemSchema(branch)
  if (items) append(errors, branchCompleteness(items, itemSchema(schema), `${at}.items`, `${from}.items`))
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    const declared = getOwn(schema.properties ?? {}, name) as JSONSchemaProps | undefined
    const key = `properties[${name}]`
    append(errors, branchCompleteness(property, declared, `${at}.${key}`, `${from}.${key}`))
  }
  return errors
}
