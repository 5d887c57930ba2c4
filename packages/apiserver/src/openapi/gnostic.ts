import type { Json } from '@crosstie/kube'
import { encodeYaml } from '../wire/yaml-encode.js'

/**
 * Encodes OpenAPI 2 in gnostic's protobuf. Tables map JSON keys to field numbers and encodings. Paths and models
 * are already encoded.
 */
export function encodeGnostic(
  frame: Readonly<Record<string, unknown>>,
  paths: readonly { readonly protobuf: Buffer }[],
  models: readonly { readonly protobuf: Buffer }[],
): Buffer {
  const joined = (parts: readonly { readonly protobuf: Buffer }[]) => Buffer.concat(parts.map((part) => part.protobuf))
  return Buffer.concat([
    message(documentFields, frame),
    lengthDelimited(8, joined(paths)),
    lengthDelimited(9, joined(models)),
  ])
}

/** Encodes one path. */
export function encodePath(path: string, item: unknown): Buffer {
  return pair(
    2,
    path,
    message(() => pathItemTable, item as Values),
  )
}

/** Encodes one model. */
export function encodeModel(name: string, schema: unknown): Buffer {
  return pair(1, name, schemaBytes(schema))
}

type Values = Readonly<Record<string, unknown>>
type Encode = (value: unknown) => Buffer[]
/** Encoders by JSON key. `x-` stands for every extension. */
type Fields = () => Readonly<Record<string, Encode>>

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

const text =
  (number: number): Encode =>
  (value) => [lengthDelimited(number, Buffer.from(String(value)))]
const texts =
  (number: number): Encode =>
  (value) =>
    (value as readonly string[]).flatMap(text(number))
const flag =
  (number: number): Encode =>
  (value) =>
    value ? [Buffer.concat([varint(number * 8), varint(1)])] : []
const integer =
  (number: number): Encode =>
  (value) => [Buffer.concat([varint(number * 8), varint(Number(value))])]

function double(number: number): Encode {
  return (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(Number(value))
    return [Buffer.concat([varint(number * 8 + 1), bytes])]
  }
}

const inner =
  (number: number, fields: Fields): Encode =>
  (value) => [lengthDelimited(number, message(fields, value as Values))]

/** Encodes an Any. gnostic holds free values as YAML text. */
function anyBytes(value: unknown): Buffer {
  return lengthDelimited(2, Buffer.from(encodeYaml(value as Json)))
}

const any =
  (number: number): Encode =>
  (value) => [lengthDelimited(number, anyBytes(value))]
const anys =
  (number: number): Encode =>
  (value) =>
    (value as readonly unknown[]).flatMap(any(number))

/** Encodes a map as a list of pairs of name and value. */
function pairs(number: number, bytesOf: (value: unknown) => Buffer): Encode {
  return (value) => Object.entries(value as Values).map(([name, one]) => pair(number, name, bytesOf(one)))
}

function pair(number: number, name: string, value: Buffer): Buffer {
  return lengthDelimited(number, Buffer.concat([lengthDelimited(1, Buffer.from(name)), lengthDelimited(2, value)]))
}

const wrapped =
  (number: number, encode: Encode): Encode =>
  (value) => [lengthDelimited(number, Buffer.concat(encode(value)))]

function message(fields: Fields, values: Values): Buffer {
  const table = fields()
  const parts: Buffer[] = []
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue
    const encode = table[key]
    if (encode) parts.push(...encode(value))
    else if (key.startsWith('x-') && table['x-']) parts.push(...table['x-']({ [key]: value }))
  }
  return Buffer.concat(parts)
}

const extension = (number: number): Encode => pairs(number, anyBytes)

