import type { SchemaNode } from './schema-node.js'

const escapes: Readonly<Record<string, string>> = {
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

/** Splits at `.`, `[` and `]`, which are tokens themselves; quoted text is one token. */
function tokenize(path: string): string[] {
  return path.match(/'(?:[^']|(?<=\\)')*(?:'|$)|[.[\]]|[^'.[\]][^.[\]]*/g) ?? []
}

function unquote(token: string): string | undefined {
  if (token.length < 2 || token[0] !== "'" || token.at(-1) !== "'") return undefined
  let valid = true
  const text = token.slice(1, -1).replace(/\\(.)/g, (_, c: string) => {
    valid &&= c in escapes
    return escapes[c] ?? ''
  })
  return valid ? text : undefined
}

/**
 * The field that a rule's `fieldPath` such as `.spec.foo` or `['a.b']` names, written as field errors write it.
 * Undefined when the schema has no such field.
 */
export function resolveFieldPath(path: string, schema: SchemaNode): string | undefined {
  const tokens = tokenize(path)
  let node: SchemaNode | undefined = schema
  let result = ''
  for (let i = 0; i < tokens.length; ) {
    let name: string | undefined
    if (tokens[i] === '.') {
      name = tokens[i + 1]
      i += 2
    } else if (tokens[i] === '[') {
      name = tokens[i + 1] === undefined ? undefined : unquote(tokens[i + 1]!)
      if (tokens[i + 2] !== ']') return undefined
      i += 3
    }
    if (name === undefined || !node) return undefined
    const named: boolean = node.properties !== undefined
    if (!named && node.schema.additionalProperties === undefined) return undefined
    node = named ? node.properties!.get(name) : node.additional
    if (named && !node) return undefined
    result += named ? (result === '' ? name : `.${name}`) : `[${name}]`
  }
  return result
}
