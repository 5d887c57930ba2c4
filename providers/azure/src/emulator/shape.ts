import { isObject } from '@crosstie/kube'
import { type Values, valuesOf } from '../values.js'
import { badRequest } from './problem.js'
import { shapesText } from './shapes.js'

/** One field of a request, as the official description has it. */
export interface Field {
  readonly type: string
  readonly list: boolean
  readonly map: boolean
  readonly required: boolean
  readonly readOnly: boolean
  readonly fields: Map<string, Field>
}

export interface Shape {
  /** The newest API version that the fields are known for. */
  readonly version: string
  readonly fields: ReadonlyMap<string, Field>
}

const LINE = /^( *)(\S+) (\[\])?(\{\})?(.+?)([!-]?)$/

let parsed: ReadonlyMap<string, Shape> | undefined

/** The shape of a resource type. Undefined: the description does not have it. */
export function shapeOf(type: string): Shape | undefined {
  parsed ??= parse(shapesText)
  return parsed.get(type.toLowerCase())
}

function parse(text: string): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>()
  let levels: Map<string, Field>[] = []
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    if (!match) continue
    const [, indent = '', name = '', list, map, type = '', flag] = match
    if (indent === '') {
      const fields = new Map<string, Field>()
      shapes.set(name.toLowerCase(), { version: type, fields })
      levels = [fields]
      continue
    }
    const fields = new Map<string, Field>()
    const field = { type, list: !!list, map: !!map, required: flag === '!', readOnly: flag === '-', fields }
    levels[indent.length - 1]?.set(name, field)
    levels = [...levels.slice(0, indent.length), fields]
  }
  return shapes
}

/** Members that every body may have. */
const EVERYWHERE = new Set(['id', 'name', 'type', 'apiVersion', 'systemData', 'etag'])

/**
 * Throws what Azure answers to a body that its description does not allow. Fields of an API version that is newer than the
 * description are accepted, because they are unknown here.
 */
export function checkBody(type: string, apiVersion: string, body: Values): void {
  const shape = shapeOf(type)
  if (!shape) return
  const lenient = apiVersion > shape.version
  checkObject(shape.fields, body, '', lenient)
}

function checkObject(fields: ReadonlyMap<string, Field>, value: Values, path: string, lenient: boolean): void {
  for (const [name, inner] of Object.entries(value)) {
    const field = fields.get(name) ?? fields.get('*')
    const where = path === '' ? name : `${path}.${name}`
    if (field) checkField(field, inner, where, lenient)
    else if (!lenient && !(path === '' && EVERYWHERE.has(name))) {
      throw badRequest(
        'InvalidRequestContent',
        `The request content was invalid and could not be deserialized: 'Could not find member '${name}' on object. Path '${where}'.'`,
      )
    }
  }
  for (const [name, { required }] of fields) {
    if (required && (value[name] === undefined || value[name] === null)) throw missing(path, name)
  }
}

function missing(path: string, name: string) {
  if (path === '' && name === 'location') {
    return badRequest('LocationRequired', 'The location property is required for this definition.')
  }
  const where = path === '' ? name : `${path}.${name}`
  return badRequest('InvalidRequestContent', `Required property '${name}' not found in JSON. Path '${where}'.`)
}

function checkField(field: Field, value: unknown, path: string, lenient: boolean): void {
  if (value === null || value === undefined || field.readOnly) return
  if (field.list) {
    if (!Array.isArray(value)) throw wrongType(path, 'a list')
    for (const [i, item] of value.entries()) checkValue(field, item, `${path}[${i}]`, lenient)
  } else if (field.map) {
    if (!isObject(value)) throw wrongType(path, 'an object')
    for (const [key, item] of Object.entries(value)) checkValue(field, item, `${path}.${key}`, lenient)
  } else checkValue(field, value, path, lenient)
}

function checkValue({ type, fields }: Field, value: unknown, path: string, lenient: boolean): void {
  if (value === null || type === 'any') return
  if (type === 'object' || type === 'resource') {
    if (!isObject(value)) throw wrongType(path, 'an object')
    if (type === 'object') checkObject(fields, valuesOf(value), path, lenient)
    return
  }
  const choices = /^enum\((.*)\)$/.exec(type)?.[1]?.split('|')
  const wanted = choices ? 'string' : type
  if (typeof value !== wanted) throw wrongType(path, `a ${wanted}`)
  if (choices && !choices.includes(String(value))) {
    throw badRequest('InvalidRequestContent', `'${value}' is not one of ${choices.join(', ')}. Path '${path}'.`)
  }
}

const wrongType = (path: string, wanted: string) =>
  badRequest(
    'InvalidRequestContent',
    `The request content was invalid and could not be deserialized: the value is not ${wanted}. Path '${path}'.`,
  )
