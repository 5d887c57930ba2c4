import { type HttpClient, sleep } from '@crosstie/controller'
import { apiVersionOf, ignoring, isNotFound, isObject, type ResourceType } from '@crosstie/kube'
import { didYouMean } from '../../options/suggest.js'
import { UsageError } from '../command.js'
import type { Paint } from '../shared/terminal.js'

/** A node of an OpenAPI document. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
  readonly 'x-kubernetes-validations'?: readonly { rule?: string; message?: string }[]
  readonly 'x-kubernetes-int-or-string'?: boolean
}

type Schemas = Readonly<Record<string, Schema>>

/** The schema of a kind as the server publishes it, with all referenced schemas. */
export interface KindSchema {
  readonly kind: string
  readonly root: Schema
  readonly schemas: Schemas
}

/** kube-apiserver serves a new kind some moments before it publishes the schema. */
const PUBLICATION_MS = 15_000
const PUBLICATION_POLL_MS = 250

/**
 * Reads the schema of a kind that the server serves. Waits a moment for the schema of a new kind. Throws if the server
 * does not publish one.
 */
export async function readSchema(client: HttpClient, type: ResourceType, signal: AbortSignal): Promise<KindSchema> {
  const deadline = Date.now() + PUBLICATION_MS
  for (;;) {
    const schema = await publishedSchema(client, type, signal)
    if (schema) return schema
    if (Date.now() > deadline) {
      throw new Error(`the server does not publish a schema of ${type.kind} (${apiVersionOf(type)})`)
    }
    await sleep(PUBLICATION_POLL_MS, signal)
    signal.throwIfAborted()
  }
}

async function publishedSchema(
  client: HttpClient,
  type: ResourceType,
  signal: AbortSignal,
): Promise<KindSchema | undefined> {
  const path = type.group === '' ? `/openapi/v3/api/${type.version}` : `/openapi/v3/apis/${apiVersionOf(type)}`
  const document = await client
    .read<{ components?: { schemas?: Schemas } }>(path, { signal })
    .catch(ignoring(isNotFound))
  const schemas = document?.components?.schemas ?? {}
  const isIt = ({ group, version, kind }: { group: string; version: string; kind: string }) =>
    group === type.group && version === type.version && kind === type.kind
  const root = Object.values(schemas).find((schema) => schema['x-kubernetes-group-version-kind']?.some(isIt))
  return root && { kind: type.kind, root, schemas }
}

/** Resolves references. Siblings of a reference, such as a description, are kept. */
function resolved({ schemas }: KindSchema, schema: Schema): Schema {
  const only = schema.$ref ? schema : schema.allOf?.length === 1 ? schema.allOf[0]! : undefined
  if (!only?.$ref) return schema
  const { $ref: _, allOf: __, ...own } = schema
  return { ...schemas[only.$ref.split('/').at(-1)!], ...own }
}

/** Returns the schema whose fields a path can name. Lists and maps are skipped. */
function inside(kind: KindSchema, schema: Schema): Schema {
  const found = resolved(kind, schema)
  if (found.items) return inside(kind, found.items)
  if (isObject(found.additionalProperties)) return inside(kind, found.additionalProperties as Schema)
  return found
}

function find(kind: KindSchema, path: readonly string[]): { readonly schema: Schema; readonly required: boolean } {
  let schema = kind.root
  let required = false
  path.forEach((name, i) => {
    const { properties = {}, required: needed = [] } = inside(kind, schema)
    const next = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!next) {
      const at = [kind.kind, ...path.slice(0, i)].join('.')
      const names = Object.keys(properties)
      const list = names.length > 0 ? `It has ${names.join(', ')}` : 'It has no fields of its own'
      throw new UsageError(`${at} has no field '${name}'.${didYouMean(name, names)} ${list}`)
    }
    schema = next
    required = needed.includes(name)
  })
  return { schema: resolved(kind, schema), required }
}

/** Returns the name of a type: `string`, `[]object`, `map[string]string`. */
export function typeName(kind: KindSchema, schema: Schema): string {
  const found = resolved(kind, schema)
  if (found['x-kubernetes-int-or-string']) return 'integer or string'
  if (found.items) return `[]${typeName(kind, found.items)}`
  if (isObject(found.additionalProperties)) return `map[string]${typeName(kind, found.additionalProperties as Schema)}`
  return found.type ?? (found.properties ? 'object' : 'anything')
}

const WIDTH = 100

/** Returns the documentation of a field as lines. */
export function explainLines(kind: KindSchema, path: readonly string[], paint: Paint): readonly string[] {
  const { schema, required } = find(kind, path)
  const { properties = {}, required: needed = [] } = inside(kind, schema)
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const known = resolved(kind, field)
    const mark = needed.includes(name) ? ` ${paint.yellow('required')}` : ''
    const text = wrapped(known.description ?? '', WIDTH - 6)
    return [
      `  ${paint.bold(name)}  ${paint.dim(`<${typeName(kind, field)}>`)}${mark}`,
      ...indented(text),
      ...indented(limits(known)),
    ]
  })
  return [
    ...(path.length > 0
      ? [
          `FIELD:    ${paint.bold(path.join('.'))}  <${typeName(kind, schema)}>${required ? ` ${paint.yellow('required')}` : ''}`,
        ]
      : []),
    '',
    ...wrapped(schema.description ?? 'No description.', WIDTH),
    ...limits(schema),
    ...(fields.length > 0 ? ['', 'FIELDS:', ...fields] : []),
  ]
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `      ${line}`)

function limits(schema: Schema): readonly string[] {
  const rules = (schema['x-kubernetes-validations'] ?? []).flatMap(({ message }) => message ?? [])
  return [
    ...(schema.enum ? [`One of: ${schema.enum.map(String).join(', ')}`] : []),
    ...(schema.default !== undefined ? [`Default: ${JSON.stringify(schema.default)}`] : []),
    ...(schema.minimum !== undefined || schema.maximum !== undefined
      ? [`Range: ${[schema.minimum ?? 'anything', schema.maximum ?? 'anything'].join(' to ')}`]
      : []),
    ...(schema.pattern ? [`Pattern: ${schema.pattern}`] : []),
    ...[...new Set(rules)].map((rule) => `Rule: ${rule}`),
  ]
}

/** The maximum depth, since schemas may be recursive. */
const DEPTH_MAX = 12

/** Returns all fields below a field, one per line. */
export function fieldTree(kind: KindSchema, path: readonly string[]): readonly string[] {
  const below = (schema: Schema, depth: number, seen: readonly unknown[]): string[] => {
    const node = inside(kind, schema)
    if (depth > DEPTH_MAX || seen.includes(node.properties)) return []
    return Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
      `${'  '.repeat(depth)}${name}  <${typeName(kind, field)}>${node.required?.includes(name) ? ' required' : ''}`,
      // The fields of metadata are well known and long.
      ...(name === 'metadata' ? [] : below(field, depth + 1, [...seen, node.properties])),
    ])
  }
  return ['', ...below(find(kind, path).schema, 0, [])]
}

function wrapped(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.split(/\s+/).filter(Boolean)) {
      const last = lines.at(-1)!
      if (last !== '' && last.length + word.length >= width) lines.push(word)
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
    }
    return lines
  })
}