const schemaFields: Fields = () => schemaTable
const schemaBytes = (value: unknown): Buffer => message(schemaFields, value as Values)
const schemaTable: Readonly<Record<string, Encode>> = {
  $ref: text(1),
  format: text(2),
  title: text(3),
  description: text(4),
  default: any(5),
  multipleOf: double(6),
  maximum: double(7),
  exclusiveMaximum: flag(8),
  minimum: double(9),
  exclusiveMinimum: flag(10),
  maxLength: integer(11),
  minLength: integer(12),
  pattern: text(13),
  maxItems: integer(14),
  minItems: integer(15),
  uniqueItems: flag(16),
  maxProperties: integer(17),
  minProperties: integer(18),
  required: texts(19),
  enum: anys(20),
  additionalProperties: (value) => [
    lengthDelimited(
      21,
      typeof value === 'boolean' ? Buffer.concat(flag(2)(value)) : lengthDelimited(1, schemaBytes(value)),
    ),
  ],
  type: (value) => [lengthDelimited(22, Buffer.concat(text(1)(value)))],
  items: wrapped(23, inner(1, schemaFields)),
  properties: wrapped(25, pairs(1, schemaBytes)),
  'x-': extension(31),
}

const parameterTable = (offset: number): Readonly<Record<string, Encode>> => ({
  required: flag(1),
  in: text(2),
  description: text(3),
  name: text(4),
  // Query parameters have one field more before their type than path parameters.
  type: text(5 + offset),
  format: text(6 + offset),
  uniqueItems: flag(19 + offset),
})
const queryTable = parameterTable(1)
const pathTable = parameterTable(0)

const bodyTable: Readonly<Record<string, Encode>> = {
  description: text(1),
  name: text(2),
  in: text(3),
  required: flag(4),
  schema: inner(5, schemaFields),
}

function parameterBytes(value: unknown): Buffer {
  const values = value as Values
  if (values['in'] === 'body')
    return lengthDelimited(
      1,
      message(() => bodyTable, values),
    )
  const isPath = values['in'] === 'path'
  const nonBody = lengthDelimited(
    isPath ? 4 : 3,
    message(() => (isPath ? pathTable : queryTable), values),
  )
  return lengthDelimited(2, nonBody)
}

/** An inline parameter, not a reference. */
const parameters =
  (number: number): Encode =>
  (value) =>
    (value as readonly unknown[]).map((one) => lengthDelimited(number, lengthDelimited(1, parameterBytes(one))))

const responseTable: Readonly<Record<string, Encode>> = {
  description: text(1),
  schema: wrapped(2, inner(1, schemaFields)),
}

const responses: Encode = (value) => [
  lengthDelimited(
    9,
    Buffer.concat(
      pairs(1, (one) =>
        lengthDelimited(
          1,
          message(() => responseTable, one as Values),
        ),
      )(value),
    ),
  ),
]

const operationTable: Readonly<Record<string, Encode>> = {
  tags: texts(1),
  description: text(3),
  operationId: text(5),
  produces: texts(6),
  consumes: texts(7),
  parameters: parameters(8),
  responses,
  schemes: texts(10),
  'x-': extension(13),
}

const operation = (number: number): Encode => inner(number, () => operationTable)

const pathItemTable: Readonly<Record<string, Encode>> = {
  get: operation(2),
  put: operation(3),
  post: operation(4),
  delete: operation(5),
  patch: operation(8),
  parameters: parameters(9),
}

const apiKeyTable: Readonly<Record<string, Encode>> = {
  type: text(1),
  name: text(2),
  in: text(3),
  description: text(4),
}

const documentTable: Readonly<Record<string, Encode>> = {
  swagger: text(1),
  info: inner(2, () => ({ title: text(1), version: text(2) })),
  security: (value) =>
    (value as readonly Values[]).map((one) => lengthDelimited(12, Buffer.concat(pairs(1, () => Buffer.alloc(0))(one)))),
  securityDefinitions: wrapped(
    13,
    pairs(1, (value) =>
      lengthDelimited(
        2,
        message(() => apiKeyTable, value as Values),
      ),
    ),
  ),
}
const documentFields: Fields = () => documentTable
