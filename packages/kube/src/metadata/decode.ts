import { getOwn, setOwn } from '../json.js'
import { readTime } from './time.js'

/**
 * The result of decoding metadata as kube-apiserver does: into typed fields, without unknown and empty fields.
 * Custom resources are otherwise untyped, so a label with a number as its value is rejected here.
 */
export interface DecodedMeta {
  /** The metadata; the same object if it needed no change. Undefined together with an error. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly error?: string
}

/** Options of {@link decodeMeta}. */
export interface DecodeOptions {
  /** Omit fields of a wrong type instead of failing. For stored objects. */
  readonly drop?: boolean | undefined
  /** Receives the paths of unknown fields, relative to the metadata. */
  readonly unknown?: string[] | undefined
}

/** Decodes metadata. Does not throw: an error is part of the result. */
export function decodeMeta(value: unknown, { drop = false, unknown }: DecodeOptions = {}): DecodedMeta {
  if (isDecoded(value, objectMeta)) return { meta: value as Record<string, unknown> }
  const reader = new Reader(unknown)
  const meta = reader.read(value, objectMeta, 'ObjectMeta', '', '')
  if (reader.error === undefined) return { meta: (meta ?? {}) as Record<string, unknown> }
  if (!drop) return { error: reader.error }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { error: `invalid metadata: expected object, got ${goTypeOf(value)}` }
  }
  return { meta: keepReadable(value as Record<string, unknown>, unknown) }
}

/**
 * Reports whether decoding would change nothing and report nothing. This is the frequent case, and the check is
 * cheaper than decoding.
 */
function isDecoded(value: unknown, shape: Shape): boolean {
  switch (shape.of) {
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return Number.isSafeInteger(value)
    case 'time':
      return typeof value === 'string' && isDecodedTime(value)
    case 'raw':
      return value !== null
    case 'list':
      return Array.isArray(value) && value.every((item) => isDecoded(item, shape.items!))
    case 'map':
      return isMap(value) && hasOnlyText(value)
    case 'struct':
      return isMap(value) && isDecodedStruct(value, shape)
  }
}

function isDecodedStruct(value: Record<string, unknown>, { fields, written }: Shape): boolean {
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    const field = fields!.get(key)
    if (!field || !isDecoded(member, field.shape) || (field.empty === 'omit' && isEmpty(member))) return false
  }
  return written!.every((key) => getOwn(value, key) !== undefined)
}

function hasOnlyText(value: Record<string, unknown>): boolean {
  for (const key in value) if (typeof value[key] !== 'string') return false
  return true
}

/** The last valid time, since consecutive times often have the same second. */
let lastDecodedTime = ''

function isDecodedTime(text: string): boolean {
  if (text === lastDecodedTime) return true
  if (readTime(text).time !== text) return false
  lastDecodedTime = text
  return true
}

function keepReadable(value: Record<string, unknown>, unknown: string[] | undefined): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  unknown?.splice(0)
  for (const key of Object.keys(value)) {
    const reader = new Reader(unknown)
    const one: Record<string, unknown> = {}
    setOwn(one, key, value[key])
    const read = reader.read(one, objectMeta, 'ObjectMeta', '', '') as Record<string, unknown>
    if (reader.error === undefined && read && getOwn(read, key) !== undefined) setOwn(kept, key, read[key])
  }
  return kept
}

interface Shape {
  /** The name of the Go type. */
  readonly type: string
  readonly of: 'string' | 'integer' | 'boolean' | 'time' | 'map' | 'list' | 'struct' | 'raw'
  readonly items?: Shape
  readonly fields?: ReadonlyMap<string, Field>
  /** Fields that are written even if they are empty. */
  readonly written?: readonly string[]
}

interface Field {
  readonly shape: Shape
  /** The treatment of an empty value: omit it, write the empty value of a required field, or keep the given value. */
  readonly empty: 'omit' | 'write' | 'keep'
}

const string: Shape = { type: 'string', of: 'string' }
const uid: Shape = { type: 'types.UID', of: 'string' }
const int64: Shape = { type: 'int64', of: 'integer' }
const bool: Shape = { type: 'bool', of: 'boolean' }
const time: Shape = { type: 'string', of: 'time' }
const raw: Shape = { type: 'v1.FieldsV1', of: 'raw' }
const strings: Shape = { type: 'map[string]string', of: 'map', items: string }
const listOf = (items: Shape): Shape => ({ type: `[]${items.type}`, of: 'list', items })

const omit = (shape: Shape): Field => ({ shape, empty: 'omit' })
const write = (shape: Shape): Field => ({ shape, empty: 'write' })
const keep = (shape: Shape): Field => ({ shape, empty: 'keep' })

function structOf(type: string, given: Readonly<Record<string, Field>>): Shape {
  const fields = new Map(Object.entries(given))
  const written = [...fields.keys()].filter((key) => given[key]!.empty === 'write')
  return { type, of: 'struct', fields, written }
}

const ownerReference = structOf('v1.OwnerReference', {
  apiVersion: write(string),
  kind: write(string),
  name: write(string),
  uid: write(uid),
  controller: keep(bool),
  blockOwnerDeletion: keep(bool),
})

