import type { Json } from '@crosstie/kube'
import { JsonSyntaxError, parseExactly } from './json-exact.js'
import { type BodySize, checkBodySize } from './limits.js'

/** The value of a body and its duplicate fields (`metadata.name`), as strict decoding reports them. */
export interface Decoded {
  readonly value: Json
  readonly duplicates: readonly string[]
}

/** Options of decodeJson. */
export interface DecodeOptions {
  /** Reports duplicate fields. Otherwise the last one silently wins. */
  readonly strict?: boolean
  /** Refuses more fields than a request may have, before they are parsed. */
  readonly limited?: boolean
  /** The text may be in another format. A fault is reported without its place, which saves reading the text again. */
  readonly attempt?: boolean
}

const none: readonly string[] = []

/**
 * Parses JSON as kube-apiserver does: integers keep their int64 value, duplicate fields are reported, and nesting
 * is limited. Throws a JsonSyntaxError with Go's message.
 *
 * JSON.parse does the work. A scan of the text decides whether its result is exact.
 */
export function decodeJson(input: Uint8Array | string, options: DecodeOptions = {}): Decoded {
  const text = typeof input === 'string' ? input : utf8(input)
  const size = scan(text)
  if (options.limited) checkBodySize(size)
  if (size.exact) return parseExactly(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (cause) {
    if (options.attempt) throw new JsonSyntaxError('not JSON', { cause })
    // The exact parser finds the same fault and words it as Go would.
    return parseExactly(text)
  }
  // Every colon outside of a string belongs to one member; if fewer members arrived, one was said twice.
  if (options.strict && countMembers(value) !== size.fields) return parseExactly(text)
  return { value, duplicates: none }
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** Deeper than this, the exact parser counts and words the refusal. */
const DEPTH_UNSUSPICIOUS = 500
/** 2^53 has 16 digits: shorter integers are exact. */
const DIGITS_EXACT = 15

interface Scan extends BodySize {
  /** Whether JSON.parse would lose something. */
  readonly exact: boolean
}

/** Counts fields and values in one pass. In a text that is not JSON, the counts are estimates. */
function scan(text: string): Scan {
  // A lone surrogate becomes U+FFFD in Go, but would survive JSON.parse.
  let exact = text.includes('\\ud') || text.includes('\\uD')
  let fields = 0
  let keys = 0
  let values = 1
  let elements = 0
  /** Fields and commas of the objects and lists that are open, and of the innermost one. */
  const open: number[] = []
  let own = 0
  let commas = 0
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) {
      if (++digits > DIGITS_EXACT) exact = true
      continue
    }
    // An exponent may overflow, which Go refuses. Literals are skipped over here.
    if (digits > 0 && (code === 101 || code === 69)) exact = true
    digits = 0
    if (code === 34) {
      i = endOfString(text, i)
      if (i < 0) return { keys, elements, fields, values, exact: true }
    } else if (code === 58) {
      fields++
      if (++own > keys) keys = own
    } else if (code === 44) {
      values++
      commas++
    } else if (code === 123 || code === 91) {
      if (open.push(own, commas) > 2 * DEPTH_UNSUSPICIOUS) exact = true
      own = 0
      commas = 0
    } else if (code === 125 || code === 93) {
      if (code === 93 && commas >= elements) elements = commas + 1
      commas = open.pop() ?? 0
      own = open.pop() ?? 0
    }
    // Go has no negative zero among its integers.
    else if (code === 45 && text.charCodeAt(i + 1) === 48) exact = true
  }
  return { keys, elements, fields, values, exact }
}

function endOfString(text: string, start: number): number {
  // indexOf finds the next quote much faster than a loop. Only escapes need a check.
  const quote = text.indexOf('"', start + 1)
  if (quote < 0 || text.charCodeAt(quote - 1) !== 92) return quote
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) return i
    if (code === 92) i++
  }
  return -1
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item)
    return count
  }
  const object = value as Readonly<Record<string, Json>>
  for (const key in object) count += 1 + countMembers(object[key]!)
  return count
}
