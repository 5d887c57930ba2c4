import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { type Node, referenceFields, secretRefField } from './schema.js'

/** `forProvider` is what a user states, `initProvider` the same with nothing required, `atProvider` what was observed. */
export type Side = 'forProvider' | 'initProvider' | 'atProvider'

const scalarTypes = { string: 'string', integer: 'integer', number: 'number', boolean: 'boolean' } as const

/** The fields of an object as a CRD states them. */
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
 * Outside of lists a required field is a rule on the spec instead (see
 * rules.ts), as policies and initProvider can do away with it. Identifiers
 * are always needed, unless a reference can give them.
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
  // What the provider reports is shown as it is, even when it breaks the rules for what may be asked.
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

/** All of `fields` and all of `more`, deep in nested objects: how atProvider comes to cover forProvider (MR4). */
export function unionOf(fields: Node, more: Node): Node {
  const merged: Record<string, Node> = { ...fields.fields }
  for (const [name, node] of Object.entries(more.fields ?? {})) {
    const held = merged[name]
    merged[name] = held?.type === 'object' && node.type === 'object' ? unionOf(held, node) : node
  }
  return { ...fields, fields: merged }
}
