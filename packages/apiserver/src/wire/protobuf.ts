import { type Json, NESTING_MAX, nestsTooDeep, setOwn } from '@crosstie/kube'
import { microText } from '../gotypes/go-time.js'
import { type GoStruct, type GoType, goStruct, type SpecialName } from '../gotypes/go-type.js'
import { modelOf } from '../gotypes/models.js'
import { decodeTyped, TypedDecodeError } from '../gotypes/typed.js'
import { type Decoded, decodeJson } from './json.js'
import { JsonSyntaxError } from './json-exact.js'
import { ProtobufError, Reader, WIRE_BYTES } from './protobuf-reader.js'

export { ProtobufError } from './protobuf-reader.js'

const MAGIC = [0x6b, 0x38, 0x73, 0x00]

/**
 * Decodes an `application/vnd.kubernetes.protobuf` body of a built-in kind. The result equals the JSON body of the
 * same object. Throws a ProtobufError.
 */
export function decodeProtobuf(bytes: Uint8Array): Decoded {
  try {
    const value = decodeValue(bytes)
    // One message is several levels of JSON, and some contain JSON themselves.
    if (nestsTooDeep(value)) throw tooDeep()
    return { value, duplicates: [] }
  } catch (error) {
    // Embedded JSON may be invalid, and its values may not match the type.
    if (!(error instanceof JsonSyntaxError || error instanceof TypedDecodeError)) throw error
    throw error instanceof ProtobufError ? error : new ProtobufError(error.message)
  }
}

function decodeValue(bytes: Uint8Array): Json {
  if (bytes.length < 4 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${MAGIC.join(' ')}]`,
    )
  }
  const { apiVersion, kind, raw, contentType } = readEnvelope(
    Buffer.from(bytes.buffer, bytes.byteOffset + 4, bytes.byteLength - 4),
  )
  if (contentType === 'application/json') return decodeJson(raw).value
  const model = modelOf(apiVersion, kind)
  if (model === undefined) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`)
  const message = { kind, apiVersion, ...readMessage(messageOf(model), new Reader(raw), 0) }
  return decodeTyped(model, message).object as Json
}

interface Envelope {
  apiVersion: string
  kind: string
  raw: Buffer
  contentType: string
}

function readEnvelope(bytes: Buffer): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: Buffer.alloc(0), contentType: '' }
  const reader = new Reader(bytes)
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (wire !== WIRE_BYTES) reader.skip(wire)
    else if (number === 1) readTypeMeta(reader.message(), envelope)
    else if (number === 2) envelope.raw = reader.bytes()
    else if (number === 4) envelope.contentType = reader.text()
    else reader.bytes()
  }
  return envelope
}

function readTypeMeta(reader: Reader, envelope: Envelope): void {
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (wire === WIRE_BYTES && number === 1) envelope.apiVersion = reader.text()
    else if (wire === WIRE_BYTES && number === 2) envelope.kind = reader.text()
    else reader.skip(wire)
  }
}

/** Fields of a message by number. Fields of embedded structs become fields of the same object. */
interface Message {
  readonly fields: Map<number, { readonly name: string; readonly type: GoType }>
  readonly embedded: Map<number, Message>
}

const messages = new Map<string, Message>()

function messageOf(model: string): Message {
  let message = messages.get(model)
  if (!message) {
    message = buildMessage(goStruct(model))
    messages.set(model, message)
  }
  return message
}

function buildMessage({ fields }: GoStruct): Message {
  const message: Message = { fields: new Map(), embedded: new Map() }
  for (const { name, type, numbers } of fields) {
    let within = message
    for (const number of numbers.slice(0, -1)) {
      let inner = within.embedded.get(number)
      if (!inner) {
        inner = { fields: new Map(), embedded: new Map() }
        within.embedded.set(number, inner)
      }
      within = inner
    }
    const last = numbers.at(-1)
    if (last !== undefined) within.fields.set(last, { name, type })
  }
  return message
}

const tooDeep = (): ProtobufError => new ProtobufError('exceeded max depth')

type Draft = Record<string, Json>

function readMessage(message: Message, reader: Reader, depth: number, into: Draft = {}): Draft {
  if (depth > NESTING_MAX) throw tooDeep()
  while (reader.more()) {
    const { number, wire } = reader.tag()
    const field = message.fields.get(number)
    const embedded = message.embedded.get(number)
    if (field) into[field.name] = readField(field.type, wire, reader, into[field.name], depth)
    else if (embedded) readMessage(embedded, reader.message(), depth, into)
    else reader.skip(wire)
  }
  return into
}

