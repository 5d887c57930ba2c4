import { type Json, setOwn } from '@crosstie/kube'
import { canonicalMicroTime, canonicalTime, TimeError } from './go-time.js'
import { type GoField, type GoStruct, type GoType, goStruct, type SpecialName } from './go-type.js'

/** The body does not match the Go type of the kind. The message is that of Go's decoder. */
export class TypedDecodeError extends Error {
  override readonly name = 'TypedDecodeError'
}

/** The result of decodeTyped. */
export interface TypedDecoded {
  readonly object: Record<string, unknown>
  /** Paths of unknown fields in the order of the body, such as `spec.foo`. */
  readonly unknown: readonly string[]
}

/**
 * Decodes a JSON value into a Go type and encodes it again: unknown fields are dropped and reported, empty ones are
 * dropped or kept by `omitempty`, and fields are in the order of the type. The result shares no mutable value with
 * the input. Throws TypedDecodeError.
 *
 * kube-apiserver stores objects as protobuf, which does not distinguish an empty list from an absent one. Unless
 * `keepsEmpty`, empty lists and maps become null where `omitempty` does not drop them.
 */
export function decodeTyped(model: string, value: unknown, keepsEmpty = true): TypedDecoded {
  const context = new Context(keepsEmpty)
  const object = typeCodec({ kind: 'struct', model, go: '' }).decode(value, context)
  if (context.error !== undefined) throw new TypedDecodeError(context.error)
  return { object: object as Record<string, unknown>, unknown: [...context.unknown] }
}

const UNKNOWN_MAX = 100

class Context {
  readonly path: string[] = []
  readonly fields: string[] = []
  struct = ''
  error: string | undefined
  misfitted: { readonly word: string; readonly go: string } | undefined
  readonly unknown = new Set<string>()
  readonly keepsEmpty: boolean

  constructor(keepsEmpty = true) {
    this.keepsEmpty = keepsEmpty
  }

  addUnknown(key: string): void {
    if (this.unknown.size >= UNKNOWN_MAX) return
    const path = this.path.join('')
    this.unknown.add(path === '' ? key : `${path}.${key}`)
  }

  /** Go remembers the first mismatch and continues. */
  misfit(word: string, go: string): void {
    if (this.error !== undefined) return
    this.misfitted = { word, go }
    this.error = this.misfitText(word, go)
  }

  misfitText(word: string, go: string): string {
    const where = this.fields.length > 0 ? `struct field ${this.struct}.${this.fields.join('.')}` : 'value'
    return `json: cannot unmarshal ${word} into Go ${where} of type ${go}`
  }

  note(message: string): void {
    this.error ??= message
  }
}

interface Codec {
  /** The canonical form of a value that is not null. */
  decode(value: unknown, context: Context): Json
  /** The JSON of Go's zero value of the type. */
  readonly zero: Json
  /** Whether `omitempty` drops the value. */
  isEmpty(value: Json): boolean
}

const codecs = new Map<string, Codec>()

function typeCodec(type: GoType): Codec {
  const key = type.kind === 'struct' ? type.model : type.kind === 'special' ? `!${type.name}` : undefined
  if (key === undefined) return makeCodec(type)
  let codec = codecs.get(key)
  if (!codec) {
    codec = makeCodec(type)
    codecs.set(key, codec)
  }
  return codec
}

function makeCodec(type: GoType): Codec {
  switch (type.kind) {
    case 'string':
      return scalarCodec(type, 'string', '')
    case 'bool':
      return scalarCodec(type, 'boolean', false)
    case 'int32':
      return integerCodec(type, -(2 ** 31), 2 ** 31 - 1)
    case 'int64':
      return integerCodec(type, -(2n ** 63n), 2n ** 63n - 1n)
    case 'float64':
      return scalarCodec(type, 'number', 0)
    case 'bytes':
      return bytesCodec(type)
    case 'any':
      return { decode: (value) => value as Json, zero: null, isEmpty: (value) => value === null }
    case 'pointer':
      return pointerCodec(typeCodec(type.of))
    case 'slice':
      return sliceCodec(type, typeCodec(type.of))
    case 'map':
      return mapCodec(type, typeCodec(type.of))
    case 'struct':
      return structCodec(goStruct(type.model), type)
    case 'special':
      return specialCodecs[type.name]()
  }
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'number'
    default:
      return typeof value
  }
}

function scalarCodec(type: GoType, jsType: 'string' | 'boolean' | 'number', zero: Json): Codec {
  return {
    decode(value, context) {
      if (typeof value === jsType) return value as Json
      if (jsType === 'number' && typeof value === 'bigint') return Number(value)
      context.misfit(wordOf(value), type.go)
      return zero
    },
    zero,
    isEmpty: (value) => value === zero,
  }
}

