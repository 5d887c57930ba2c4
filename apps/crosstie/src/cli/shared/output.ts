import { encodeYaml } from '@crosstie/apiserver/yaml'
import {
  compileJsonPath,
  groupResource,
  type Json,
  JsonPathError,
  type KubeObject,
  messageOf,
  type ResourceType,
  stringify,
} from '@crosstie/kube'
import { didYouMean } from '../../options/suggest.js'
import { type Input, type Option, textOf, UsageError } from '../command.js'

/** The output format of a command. */
export interface Output {
  readonly format: string
  /** The path of `jsonpath=PATH`. */
  readonly path: string
}

/** The option `-o` with the formats of a command. The first one is the default. */
export function outputOptions(...formats: readonly string[]): Readonly<Record<string, Option>> {
  const [first, ...rest] = formats
  const help = `${[first, ...rest.slice(0, -1)].join(', ')} or ${rest.at(-1)}`
  return { output: { type: 'string', short: 'o', value: 'FORMAT', help, default: first! } }
}

/** Parses the value of `-o`. Throws a usage error. */
export function outputOf(values: Input['values'], ...formats: readonly string[]): Output {
  const asked = textOf(values, 'output') ?? formats[0]!
  const [format = '', ...rest] = asked.split('=')
  const known = formats.map((each) => each.split('=')[0]!)
  if (known.includes(format)) return { format, path: rest.join('=') }
  throw new UsageError(`-o takes ${formats.join(', ')}, not '${asked}'.${didYouMean(asked, known)}`)
}

/** The formats of commands that show objects. */
export const objectFormats = ['table', 'wide', 'name', 'json', 'yaml', 'jsonpath=PATH'] as const

/** Marks an integer that JSON.stringify cannot write. Texts do not contain this private character. */
const BIG = '\ue000'
const BIG_INTEGER = new RegExp(`"${BIG}(-?\\d+)"`, 'g')

/** Encodes a value as JSON or YAML. Integers beyond 2^53 stay exact. */
export function encoded(format: string, value: unknown): string {
  if (format === 'yaml') return encodeYaml(value as Json).trimEnd()
  const marked = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${BIG}${each}` : each), 2)
  return marked.replace(BIG_INTEGER, '$1')
}

/** Encodes objects for programs: a single one as it is, several as a list. Returns undefined for formats for people. */
export function encodedObjects(
  { format, path }: Output,
  objects: readonly KubeObject[],
  alone: boolean,
): string | undefined {
  if (format !== 'json' && format !== 'yaml' && format !== 'jsonpath') return undefined
  const shown = objects.map(withoutManagedFields)
  const value = alone ? shown[0] : { apiVersion: 'v1', kind: 'List', metadata: {}, items: shown }
  return format === 'jsonpath' ? valuesAt(path, value) : encoded(format, value)
}

/** Returns the values at a path, separated by spaces. The path may be in braces, as in kubectl. */
export function valuesAt(path: string, value: unknown): string {
  if (!path) throw new UsageError("-o jsonpath takes a path, such as -o jsonpath='{.status.phase}'")
  try {
    const found = compileJsonPath(path.replace(/^\{(.*)\}$/s, '$1'))(value)
    return found.map((each) => (typeof each === 'string' ? each : stringify(each))).join(' ')
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error
    throw new UsageError(`-o jsonpath: ${messageOf(error)}`)
  }
}

/** Removes managedFields, which few readers need and which are longer than the rest. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Returns the name of an object as commands accept it: `secret/login`, `vpc.ec2.aws.crossplane.io/main`. */
export function objectName(type: ResourceType & { readonly singular?: string }, name: string): string {
  const resource = type.singular || type.kind.toLowerCase()
  return `${groupResource({ group: type.group, resource })}/${name}`
}
