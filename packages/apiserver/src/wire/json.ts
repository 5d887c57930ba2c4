import type { Json } from '@crosstie/kube'
import { parseExactly } from './json-exact.js'
import { checkFieldCount } from './limits.js'

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
  const members = scan(text)
  if (options.limited) checkFieldCount(members)
  if (members === NEEDS_EXACT) return parseExactly(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    // The exact parser finds the same error and has Go's message.
    return parseExactly(text)
  }
  // Every colon outside of a string belongs to one member. When there are fewer members, one is a duplicate.
  if (options.strict && countMembers(value) !== members) return parseExactly(text)
  return { value, duplicates: none }
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

const NEEDS_EXACT = -1
/** Beyond this depth the exact parser counts levels and refuses. */
const DEPTH_UNSUSPICIOUS = 500
/** 2^53 has 16 digits: shorter integers are exact. */
const DIGITS_EXACT = 15

/** Counts members, or reports that JSON.parse would lose information. */
function scan(text: string): number {
  // An unpaired surrogate becomes U+FFFD in Go, but would survive JSON.parse.
  if (text.includes('\\ud') || text.includes('\\uD')) return NEEDS_EXACT
  let members = 0
  let depth = 0
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) {
      if (++digits > DIGITS_EXACT) return NEEDS_EXACT
      continue
    }
    // An exponent may overflow, which Go refuses. Literals are skipped over here.
    if (digits > 0 && (code === 101 || code === 69)) return NEEDS_EXACT
    digits = 0
    if (code === 34) {
      i = endOfString(text, i)
      if (i < 0) return NEEDS_EXACT
    } else if (code === 58) members++
    else if (code === 123 || code === 91) {
      if (++depth > DEPTH_UNSUSPICIOUS) return NEEDS_EXACT
    } else if (code === 125 || code === 93) depth--
    // Go's integers have no negative zero.
    else if (code === 45 && text.charCodeAt(i + 1) === 48) return NEEDS_EXACT
  }
  return members
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