function integerCodec(type: GoType, min: number | bigint, max: number | bigint): Codec {
  return {
    decode(value, context) {
      if (typeof value === 'number' || typeof value === 'bigint') {
        const whole = typeof value === 'bigint' || Number.isInteger(value)
        if (whole && value >= min && value <= max) return value
        context.misfit(`number ${value}`, type.go)
      } else context.misfit(wordOf(value), type.go)
      return 0
    },
    zero: 0,
    isEmpty: (value) => value === 0,
  }
}

const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*$/

function bytesCodec(type: GoType): Codec {
  return {
    decode(value, context) {
      if (Array.isArray(value)) return bytesOfList(value, context)
      if (typeof value !== 'string') {
        context.misfit(wordOf(value), type.go)
        return null
      }
      if (canonicalBase64.test(value)) return value
      const fault = base64Fault(value)
      if (fault >= 0) context.note(`illegal base64 data at input byte ${fault}`)
      return Buffer.from(value, 'base64').toString('base64')
    },
    zero: null,
    isEmpty: (value) => value === null || value === '',
  }
}

/** Go also accepts bytes as a list of numbers. Null counts as zero. */
function bytesOfList(items: readonly unknown[], context: Parameters<Codec['decode']>[1]): string {
  const bytes = items.map((item) => {
    if (item === null) return 0
    if (typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255) return item
    context.misfit(typeof item === 'number' || typeof item === 'bigint' ? `number ${item}` : wordOf(item), 'uint8')
    return 0
  })
  return Buffer.from(bytes).toString('base64')
}

/** Returns the position at which Go's decoder stops, or -1. Line breaks do not count. */
function base64Fault(text: string): number {
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === '\n' || char === '\r') continue
    if (char === '=') return paddingFault(text, i, digits % 4)
    if (!/[A-Za-z0-9+/]/.test(char)) return Buffer.byteLength(text.slice(0, i))
    digits++
  }
  return digits % 4 === 0 ? -1 : Buffer.byteLength(text) - (digits % 4)
}

function paddingFault(text: string, at: number, digits: number): number {
  if (digits < 2) return at
  let i = at + 1
  const skipBreaks = () => {
    while (text[i] === '\n' || text[i] === '\r') i++
  }
  if (digits === 2) {
    skipBreaks()
    if (i >= text.length) return text.length
    if (text[i] !== '=') return i - 1
    i++
  }
  skipBreaks()
  return i < text.length ? i : -1
}

function pointerCodec(of: Codec): Codec {
  return { decode: of.decode.bind(of), zero: null, isEmpty: (value) => value === null }
}

const isEmptyCollection = (value: Json): boolean => value === null || Object.keys(value as object).length === 0

function sliceCodec(type: GoType, of: Codec): Codec {
  return {
    decode(value, context) {
      if (!Array.isArray(value)) {
        context.misfit(wordOf(value), type.go)
        return null
      }
      if (value.length === 0) return context.keepsEmpty ? [] : null
      const items = new Array<Json>(value.length)
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i]
        if (typeof item !== 'object') items[i] = of.decode(item, context)
        else if (item === null) items[i] = of.zero
        else {
          context.path.push(`[${i}]`)
          items[i] = of.decode(item, context)
          context.path.pop()
        }
      }
      return items
    },
    zero: null,
    isEmpty: (value) => value === null || (value as readonly Json[]).length === 0,
  }
}

function mapCodec(type: GoType & { readonly of: GoType }, of: Codec): Codec {
  const bytes = type.of.kind === 'bytes'
  return {
    decode(value, context) {
      if (typeof value !== 'object' || Array.isArray(value)) {
        context.misfit(wordOf(value), type.go)
        return null
      }
      const source = value as Record<string, unknown>
      const map: Record<string, Json> = {}
      const keys = Object.keys(source)
      if (keys.length === 0) return context.keepsEmpty ? map : null
      for (const key of keys) {
        const item = source[key]
        // Protobuf reads an entry without bytes as an entry of zero bytes.
        if (item === null || item === undefined) setOwn(map, key, bytes && !context.keepsEmpty ? '' : of.zero)
        else {
          context.path.push(context.path.length > 0 ? `.${key}` : key)
          setOwn(map, key, of.decode(item, context))
          context.path.pop()
        }
      }
      return map
    },
    zero: null,
    isEmpty: isEmptyCollection,
  }
}

interface Slot {
  readonly field: GoField
  readonly codec: Codec
  readonly path: string
}

function structCodec(struct: GoStruct, type: GoType): Codec {
  let slots: readonly Slot[] | undefined
  // Field types are looked up on first use, because schemas are recursive.
  const slotsOf = (): readonly Slot[] => {
    slots ??= struct.fields.map((field) => ({ field, codec: typeCodec(field.type), path: `.${field.name}` }))
    return slots
  }
  return {
    decode(value, context) {
      if (typeof value !== 'object' || Array.isArray(value)) {
        context.misfit(wordOf(value), type.go)
        return this.zero
      }
      const found = readFields(struct, slotsOf(), value as Record<string, unknown>, context)
      return writeFields(slotsOf(), found)
    },
    // Created anew each time, because the caller may change the decoded object.
    get zero() {
      return writeFields(slotsOf(), [])
    },
    isEmpty: () => false,
  }
}

