import { admissionEnvironment, CompileError, type ExpressionEnvironment, type VariableType } from '@crosstie/cel'
import { isObject, type KubeObject, type ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import type { ExpressionCheck, ExpressionUse } from '../../builtin/index.js'
import { compileIn, environmentFor } from '../webhooks/expressions.js'
import type { ExpressionWarning } from './status.js'

/** kube-apiserver checks at most this number of kinds for one rule. */
const TYPES_MAX = 10

const wanted: Readonly<Record<ExpressionUse, readonly string[]>> = {
  matchCondition: ['bool'],
  validation: ['bool'],
  message: ['string'],
  auditAnnotation: ['string', 'null_type'],
  variable: [],
}

/** Returns the problem of an expression in a webhook configuration or policy. Undefined when it is valid. */
export const checkExpression: ExpressionCheck = (expression, use, { params, authorizer, variables }) => {
  const bare = environmentFor(params, authorizer, false)
  let environment = use === 'matchCondition' ? bare : bare.withVariables()
  for (const { name, expression: value } of variables) environment = environment.compose(name, value).environment
  const compiled = compileIn(environment, expression, wanted[use])
  return 'broken' in compiled ? compiled.broken : undefined
}

/** The information about kinds that type checking needs. */
export interface CheckedKinds {
  /** Returns the served kind. None of the arguments is a wildcard. */
  resolve(group: string, version: string, resource: string): ResourceType | undefined
  find(apiVersion: string, kind: string): ResourceType | undefined
  schema(type: ResourceType): JSONSchemaProps | undefined
}

/**
 * Returns warnings for the status of a policy: expressions that do not match the schemas of its kinds. They do not
 * affect evaluation.
 */
export function checkTypes(policy: KubeObject, kinds: CheckedKinds): ExpressionWarning[] {
  const spec = isObject(policy['spec']) ? policy['spec'] : {}
  const contexts = typesOf(spec, kinds).flatMap((type) => contextFor(type, spec, kinds))
  if (contexts.length === 0) return []
  const warn = (fieldRef: string, expression: unknown): ExpressionWarning[] => {
    if (typeof expression !== 'string' || expression === '') return []
    const warning = contexts.flatMap((context) => issuesIn(context, expression)).join('\n')
    return warning === '' ? [] : [{ fieldRef, warning }]
  }
  return itemsOf(spec['validations']).flatMap(({ expression, messageExpression }, i) => [
    ...warn(`spec.validations[${i}].expression`, expression),
    ...warn(`spec.validations[${i}].messageExpression`, messageExpression),
  ])
}

interface Context {
  readonly type: ResourceType
  readonly environment: ExpressionEnvironment
}

function contextFor(type: ResourceType, spec: Record<string, unknown>, kinds: CheckedKinds): Context[] {
  const schema = kinds.schema(type)
  if (!schema) return []
  const object = variableType(rooted(schema), type.kind)
  const paramKind = isObject(spec['paramKind']) ? spec['paramKind'] : undefined
  const paramType = paramKind && kinds.find(String(paramKind['apiVersion']), String(paramKind['kind']))
  const paramSchema = paramType && kinds.schema(paramType)
  const params = paramSchema && variableType(rooted(paramSchema), `${paramType.kind}Params`)
  let environment = admissionEnvironment({ authorizer: true, stored: true, object, params: params ?? false })
  for (const { name, expression } of itemsOf(spec['variables'])) {
    environment = environment.compose(String(name), String(expression)).environment
  }
  return [{ type, environment }]
}

function issuesIn({ type, environment }: Context, expression: string): string[] {
  try {
    environment.compile(expression)
    return []
  } catch (error) {
    if (!(error instanceof CompileError)) throw error
    const { group, version, kind } = type
    return [`${group}/${version}, Kind=${kind}: ${error.message}\n`]
  }
}

/** Returns the kinds that the rules name explicitly, sorted by group, version and kind. */
function typesOf(spec: Record<string, unknown>, kinds: CheckedKinds): ResourceType[] {
  const constraints = isObject(spec['matchConstraints']) ? spec['matchConstraints'] : {}
  const found = new Map<string, ResourceType>()
  for (const rule of itemsOf(constraints['resourceRules'])) {
    let count = 0
    for (const group of named(rule['apiGroups'])) {
      for (const version of named(rule['apiVersions'])) {
        for (const resource of named(rule['resources'])) {
          const type = resource.includes('/') ? undefined : kinds.resolve(group, version, resource)
          if (!type || count++ >= TYPES_MAX) continue
          found.set(`${type.group}\n${type.version}\n${type.kind}`, type)
        }
      }
    }
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type)
}

/** A wildcard may match future kinds, so it is not checked. */
function named(value: unknown): string[] {
  const words = Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
  return words.includes('*') ? [] : [...words].sort()
}

/** Adds apiVersion, kind and metadata, which every object has. */
function rooted(schema: JSONSchemaProps): JSONSchemaProps {
  const metadata = schema.properties?.['metadata']
  return {
    ...schema,
    properties: {
      apiVersion: text,
      kind: text,
      ...schema.properties,
      metadata: metadata?.properties ? metadata : objectMeta,
    },
  }
}

const text = { type: 'string' }
const strings = { type: 'array', items: text }
const texts = { type: 'object', additionalProperties: text }
const anything = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const objectMeta: JSONSchemaProps = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: texts,
    annotations: texts,
    finalizers: strings,
    ownerReferences: anything,
    managedFields: anything,
  },
}

/** Converts a schema to the type of a CEL variable. Unspecified parts are dynamic. */
function variableType(schema: JSONSchemaProps, name: string): VariableType {
  if (schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields']) return 'dyn'
  switch (schema.type) {
    case 'object':
      return objectType(schema, name)
    case 'array':
      return isObject(schema.items) ? { list: variableType(schema.items, `${name}.@idx`) } : 'dyn'
    case 'string':
      return stringType(schema.format)
    case 'integer':
      return 'int'
    case 'number':
      return 'double'
    case 'boolean':
      return 'bool'
    default:
      return 'dyn'
  }
}

function objectType(schema: JSONSchemaProps, name: string): VariableType {
  const { properties, additionalProperties } = schema
  if (isObject(additionalProperties)) return { map: variableType(additionalProperties, `${name}.@elem`) }
  if (!properties) return 'dyn'
  const fields = Object.entries(properties).map(([field, child]) => [field, variableType(child, `${name}.${field}`)])
  return { name, object: Object.fromEntries(fields) }
}

function stringType(format: string | undefined): VariableType {
  if (format === 'byte') return 'bytes'
  if (format === 'duration') return 'duration'
  return format === 'date' || format === 'date-time' ? 'timestamp' : 'string'
}

function itemsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
