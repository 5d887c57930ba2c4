import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { type Node, referenceFields, secretRefField } from './schema.js'

/**
 * The section of an object. `initProvider` has the fields of `forProvider`, all optional. `atProvider` holds the
 * observed state.
 */
export type Side = 'forProvider' | 'initProvider' | 'atProvider'

const scalarTypes = { string: 'string', integer: 'integer', number: 'number', boolean: 'boolean' } as const

/** Returns the OpenAPI schema of a field for one section of the object. */
export function openApiOf(node: Node, side: Side): JSONSchemaProps {
  return { ...described(node.doc), ...shapeOf(node, side, false) }
}

function shapeOf(node: Node, side: Side, inList: boolean): JSONSchemaProps {
  switch (node.type) {
    case 'object':
      return objectOf(node, side, inList)
    case 'map':
      return { type: 'object', additionalProperties: openApiOfItem(node.items!, side) }
    case 'list':
      return listOf(node, side)
    case 'json':
      return { ...(node.document ? { type: 'object' } : {}), 'x-kubernetes-preserve-unknown-fields': true }
    case 'integer':
      return { type: 'integer', format: 'int64', ...limitsOf(node, side) }
    default:
      return { type: scalarTypes[node.type], ...limitsOf(node, side) }
  }
}

function objectOf(node: Node, side: Side, inList: boolean): JSONSchemaProps {
  const properties: Record<string, JSONSchemaProps> = {}
  const required: string[] = []
  for (const [name, field] of Object.entries(node.fields ?? {})) {
    if (field.sensitive) {
      if (side !== 'atProvider') properties[secretRefField(name)] = secretKeySelector(field)
      continue
    }
    properties[name] = { ...described(field.doc), ...shapeOf(field, side, inList) }
    if (field.reference && side !== 'atProvider') Object.assign(properties, referenceProperties(name, field))
    if (mustBeThere(field, side, inList)) required.push(name)
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

/**
 * Returns whether the schema requires the field. Outside of lists, a rule on the spec requires it instead (see
 * rules.ts), because the requirement depends on the policies and on initProvider. Identifiers are always required,
 * unless a reference can set them.
 */
function mustBeThere(field: Node, side: Side, inList: boolean): boolean {
  if (side !== 'forProvider') return false
  if (field.identifier && !field.reference) return true
  return inList && !field.optional && !field.reference
}

function openApiOfItem(node: Node, side: Side): JSONSchemaProps {
  return { ...described(node.doc), ...shapeOf(node, side, true) }
}

function listOf(node: Node, side: Side): JSONSchemaProps {
  const items = openApiOfItem(node.items!, side)
  const { minItems, maxItems } = node.limits
  const limits = side === 'forProvider' ? { ...(minItems ? { minItems } : {}), ...(maxItems ? { maxItems } : {}) } : {}
  // The status accepts every value that the provider reports, even one that the spec would not accept.
  if (side === 'atProvider') return { type: 'array', items }
  if (node.keys) {
    const required = [...new Set([...node.keys, ...(items.required ?? [])])]
    return {
      type: 'array',
      ...limits,
      items: { ...items, required },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': node.keys,
    }
  }
  const scalar = node.items!.type !== 'object' && node.items!.type !== 'list' && node.items!.type !== 'map'
  return {
    type: 'array',
    ...limits,
    items,
    ...(node.set && scalar ? { 'x-kubernetes-list-type': 'set' as const } : {}),
  }
}

function limitsOf(node: Node, side: Side): JSONSchemaProps {
  if (side === 'atProvider') return {}
  const { default: given, ...limits } = node.limits
  return { ...limits, ...(given !== undefined && side === 'forProvider' ? { default: given } : {}) }
}

const described = (doc: string): JSONSchemaProps => (doc === '' ? {} : { description: doc })

const string = (description: string): JSONSchemaProps => ({ type: 'string', description })

function secretKeySelector(field: Node): JSONSchemaProps {
  const made = !field.optional && field.sensitive?.generate
  const sentence = made ? 'If it is not set, a random value is generated and published as a connection detail.' : ''
  return {
    type: 'object',
    description: [field.doc, 'Names the key of a Secret that holds the value.', sentence].filter(Boolean).join(' '),
    required: ['name', 'namespace', 'key'],
    properties: {
      name: string('Name of the Secret.'),
      namespace: string('Namespace of the Secret.'),
      key: string('The key whose value is used.'),
    },
  }
}

/** The schema of the resolution policy of a reference. */
export const resolutionPolicy: JSONSchemaProps = {
  type: 'object',
  description: 'When the reference is resolved, and whether it may be missing.',
  properties: {
    resolution: {
      type: 'string',
      enum: ['Required', 'Optional'],
      default: 'Required',
      description: 'Required: nothing is done until it resolves. Optional: go on without it.',
    },
    resolve: {
      type: 'string',
      enum: ['Always', 'IfNotPresent'],
      description: 'IfNotPresent (the default) resolves while the field is empty, Always at every reconcile.',
    },
  },
}

function referenceProperties(name: string, field: Node): Record<string, JSONSchemaProps> {
  const { ref, selector } = referenceFields(name, field)
  const target = field.reference!.to().kind
  const one: JSONSchemaProps = {
    type: 'object',
    required: ['name'],
    properties: { name: string(`Name of the ${target}.`), policy: resolutionPolicy },
  }
  const description = `${field.type === 'list' ? 'Each names' : 'Names'} a ${target} that gives ${name}.`
  return {
    [ref]: field.type === 'list' ? { type: 'array', description, items: one } : { ...one, description },
    [selector]: selectorSchema(`Selects ${field.type === 'list' ? 'every' : 'a'} ${target} for ${ref}.`),
  }
}

function selectorSchema(description: string): JSONSchemaProps {
  return {
    type: 'object',
    description,
    properties: {
      matchLabels: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'All of these labels must be there.',
      },
      matchControllerRef: { type: 'boolean', description: 'It must have the same controller as this object.' },
      matchAggregate: { type: 'boolean', description: 'It must belong to the same aggregate as this object.' },
      matchClassRef: {
        type: 'object',
        description: 'Names a class.',
        required: ['name'],
        properties: { name: string('It must have been provisioned by the class of this name.') },
      },
      policy: resolutionPolicy,
    },
  }
}

/** Merges the fields of two objects recursively, so that atProvider includes all fields of forProvider (MR4). */
export function unionOf(fields: Node, more: Node): Node {
  const merged: Record<string, Node> = { ...fields.fields }
  for (const [name, node] of Object.entries(more.fields ?? {})) {
    const held = merged[name]
    merged[name] = held?.type === 'object' && node.type === 'object' ? unionOf(held, node) : node
  }
  return { ...fields, fields: merged }
}
