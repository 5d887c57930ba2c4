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

/** Options of {@link walkFieldPath}. */
export interface FieldPathOptions {
  /** Whether `['name']` is allowed besides `.name`. The default is true. */
  readonly brackets?: boolean
}

/**
 * Reads a path of fields and quoted map keys, such as `.spec.labels['a/b']`, and calls `enter` with each name in order.
 * `enter` returns a message to stop. Returns the message that stopped the walk, worded as kube-apiserver words it, or
 * undefined when the whole path was read.
 */
export function walkFieldPath(
  path: string,
  enter: (name: string) => string | undefined,
  { brackets = true }: FieldPathOptions = {},
): string | undefined {
  const tokens = tokenize(path)[Symbol.iterator]()
  for (let token = next(tokens); token !== undefined; token = next(tokens)) {
    const error = token === '.' ? enterField(tokens, enter) : enterBracket(token, tokens, brackets, enter)
    if (error !== undefined) return error
  }
  return undefined
}

/** Splits at `.`, `[` and `]`, which are tokens themselves. Text that starts with a quote is one token. */
function tokenize(path: string): readonly string[] {
  return path.match(/'(?:[^']|(?<=\\)')*(?:'|$)|[.[\]]|[^'.[\]][^.[\]]*/g) ?? []
}

function next(tokens: Iterator<string>): string | undefined {
  const { done, value } = tokens.next()
  return done ? undefined : value
}

function enterField(tokens: Iterator<string>, enter: (name: string) => string | undefined): string | undefined {
  const name = next(tokens)
  return name === undefined ? 'unexpected end of JSON path' : enter(name)
}

function enterBracket(
  token: string,
  tokens: Iterator<string>,
  allowed: boolean,
  enter: (name: string) => string | undefined,
): string | undefined {
  if (token !== '[') return `expected [ or . but got: ${token}`
  if (!allowed) return 'array notation is not allowed'
  const quoted = next(tokens)
  if (quoted === undefined) return 'unexpected end of JSON path'
  const unquoted = unquote(quoted)
  const error = 'error' in unquoted ? unquoted.error : enter(unquoted.name)
  if (error !== undefined) return error
  const close = next(tokens)
  if (close === undefined) return 'unexpected end of JSON path'
  return close === ']' ? undefined : `expected ] but got ${close}`
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