const managedFieldsEntry = structOf('v1.ManagedFieldsEntry', {
  manager: omit(string),
  operation: omit({ type: 'v1.ManagedFieldsOperationType', of: 'string' }),
  apiVersion: omit(string),
  time: keep(time),
  fieldsType: omit(string),
  fieldsV1: keep(raw),
  subresource: omit(string),
})

const objectMeta = structOf('v1.ObjectMeta', {
  name: omit(string),
  generateName: omit(string),
  namespace: omit(string),
  selfLink: omit(string),
  uid: omit(uid),
  resourceVersion: omit(string),
  generation: omit(int64),
  creationTimestamp: omit(time),
  deletionTimestamp: keep(time),
  deletionGracePeriodSeconds: keep(int64),
  labels: omit(strings),
  annotations: omit(strings),
  ownerReferences: omit(listOf(ownerReference)),
  finalizers: omit(listOf(string)),
  managedFields: omit(listOf(managedFieldsEntry)),
})

/** Decodes to the end, but reports only the first error, in the order of the keys. */
class Reader {
  error: string | undefined
  private where = ''

  constructor(private readonly unknown: string[] | undefined) {}

  read(value: unknown, shape: Shape, struct: string, field: string, path: string): unknown {
    if (value === null) return undefined
    this.where = field === '' ? `Go value` : `Go struct field ${struct}.${field}`
    switch (shape.of) {
      case 'string':
        return typeof value === 'string' ? value : this.refuse(value, shape)
      case 'boolean':
        return typeof value === 'boolean' ? value : this.refuse(value, shape)
      case 'integer':
        return this.readInteger(value, shape)
      case 'time':
        return typeof value === 'string' ? this.readTime(value) : this.refuse(value, shape)
      case 'raw':
        return value
      case 'list':
        return Array.isArray(value) ? this.readList(value, shape, struct, field, path) : this.refuse(value, shape)
      case 'map':
        return isMap(value) ? this.readMap(value, shape, struct, field) : this.refuse(value, shape)
      case 'struct':
        return isMap(value) ? this.readStruct(value, shape, field, path) : this.refuse(value, shape)
    }
  }

  private refuse(value: unknown, { type }: Shape): undefined {
    this.error ??= `json: cannot unmarshal ${jsonTypeOf(value)} into ${this.where} of type ${type}`
    return undefined
  }

  private readInteger(value: unknown, { type }: Shape): unknown {
    const integer = typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint'
    if (integer) return value
    const number = typeof value === 'number' ? `number ${value}` : jsonTypeOf(value)
    this.error ??= `json: cannot unmarshal ${number} into ${this.where} of type ${type}`
    return undefined
  }

  private readTime(value: string): unknown {
    const result = readTime(value)
    this.error ??= result.error
    return result.time
  }

  private readList(value: readonly unknown[], { items }: Shape, struct: string, field: string, path: string): unknown {
    let copy: unknown[] | undefined
    value.forEach((item, i) => {
      const read = this.read(item, items!, struct, field, `${path}[${i}]`) ?? emptyOf(items!)
      if (read === item) return
      copy ??= value.slice()
      copy[i] = read
    })
    return copy ?? value
  }

  private readMap(value: Record<string, unknown>, { items }: Shape, struct: string, field: string): unknown {
    let copy: Record<string, unknown> | undefined
    for (const key of sortedKeys(value)) {
      const read = this.read(value[key], items!, struct, field, '') ?? ''
      if (read === value[key]) continue
      copy ??= { ...value }
      setOwn(copy, key, read)
    }
    return copy ?? value
  }

  private readStruct(value: Record<string, unknown>, shape: Shape, parent: string, path: string): unknown {
    const name = shape.type.replace('v1.', '')
    const changes = new Map<string, unknown>()
    for (const key of sortedKeys(value)) {
      const field = shape.fields!.get(key)
      const at = path === '' ? key : `${path}.${key}`
      if (!field) {
        this.unknown?.push(at)
        changes.set(key, undefined)
        continue
      }
      const read = this.read(value[key], field.shape, name, parent === '' ? key : `${parent}.${key}`, at)
      const written = field.empty === 'omit' && isEmpty(read) ? undefined : read
      if (written !== value[key]) changes.set(key, written)
    }
    for (const key of shape.written!) {
      if ((getOwn(value, key) ?? null) === null) changes.set(key, emptyOf(shape.fields!.get(key)!.shape))
    }
    return changes.size === 0 ? value : withChanges(value, changes)
  }
}

function withChanges(value: Record<string, unknown>, changes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (!changes.has(key)) setOwn(copy, key, value[key])
  for (const [key, change] of changes) if (change !== undefined) setOwn(copy, key, change)
  return copy
}

function emptyOf(shape: Shape): unknown {
  if (shape.of === 'string') return ''
  if (shape.of !== 'struct') return undefined
  return Object.fromEntries(shape.written!.map((key) => [key, emptyOf(shape.fields!.get(key)!.shape)]))
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '' || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isMap(value)) return false
  for (const _ in value) return false
  return true
}

const sortedKeys = (value: Record<string, unknown>) =>
  Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jsonTypeOf(value: unknown): string {
  if (typeof value === 'bigint') return 'number'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? 'array' : typeof value
}

function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
