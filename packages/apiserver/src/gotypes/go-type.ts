import type { Json } from '@crosstie/kube'
import { goTypes } from './types.generated.js'

/** The parts of a Go type that JSON, protobuf and error texts depend on. `go` is its name in Go. */
export type GoType =
  | { readonly kind: 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'; readonly go: string }
  | { readonly kind: 'pointer' | 'slice' | 'map'; readonly of: GoType; readonly go: string }
  | { readonly kind: 'struct'; readonly model: string; readonly go: string }
  | { readonly kind: 'special'; readonly name: SpecialName; readonly go: string }

/** Types with their own JSON encoding. */
export type SpecialName =
  | 'Time'
  | 'MicroTime'
  | 'FieldsV1'
  | 'RawExtension'
  | 'IntOrString'
  | 'JSON'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrStringArray'

/** A field of a Go struct. */
export interface GoField {
  readonly name: string
  readonly type: GoType
  /** The path of protobuf field numbers. Empty for a field outside of the message. */
  readonly numbers: readonly number[]
  readonly omitEmpty: boolean
  readonly omitZero: boolean
  readonly required: boolean
  readonly facts: FieldFacts
}

/** The facts of the OpenAPI definition of a field beyond its type. */
export interface FieldFacts {
  readonly list?: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  readonly map?: 'granular' | 'atomic'
  readonly strategy?: string
  readonly mergeKey?: string
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly format?: string
}

/** A Go struct. */
export interface GoStruct {
  readonly model: string
  /** Without the package: `ObjectMeta`. */
  readonly name: string
  readonly fields: readonly GoField[]
  readonly index: ReadonlyMap<string, number>
  readonly facts: FieldFacts
}

const structs = new Map<string, GoStruct>()

/** Returns the struct of an OpenAPI model such as `io.k8s.api.core.v1.Secret`. It is parsed on first use. */
export function goStruct(model: string): GoStruct {
  const known = structs.get(model)
  if (known) return known
  const text = goTypes[model]
  if (text === undefined) throw new Error(`no Go type is known for ${model}`)
  const [head, ...lines] = text.split('\n')
  const fields = lines.map(parseField)
  const struct: GoStruct = {
    model,
    name: model.slice(model.lastIndexOf('.') + 1),
    fields,
    index: new Map(fields.map((field, i) => [field.name, i])),
    facts: parseFacts(head!.indexOf(' '), head!),
  }
  structs.set(model, struct)
  return struct
}

/** Whether there is a struct of that name. */
export function isGoStruct(model: string): boolean {
  return Object.hasOwn(goTypes, model)
}

function parseField(line: string): GoField {
  const brace = line.indexOf(' {"')
  const [name, type, number, flags] = (brace < 0 ? line : line.slice(0, brace)).split(' ') as [
    string,
    string,
    string,
    string,
  ]
  return {
    name,
    type: parseType(type),
    numbers: number === '0' ? [] : number.split('.').map(Number),
    omitEmpty: flags.includes('o'),
    omitZero: flags.includes('z'),
    required: flags.includes('r'),
    facts: parseFacts(brace, line),
  }
}

function parseFacts(from: number, line: string): FieldFacts {
  return from < 0 ? {} : (JSON.parse(line.slice(from)) as FieldFacts)
}

const packages: Readonly<Record<string, string>> = {
  Time: 'v1.Time',
  MicroTime: 'v1.MicroTime',
  FieldsV1: 'v1.FieldsV1',
  RawExtension: 'runtime.RawExtension',
  IntOrString: 'intstr.IntOrString',
}

function parseType(text: string): GoType {
  const named = /^([\w]+\.[\w]+)=(.*)$/.exec(text)
  if (named) return { ...parseType(named[2]!), go: named[1]! }
  if (text.startsWith('?')) {
    const of = parseType(text.slice(1))
    return { kind: 'pointer', of, go: `*${of.go}` }
  }
  if (text.startsWith('[]')) {
    const of = parseType(text.slice(2))
    return { kind: 'slice', of, go: `[]${of.go}` }
  }
  if (text.startsWith('{}')) {
    const of = parseType(text.slice(2))
    return { kind: 'map', of, go: `map[string]${of.go}` }
  }
  if (text.startsWith('@')) {
    const model = text.slice(1)
    return { kind: 'struct', model, go: `v1${model.slice(model.lastIndexOf('.'))}` }
  }
  if (text.startsWith('!')) {
    const name = text.slice(1) as SpecialName
    return { kind: 'special', name, go: packages[name] ?? `v1.${name}` }
  }
  if (text === 'bytes') return { kind: 'bytes', go: '[]uint8' }
  if (text === 'any') return { kind: 'any', go: 'interface {}' }
  return { kind: text as 'string', go: text }
}