function readField(type: GoType, wire: number, reader: Reader, sofar: Json | undefined, depth: number): Json {
  switch (type.kind) {
    case 'pointer':
      return readField(type.of, wire, reader, sofar, depth)
    case 'slice': {
      if (isMessageList(type)) return readItems(type.of, reader.message(), depth)
      const items = (sofar ?? []) as Json[]
      items.push(readField(type.of, wire, reader, undefined, depth))
      return items
    }
    case 'map': {
      const map = (sofar ?? {}) as Draft
      const [key, value] = readEntry(type.of, reader.message(), depth)
      setOwn(map, key, value)
      return map
    }
    case 'struct':
      return readMessage(messageOf(type.model), reader.message(), depth + 1, (sofar ?? {}) as Draft)
    case 'special':
      return specials[type.name](reader.message(), depth + 1)
    case 'string':
      return reader.text()
    case 'bytes':
      return reader.bytes().toString('base64')
    case 'bool':
      return reader.bool()
    case 'int32':
    case 'int64':
      return reader.integer()
    case 'float64':
      return reader.double()
    case 'any':
      throw new ProtobufError('a value without a type cannot be decoded')
  }
}

/**
 * Whether a list of texts with a name of its own, such as ExtraValue, is wrapped in a message. A list of messages
 * is not wrapped.
 */
export const isMessageList = ({ of, go }: { readonly of: GoType; readonly go: string }): boolean =>
  of.kind === 'string' && !go.startsWith('[]')

function readItems(of: GoType, reader: Reader, depth: number): Json {
  const items: Json[] = []
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (number === 1) items.push(readField(of, wire, reader, undefined, depth))
    else reader.skip(wire)
  }
  return items
}

function readEntry(of: GoType, reader: Reader, depth: number): [string, Json] {
  let key = ''
  let value: Json | undefined
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (number === 1 && wire === WIRE_BYTES) key = reader.text()
    else if (number === 2) value = readField(of, wire, reader, value, depth)
    else reader.skip(wire)
  }
  return [key, value ?? (of.kind === 'string' || of.kind === 'bytes' ? '' : {})]
}

function readTime(reader: Reader): { seconds: number; nanos: number } {
  let seconds = 0
  let nanos = 0
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (number === 1) seconds = Number(reader.integer())
    else if (number === 2) nanos = Number(reader.integer())
    else reader.skip(wire)
  }
  return { seconds, nanos }
}

/** Formats RFC 3339 for years with four digits. Other years have no JSON form. */
function timeText(seconds: number, micros: number | undefined): Json {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw new ProtobufError('time is out of range')
  return micros === undefined ? date.toISOString().replace(/\.\d+Z$/, 'Z') : microText(seconds, micros)
}

function readRaw(reader: Reader): Json {
  let raw: Buffer | undefined
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (number === 1 && wire === WIRE_BYTES) raw = reader.bytes()
    else reader.skip(wire)
  }
  return raw === undefined || raw.length === 0 ? null : decodeJson(raw).value
}

const SCHEMA_MODEL = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'

/** Reads a schema or the alternative. The meaning of field numbers differs between the three types. */
function readEither(
  reader: Reader,
  depth: number,
  schemaNumber: number,
  other: (reader: Reader) => Json,
): { schema: Json | undefined; others: Json[] } {
  let schema: Json | undefined
  const others: Json[] = []
  while (reader.more()) {
    const { number, wire } = reader.tag()
    if (number === schemaNumber) schema = readMessage(messageOf(SCHEMA_MODEL), reader.message(), depth)
    else if (number === 3 - schemaNumber) others.push(other(reader))
    else reader.skip(wire)
  }
  return { schema, others }
}

const specials: Readonly<Record<SpecialName, (reader: Reader, depth: number) => Json>> = {
  Time(reader) {
    const { seconds, nanos } = readTime(reader)
    return seconds === 0 && nanos === 0 ? null : timeText(seconds, undefined)
  },
  MicroTime(reader) {
    const { seconds, nanos } = readTime(reader)
    return seconds === 0 && nanos === 0 ? null : timeText(seconds, Math.trunc(nanos / 1000))
  },
  FieldsV1: readRaw,
  RawExtension: readRaw,
  JSON: readRaw,
  IntOrString(reader) {
    let isText = false
    let value: Json = 0
    let text = ''
    while (reader.more()) {
      const { number, wire } = reader.tag()
      if (number === 1) isText = reader.integer() === 1
      else if (number === 2) value = reader.integer()
      else if (number === 3) text = reader.text()
      else reader.skip(wire)
    }
    return isText ? text : value
  },
  JSONSchemaPropsOrBool(reader, depth) {
    const { schema, others } = readEither(reader, depth, 2, (inner) => inner.bool())
    return schema ?? others.at(-1) ?? false
  },
  JSONSchemaPropsOrArray(reader, depth) {
    const { schema, others } = readEither(reader, depth, 1, (inner) =>
      readMessage(messageOf(SCHEMA_MODEL), inner.message(), depth),
    )
    return others.length > 0 ? others : (schema ?? null)
  },
  JSONSchemaPropsOrStringArray(reader, depth) {
    const { schema, others } = readEither(reader, depth, 1, (inner) => inner.text())
    return others.length > 0 ? others : (schema ?? null)
  },
}
