import { isObject } from './json.js'

/**
 * Prints values into messages as kube-apiserver does. Clients and their tests compare these texts, so the rules of
 * Go apply where those of JavaScript differ.
 */

const shortEscapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** Returns a quoted string, as Go's `%q` writes it. */
export function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are escaped.
  if (!/["\\\x00-\x1f\x7f-\uffff]/.test(text)) return `"${text}"`
  let out = '"'
  for (const rune of text) out += quoteRune(rune)
  return `${out}"`
}

function quoteRune(rune: string): string {
  const short = shortEscapes[rune]
  if (short) return short
  const code = rune.codePointAt(0)!
  if (code >= 0x20 && code < 0x7f) return rune
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd' // A lone surrogate cannot be encoded in UTF-8.
  if (printable(rune)) return rune
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}

/** Reports whether Go prints the character without escaping it. */
export function printable(rune: string): boolean {
  return rune === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(rune)
}

/** A value with a precomputed text, such as a list of typed objects whose keys have a fixed order. */
export class Printed {
  constructor(readonly text: string) {}
}

/** Prints a number of a JSON text as Go's `%v`: an int64 if it fits, otherwise a float. */
export function printNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? String(value) : printFloat(value)
}

/** Prints a float as Go's `%v`: with an exponent of at least two digits from 1e6 on and below 1e-4. */
export function printFloat(value: number): string {
  const [digits, power] = value.toExponential().split('e') as [string, string]
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** Prints JSON as Go does: keys are sorted and HTML characters are escaped. */
export function printJson(value: unknown): string {
  if (typeof value === 'string') return printJsonString(value)
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`
  if (!isObject(value)) return 'null'
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) members.push(`${printJsonString(key)}:${printJson(value[key])}`)
  }
  return `{${members.join(',')}}`
}

function printJsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prints an invalid value inside a field error: strings are quoted, other values are JSON. */
export function printValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (value instanceof Printed) return value.text
  return typeof value === 'number' || typeof value === 'bigint' ? printNumber(value) : printJson(value)
}
