import { CelDouble, CelUint, intFrom, maxInt, maxUint, minInt, type Value } from './values.js'

/** The value of a literal token, or the error. */
export type LiteralResult = { readonly value: Value } | { readonly error: string }

/** Parses an int literal. */
export function intLiteral(text: string, negative: boolean): LiteralResult {
  const magnitude = BigInt(text)
  const value = negative ? -magnitude : magnitude
  if (value < minInt || value > maxInt) return { error: 'invalid int literal' }
  return { value: intFrom(value) }
}

/** Parses a uint literal. */
export function uintLiteral(text: string): LiteralResult {
  const value = BigInt(text.slice(0, -1))
  if (value > maxUint) return { error: 'invalid uint literal' }
  return { value: new CelUint(value) }
}

/** Parses a double literal. */
export function doubleLiteral(text: string, negative: boolean): LiteralResult {
  const value = Number(text)
  if (!Number.isFinite(value)) return { error: 'invalid double literal' }
  return { value: new CelDouble(negative ? -value : value) }
}

/** Parses a string literal. */
export function stringLiteral(text: string): LiteralResult {
  const body = literalBody(text)
  if (body.raw) return { value: body.text }
  return unescapeString(body.text)
}

/** Parses a bytes literal. */
export function bytesLiteral(text: string): LiteralResult {
  const body = literalBody(text.slice(1))
  if (body.raw) return { value: Buffer.from(body.text, 'utf8') }
  return unescapeBytes(body.text)
}

function literalBody(token: string): { text: string; raw: boolean } {
  let text = token.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const raw = text[0] === 'r' || text[0] === 'R'
  if (raw) text = text.slice(1)
  const quote = text.startsWith('"""') || text.startsWith("'''") ? (text.length >= 6 ? 3 : 1) : 1
  return { text: text.slice(quote, -quote), raw: raw || !text.includes('\\') }
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}

const escapePattern =
  /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/g

function unescapeString(text: string): LiteralResult {
  let error: string | undefined
  const value = text.replace(escapePattern, (_, simple, hex, short, long, octal) => {
    if (simple !== undefined) return simpleEscapes[simple]!
    const code = octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? short ?? long, 16)
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      error = 'invalid unicode code point'
      return ''
    }
    return String.fromCodePoint(code)
  })
  return error === undefined ? { value } : { error }
}

function unescapeBytes(text: string): LiteralResult {
  const parts: Uint8Array[] = []
  let last = 0
  for (const match of text.matchAll(escapePattern)) {
    const [whole, simple, hex, short, long, octal] = match
    if (short !== undefined || long !== undefined) return { error: 'unable to unescape string' }
    parts.push(Buffer.from(text.slice(last, match.index), 'utf8'))
    if (simple !== undefined) parts.push(Buffer.from(simpleEscapes[simple]!, 'utf8'))
    else parts.push(Uint8Array.of(octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hex!, 16)))
    last = match.index + whole.length
  }
  parts.push(Buffer.from(text.slice(last), 'utf8'))
  return { value: Buffer.concat(parts) }
}