function readFields(
  struct: GoStruct,
  slots: readonly Slot[],
  source: Record<string, unknown>,
  context: Context,
): (Json | undefined)[] {
  const found: (Json | undefined)[] = new Array(slots.length)
  const outer = context.struct
  for (const key of Object.keys(source)) {
    const value = source[key]
    if (value === undefined) continue
    const at = struct.index.get(key)
    if (at === undefined) {
      context.addUnknown(key)
      continue
    }
    if (value === null) continue
    const slot = slots[at]!
    context.struct = struct.name
    context.fields.push(key)
    context.path.push(context.path.length > 0 ? slot.path : key)
    found[at] = slot.codec.decode(value, context)
    context.path.pop()
    context.fields.pop()
  }
  context.struct = outer
  return found
}

function writeFields(slots: readonly Slot[], found: readonly (Json | undefined)[]): Record<string, Json> {
  const object: Record<string, Json> = {}
  for (let i = 0; i < slots.length; i++) {
    const { field, codec } = slots[i]!
    const value = found[i]
    if (value === undefined) {
      if (!field.omitEmpty || !codec.isEmpty(codec.zero)) {
        if (!field.omitZero) object[field.name] = codec.zero
      }
    } else if (!(field.omitEmpty && codec.isEmpty(value)) && !(field.omitZero && value === null)) {
      object[field.name] = value
    }
  }
  return object
}

/** Types with their own decoder stop at the first error. */
function refuse(message: string): never {
  throw new TypedDecodeError(message)
}

function timeCodec(canonical: (text: string) => string | null): Codec {
  return {
    decode(value, context) {
      if (typeof value !== 'string') return refuse(context.misfitText(wordOf(value), 'string'))
      try {
        return canonical(value)
      } catch (error) {
        if (error instanceof TimeError) return refuse(error.message)
        throw error
      }
    },
    zero: null,
    // A struct in Go: `omitempty` alone never drops it.
    isEmpty: () => false,
  }
}

const rawCodec: Codec = { decode: (value) => value as Json, zero: null, isEmpty: () => false }

/** Decodes a part as a message of its own: unknown fields are not reported, and a mismatch is one of the whole part. */
function decodeApart(codec: Codec, value: unknown, outer: Context): Json {
  const context = new Context(outer.keepsEmpty)
  const decoded = codec.decode(value, context)
  if (context.error === undefined) return decoded
  const { misfitted } = context
  return refuse(misfitted ? outer.misfitText(misfitted.word, misfitted.go) : context.error)
}

const SCHEMA_MODEL = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'
const schemaType: GoType = { kind: 'struct', model: SCHEMA_MODEL, go: 'v1.JSONSchemaProps' }
const isPlainObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value)

function eitherCodec(other: (value: unknown, context: Context) => Json, zero: Json): Codec {
  return {
    decode: (value, context) =>
      isPlainObject(value) ? decodeApart(typeCodec(schemaType), value, context) : other(value, context),
    zero,
    isEmpty: () => false,
  }
}

const specialCodecs: Readonly<Record<SpecialName, () => Codec>> = {
  Time: () => timeCodec(canonicalTime),
  MicroTime: () => timeCodec(canonicalMicroTime),
  FieldsV1: () => rawCodec,
  RawExtension: () => rawCodec,
  JSON: () => rawCodec,
  IntOrString: () => {
    const integer = integerCodec({ kind: 'int32', go: 'int32' }, -(2 ** 31), 2 ** 31 - 1)
    const decode = (value: unknown, context: Context) =>
      typeof value === 'string' ? value : decodeApart(integer, value, context)
    return { decode, zero: 0, isEmpty: () => false }
  },
  JSONSchemaPropsOrBool: () =>
    eitherCodec((value) => (typeof value === 'boolean' ? value : refuse('boolean or JSON schema expected')), false),
  JSONSchemaPropsOrArray: () =>
    eitherCodec((value, context) => {
      if (!Array.isArray(value)) return null
      const schemas = decodeApart(
        sliceCodec({ kind: 'slice', of: schemaType, go: '[]v1.JSONSchemaProps' }, typeCodec(schemaType)),
        value,
        context,
      )
      return (schemas as readonly Json[]).length > 0 ? schemas : null
    }, null),
  JSONSchemaPropsOrStringArray: () =>
    eitherCodec((value, context) => {
      if (!Array.isArray(value)) return null
      const string: GoType = { kind: 'string', go: 'string' }
      return decodeApart(sliceCodec({ kind: 'slice', of: string, go: '[]string' }, typeCodec(string)), value, context)
    }, null),
}
