import { isObject, type Json, type JsonObject } from '@crosstie/kube'
import { type Api, fieldsOf, isLongInteger, type Properties, type Property } from '../discovery/api.js'

export type Values = JsonObject

/** Values of a kind as the API takes them: 64-bit numbers as strings. Fields that the API does not have are omitted. */
export function toApi(api: Api, schema: string, values: object): Values {
  return convert(api, api.schemas[schema] ?? {}, values, (value) => (typeof value === 'number' ? String(value) : value))
}

/** Values of the API as a kind has them: 64-bit numbers as numbers. */
export function fromApi(api: Api, schema: string, answer: object): Values {
  return convert(api, api.schemas[schema] ?? {}, answer, (value) => (typeof value === 'string' ? Number(value) : value))
}

type ConvertLong = (value: unknown) => unknown

function convert(api: Api, properties: Properties, values: object, long: ConvertLong): Values {
  const converted: Record<string, Json> = {}
  for (const [name, value] of Object.entries(values)) {
    const property = properties[name]
    if (property && value !== undefined && value !== null) converted[name] = convertValue(api, property, value, long)
  }
  return converted
}

function convertValue(api: Api, property: Property, value: unknown, long: ConvertLong): Json {
  if (Array.isArray(value)) return value.map((item) => convertValue(api, property.items ?? {}, item, long))
  const properties = fieldsOf(api, property)
  if (properties && isObject(value)) return convert(api, properties, value, long)
  const { values } = property
  if (values && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convertValue(api, values, item, long)]))
  }
  const converted: Json = Object(isLongInteger(property) ? long(value) : value).valueOf()
  return converted
}

/** The value at a path such as `settings.userLabels`. */
export function valueAt(values: Values, path: string): Json | undefined {
  let found: Json | undefined = values
  for (const name of path.split('.')) found = isObject(found) ? found[name] : undefined
  return found
}

/** A copy with the value at a path replaced, or removed when it is undefined. */
export function withValue(values: Values, path: string, value: Json | undefined): Values {
  const [name = '', ...rest] = path.split('.')
  const { [name]: held, ...others } = values
  if (rest.length === 0) return value === undefined ? others : { ...others, [name]: value }
  const inner = withValue(isObject(held) ? held : {}, rest.join('.'), value)
  return Object.keys(inner).length === 0 && held === undefined ? others : { ...others, [name]: inner }
}
