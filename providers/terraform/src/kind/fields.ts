import { type Fields, type ObjectSchema, type Schema, s } from '@crosstie/resources/provider'
import type { CtyType } from '../protocol/types.js'
import { type Field, isSecret, type ObjectShape, type Shape } from './shape.js'

/** The fields of a kind: those that a user sets, and those that only the provider reports. */
export interface KindFields {
  readonly parameters: ObjectSchema<Fields>
  readonly observation: ObjectSchema<Fields>
}

/** Descriptions of large providers are long; `kubectl explain` shows the beginning best. */
const DESCRIPTION_MAX = 600

export function fieldsOfKind(shape: ObjectShape): KindFields {
  return { parameters: parametersOf(shape), observation: observationOf(shape) }
}

export function parametersOf({ fields }: ObjectShape): ObjectSchema<Fields> {
  const configurable = fields.filter((field) => field.configurable)
  return s.object(Object.fromEntries(configurable.map((field) => [field.name, parameterOf(field)])))
}

function parameterOf(field: Field): Schema {
  const schema = isSecret(field) ? secretOf(field) : schemaOf(field.shape, documented(field), parametersOf)
  return field.required ? schema : s.optional(schema)
}

/** The provider knows no value of its own for it, so none is generated. */
function secretOf(field: Field): Schema {
  const isText = field.shape.kind === 'leaf' && field.shape.type === 'string'
  const form = isText ? '' : ' The Secret holds the value as JSON, with the names that the provider uses.'
  return s.sensitive({ doc: documented(field) + form, generate: false })
}

/** Fields that the provider reports and a user cannot set, and collections of which that is true of parts. */
export function observationOf({ fields }: ObjectShape): ObjectSchema<Fields> {
  const seen = fields.flatMap((field): [string, Schema][] => {
    if (!field.reported || field.sensitive) return []
    if (!field.configurable) return [[field.name, schemaOf(field.shape, documented(field), reportedOf)]]
    const { shape } = field
    if (shape.kind === 'object' || shape.kind === 'embedded') {
      const inner = observationOf(shape.kind === 'object' ? shape : shape.item)
      return Object.keys(inner.fields).length > 0 ? [[field.name, inner]] : []
    }
    // The items of a collection are reported with all their fields, or in place of a Secret.
    return shape.kind === 'collection' && !isSecret(field)
      ? [[field.name, schemaOf(shape, documented(field), reportedOf)]]
      : []
  })
  return s.object(Object.fromEntries(seen.map(([name, schema]) => [name, s.optional(schema)])))
}

function reportedOf({ fields }: ObjectShape): ObjectSchema<Fields> {
  const seen = fields.filter(({ reported, sensitive }) => reported && !sensitive)
  return s.object(
    Object.fromEntries(
      seen.map((field) => [field.name, s.optional(schemaOf(field.shape, documented(field), reportedOf))]),
    ),
  )
}

function schemaOf(shape: Shape, doc: string, inner: (shape: ObjectShape) => ObjectSchema<Fields>): Schema {
  // The spec leaves open what it does not set: the provider keeps what it chose, so nothing is filled in.
  const options = { doc, lateInitialize: false as const }
  switch (shape.kind) {
    case 'leaf':
      return leafOf(shape.type, options)
    case 'object':
      return s.object(inner(shape).fields, options)
    case 'embedded':
      return s.object(inner(shape.item).fields, options)
    case 'collection': {
      const item = schemaOf(shape.item, '', inner)
      if (shape.of === 'map') return s.map(item, options)
      return s.list(item, { ...options, ...(shape.of === 'set' ? { set: true } : {}) })
    }
  }
}

function leafOf(type: CtyType, options: { readonly doc: string; readonly lateInitialize: false }): Schema {
  switch (type) {
    case 'string':
      return s.string(options)
    case 'number':
      return s.number(options)
    case 'bool':
      return s.boolean(options)
    default:
      return s.json(options)
  }
}

function documented({ description, original, name, shape }: Field): string {
  const text = description.replace(/\s+/g, ' ').trim()
  const short = text.length > DESCRIPTION_MAX ? `${text.slice(0, DESCRIPTION_MAX - 1).trimEnd()}…` : text
  const one = shape.kind === 'embedded' ? ' (a block, at most one)' : ''
  const origin = original === name && one === '' ? '' : `Terraform: ${original}${one}.`
  return [short && (/[.!?…]$/.test(short) ? short : `${short}.`), origin].filter(Boolean).join(' ')
}
