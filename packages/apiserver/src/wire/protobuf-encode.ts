import { getOwn, type Json, stringify } from '@crosstie/kube'
import { type GoField, type GoType, goStruct, type SpecialName } from '../gotypes/go-type.js'
import { modelOf } from '../gotypes/models.js'
import { isMessageList } from './protobuf.js'
import { Writer } from './protobuf-writer.js'

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'

type Numbered = Pick<GoField, 'name' | 'type' | 'numbers'>
type Draft = { readonly [key: string]: Json | undefined }

/** Encodes an object of a built-in kind, a list of them, or a Status as `application/vnd.kubernetes.protobuf`. */
export function encodeProtobuf(value: unknown): Buffer {
  const object = value as Draft
  const { apiVersion = 'v1', kind = '' } = object as { apiVersion?: string; kind?: string }
  const writer = new Writer()
  writer.raw(MAGIC)
  writer.message(1, (typeMeta) => {
    typeMeta.text(1, apiVersion)
    typeMeta.text(2, kind)
  })
  writer.message(2, (body) => writeObject(body, apiVersion, kind, object))
  writer.text(3, '')
  writer.text(4, '')
  return writer.finish()
}

/** Encodes one event of a watch with its length. */
export function encodeWatchFrame(type: string, object: unknown): Buffer {
  const event = encodeWatchEvent(type, object)
  const frame = Buffer.allocUnsafe(4 + event.length)
  frame.writeUInt32BE(event.length)
  frame.set(event, 4)
  return frame
}

/** Encodes one event of a watch without its length. */
export function encodeWatchEvent(type: string, object: unknown): Uint8Array {
  const writer = new Writer()
  writer.text(1, type)
  writer.message(2, (raw) => raw.bytes(1, encodeProtobuf(object)))
  return writer.finish()
}

/** These kinds are encoded with the core version, although they are not part of the core group. */
const metaKinds = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList'])

function modelFor(apiVersion: string, kind: string): string | undefined {
  if (apiVersion === 'v1' && metaKinds.has(kind)) return `${META}.${kind}`
  if (/^meta\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    return kind === 'PartialObjectMetadata' ? `${META}.PartialObjectMetadata` : undefined
  }
  return modelOf(apiVersion, kind)
}

function writeObject(writer: Writer, apiVersion: string, kind: string, object: Draft): void {
  const model = modelFor(apiVersion, kind)
  if (model) writeMessage(writer, model, object)
  else writeListObject(writer, apiVersion, kind, object)
}

/** All lists have the same encoding. */
function writeListObject(writer: Writer, apiVersion: string, kind: string, object: Draft): void {
  const itemModel = modelFor(apiVersion, kind.replace(/List$/, ''))
  if (!itemModel) throw new Error(`there is no protobuf message for ${apiVersion} ${kind}`)
  writer.message(1, (meta) => writeMessage(meta, `${META}.ListMeta`, (object['metadata'] ?? {}) as Draft))
  for (const item of object['items'] as readonly Draft[]) {
    writer.message(2, (one) => writeMessage(one, itemModel, item))
  }
}

function writeMessage(writer: Writer, model: string, object: Draft): void {
  writeFields(writer, goStruct(model).fields, object)
}

/** Fields of embedded structs are nested messages at any depth. */
function writeFields(writer: Writer, fields: readonly Numbered[], object: Draft): void {
  const embedded = new Map<number, Numbered[]>()
  for (const { name, type, numbers } of fields) {
    const [number, ...rest] = numbers
    if (number === undefined) continue
    if (rest.length === 0) writeValue(writer, number, type, getOwn(object, name) as Json | undefined)
    else embedded.set(number, [...(embedded.get(number) ?? []), { name, type, numbers: rest }])
  }
  for (const [number, inner] of embedded) writer.message(number, (one) => writeFields(one, inner, object))
}

function writeValue(writer: Writer, number: number, type: GoType, value: Json | undefined): void {
  if (value === undefined || value === null) return
  if (type.kind === 'pointer') writeValue(writer, number, type.of, value)
  else if (type.kind === 'slice') writeList(writer, number, type, value as readonly Json[])
  else if (type.kind === 'map') writeMap(writer, number, type.of, value as Draft)
  else if (type.kind === 'struct') writer.message(number, (inner) => writeMessage(inner, type.model, value as Draft))
  else if (type.kind === 'special') writer.message(number, (inner) => specials[type.name](inner, value))
  else if (type.kind === 'string') writer.text(number, value as string)
  else if (type.kind === 'bytes') writer.bytes(number, Buffer.from(value as string, 'base64'))
  else if (type.kind === 'bool') writer.bool(number, value as boolean)
  else if (type.kind === 'float64') writer.double(number, Number(value))
  else if (type.kind === 'any') throw new Error('a value without a type cannot be encoded')
  else writer.integer(number, value as number | bigint)
}

function writeList(
  writer: Writer,
  number: number,
  list: { readonly of: GoType; readonly go: string },
  items: readonly Json[],
): void {
  if (isMessageList(list)) writer.message(number, (inner) => writeItems(inner, 1, list.of, items))
  else writeItems(writer, number, list.of, items)
}

function writeMap(writer: Writer, number: number, of: GoType, map: Draft): void {
  for (const [key, value] of Object.entries(map)) {
    writer.message(number, (entry) => {
      entry.text(1, key)
      writeValue(entry, 2, of, value)
    })
  }
}

function writeItems(writer: Writer, number: number, of: GoType, items: readonly Json[]): void {
  for (const item of items) writeValue(writer, number, of, item)
}

function writeTime(writer: Writer, value: Json): void {
  const text = value as string
  const micros = Number(/\.(\d{6})/.exec(text)?.[1] ?? 0)
  writer.integer(1, Math.floor(Date.parse(text.replace(/\.\d+/, '')) / 1000))
  writer.integer(2, micros * 1000)
}

const writeRaw = (writer: Writer, value: Json): void => writer.bytes(1, Buffer.from(stringify(value)))

const writeSchema = (writer: Writer, number: number, value: Json): void =>
  writer.message(number, (inner) => writeMessage(inner, SCHEMA, value as Draft))

const specials: Readonly<Record<SpecialName, (writer: Writer, value: Json) => void>> = {
  Time: writeTime,
  MicroTime: writeTime,
  FieldsV1: writeRaw,
  RawExtension: writeRaw,
  JSON: writeRaw,
  IntOrString(writer, value) {
    writer.integer(1, typeof value === 'string' ? 1 : 0)
    if (typeof value === 'string') writer.text(3, value)
    else writer.integer(2, value as number)
  },
  JSONSchemaPropsOrBool(writer, value) {
    writer.bool(1, value !== false)
    if (typeof value === 'object') writeSchema(writer, 2, value)
  },
  JSONSchemaPropsOrArray(writer, value) {
    if (Array.isArray(value)) for (const one of value) writeSchema(writer, 2, one)
    else writeSchema(writer, 1, value)
  },
  JSONSchemaPropsOrStringArray(writer, value) {
    if (Array.isArray(value)) for (const one of value) writer.text(2, one as string)
    else writeSchema(writer, 1, value)
  },
}
