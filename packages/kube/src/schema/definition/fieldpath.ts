import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import { getOwn } from '../../json.js'
import { additionalSchema } from './walk.js'

/** Where a JSON path such as `.spec.color` leads in a schema, or why nowhere. */
export type FoundField =
  | { readonly path: string; readonly first: string; readonly schema: JSONSchemaProps | undefined }
  | { readonly error: string }

/** Follows a path of fields and quoted map keys: `.spec.labels['a/b']`. */
export function findField(
  jsonPath: string,
  root: JSONSchemaProps,
  { brackets = true }: { readonly brackets?: boolean } = {},
): FoundField {
  const tokens = tokenize(jsonPath)
  let path = ''
  let first = ''
  let schema: JSONSchemaProps | undefined = root
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    if (token !== '[' && token !== '.') return { error: `expected [ or . but got: ${token}` }
    if (token === '[' && !brackets) return { error: 'array notation is not allowed' }
    const next = tokens[++i]
    if (next === undefined) return { error: 'unexpected end of JSON path' }
    const name = token === '.' ? { name: next } : unquote(next)
    if ('error' in name) return name
    const step = stepInto(schema, name.name)
    if (!step) return { error: 'does not refer to a valid field' }
    schema = step.schema
    path = step.named ? (path === '' ? name.name : `${path}.${name.name}`) : `${path}[${name.name}]`
    if (first === '') first = path
    if (token === '.') continue
    const close = tokens[++i]
    if (close === undefined) return { error: 'unexpected end of JSON path' }
    if (close !== ']') return { error: `expected ] but got ${close}` }
  }
  return { path, first, schema }
}

function stepInto(
  schema: JSONSchemaProps | undefined,
  name: string,
): { readonly schema: JSONSchemaProps | undefined; readonly named: boolean } | undefined {
  if (!schema) return undefined
  if (Object.keys(schema.properties ?? {}).length > 0) {
    const property = getOwn(schema.properties!, name) as JSONSchemaProps | undefined
    return property && { schema: property, named: true }
  }
  if (schema.additionalProperties === undefined || schema.additionalProperties === null) return undefined
  return { schema: additionalSchema(schema), named: false }
}

/** Dots and brackets stand alone; what is between them, or in quotes, is one token. */
function tokenize(text: string): string[] {
  return text.match(/'(?:[^'\\]|\\[\s\S])*'?|[.[\]]|[^.[\]]+/g) ?? []
}

const escapes: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

function unquote(token: string): { readonly name: string } | { readonly error: string } {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    return { error: `expected single quoted string but got ${token}` }
  }
  let bad: string | undefined
  const name = token.slice(1, -1).replace(/\\(.)/g, (match, char: string) => {
    if (escapes[char] === undefined) bad ??= match
    return escapes[char] ?? ''
  })
  return bad === undefined ? { name } : { error: `invalid string literal: invalid escape char ${bad}` }
}
