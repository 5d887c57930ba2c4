import type { Json } from '@crosstie/kube'
import {
  type Api,
  fieldsOf,
  isLongInteger,
  type Method,
  type Parameter,
  type Properties,
  type Property,
} from '../discovery/api.js'
import { Failure } from './failure.js'
import { enumName, type Item, isItem } from './values.js'

/** Query parameters that all methods have. */
const common = new Set([
  ...['$.xgafv', '$alt', 'access_token', 'alt', 'callback', 'fields', 'key', 'oauth_token', 'prettyPrint'],
  ...['quotaUser', 'uploadType', 'upload_protocol', 'userIp'],
])

/** Throws for a parameter that the method does not have, and for a value that its description does not allow. */
export function checkParameters(
  method: Method,
  params: Readonly<Record<string, string>>,
  query: URLSearchParams,
): void {
  const known = method.params ?? {}
  for (const name of new Set(query.keys())) {
    if (common.has(name) || (known[name] && known[name].in !== 'path')) continue
    const text = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`
    throw new Failure(400, text, 'INVALID_ARGUMENT')
  }
  for (const [name, parameter] of Object.entries(known)) {
    checkParameter(name, parameter, parameter.in === 'path' ? params[name] : (query.get(name) ?? undefined))
  }
}

function checkParameter(
  name: string,
  { in: place, pattern, required, enum: values }: Parameter,
  value: string | undefined,
) {
  if (value === undefined) {
    if (required) throw new Failure(400, `Required parameter: ${name}`, 'required')
    return
  }
  if (values && !values.includes(value)) throw invalid(name, value, `must be one of ${values.join(', ')}`)
  if (pattern && !place && !matches(pattern, value)) throw invalid(name, value, `must match ${pattern}`)
}

const matches = (pattern: string, value: string): boolean => new RegExp(`^(?:${pattern})$`).test(value)

function invalid(field: string, value: string, rule: string): Failure {
  return new Failure(400, `Invalid value for field '${field}': '${value}'. It ${rule}.`, 'invalid')
}

/**
 * The body as the service reads it: enum values by name, without fields that are only reported. Throws for fields that the
 * schema does not have and for values of another type.
 */
export function checkedBody(api: Api, methodName: string, schema: string, body: Json): Item {
  if (!isItem(body))
    throw new Failure(400, 'Invalid JSON payload received. The body must be an object.', 'INVALID_ARGUMENT')
  const properties = api.schemas[schema] ?? {}
  const id = `${api.name}.${methodName}`
  for (const [name, { required }] of Object.entries(properties)) {
    if (required?.includes(id) && body[name] === undefined)
      throw new Failure(400, `Required field '${name}' not specified`, 'required')
  }
  return checkedObject(api, properties, body, '')
}

function checkedObject(api: Api, properties: Properties, body: Item, parent: string): Item {
  const result: Item = {}
  for (const [name, value] of Object.entries(body)) {
    const path = parent === '' ? name : `${parent}.${name}`
    const property = properties[name]
    if (!property) {
      const place = parent === '' ? '' : ` at '${parent}'`
      throw new Failure(
        400,
        `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`,
        'INVALID_ARGUMENT',
      )
    }
    if (value === undefined) continue
    if (value === null) result[name] = null
    else if (!property.output) result[name] = checkedValue(api, property, value, path)
  }
  return result
}

function checkedValue(api: Api, property: Property, value: Json, path: string): Json {
  const { type, items, values } = property
  if (type === 'array') {
    if (!Array.isArray(value)) throw mistyped(path, 'list', value)
    return items ? value.map((item, index) => checkedValue(api, items, item, `${path}[${index}]`)) : value
  }
  const properties = fieldsOf(api, property)
  if (properties ?? values) {
    if (!isItem(value)) throw mistyped(path, property.ref ?? 'object', value)
    if (properties) return checkedObject(api, properties, value, path)
    return checkedMap(api, values ?? {}, value, path)
  }
  return checkedScalar(property, value, path)
}

function checkedMap(api: Api, values: Property, map: Item, path: string): Json {
  const entries = Object.entries(map).map(([key, value]) => [
    key,
    value === null || value === undefined ? null : checkedValue(api, values, value, `${path}[${key}]`),
  ])
  return Object.fromEntries(entries)
}

function checkedScalar(property: Property, value: Json, path: string): Json {
  switch (property.type) {
    case 'any':
    case 'object':
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw mistyped(path, 'TYPE_BOOL', value)
      return value
    case 'integer':
    case 'number':
      return checkedNumber(property.type, value, path)
    default:
      return isLongInteger(property) ? checkedLong(value, path) : checkedText(property, value, path)
  }
}

function checkedNumber(type: 'integer' | 'number', value: Json, path: string): Json {
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw mistyped(path, 'TYPE_NUMBER', value)
  if (type === 'integer' && !Number.isInteger(number)) throw mistyped(path, 'TYPE_INT32', value)
  return number
}

function checkedLong(value: Json, path: string): Json {
  if (!/^-?\d+$/.test(String(value))) throw mistyped(path, 'TYPE_INT64', value)
  return String(value)
}

function checkedText({ enum: names, pattern }: Property, value: Json, path: string): Json {
  const text = names && typeof value === 'number' ? enumName(names, value) : value
  if (typeof text !== 'string') throw mistyped(path, 'TYPE_STRING', value)
  if (names && text !== '' && !names.includes(text)) throw mistyped(path, 'TYPE_ENUM', value)
  if (pattern && !matches(pattern, text)) throw invalid(path, text, `must match ${pattern}`)
  return text
}

function mistyped(path: string, type: string, value: Json): Failure {
  return new Failure(400, `Invalid value at '${path}' (${type}), ${JSON.stringify(value)}`, 'INVALID_ARGUMENT')
}
