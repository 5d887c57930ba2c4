import { declare, type FunctionDeclaration, member, overload } from '../functions.js'
import { listOf, types } from '../types.js'
import { ArrayList, type CelList, CostError, codePoints, fail, textSizeMax, type Value } from '../values.js'
import { formatString } from './format.js'

const { dyn, int, string } = types

const hasSurrogates = (text: string) => /[\ud800-\udfff]/.test(text)

/** Returns a slice by code points. ASCII text is not split. */
function sliceText(text: string, start: number, end: number): string {
  return hasSurrogates(text) ? [...text].slice(start, end).join('') : text.slice(start, end)
}

function charAt(text: string, index: number | bigint): string {
  const size = codePoints(text)
  if (index < 0 || index > size) fail(`index out of range: ${index}`)
  return sliceText(text, Number(index), Number(index) + 1)
}

/** Converts an index in UTF-16 units to an index in code points. */
function toCodePointIndex(text: string, index: number): number {
  return index < 0 ? -1 : codePoints(text.slice(0, index))
}

function indexOf(text: string, part: string, offset: number | bigint = 0): Value {
  if (part === '') return offset
  if (offset < 0) fail(`index out of range: ${offset}`)
  const start = Number(offset)
  if (start >= codePoints(text)) return -1
  const unit = hasSurrogates(text) ? sliceText(text, 0, start).length : start
  return toCodePointIndex(text, text.indexOf(part, unit))
}

function lastIndexOf(text: string, part: string, offset?: number | bigint): Value {
  const size = codePoints(text)
  if (part === '') return offset ?? size
  if (offset === undefined && Buffer.byteLength(text) < Buffer.byteLength(part)) return -1
  const start = offset ?? size - 1
  if (start < 0) fail(`index out of range: ${start}`)
  if (start >= size) return -1
  const unit = hasSurrogates(text) ? sliceText(text, 0, Number(start)).length : Number(start)
  return toCodePointIndex(text, text.lastIndexOf(part, unit))
}

/** Limits the size of the result. Costs depend on the size of the text, but a replacement can be much longer. */
function limitReplacement(text: string, from: string, to: string): void {
  const places = from === '' ? text.length + 1 : text.length / from.length
  if (places * to.length <= textSizeMax) return
  const found = from === '' ? places : text.split(from).length - 1
  if (found * to.length > textSizeMax) throw new CostError()
}

function replace(text: string, from: string, to: string, count: number | bigint = -1): string {
  limitReplacement(text, from, to)
  if (count < 0) return from === '' ? replaceEmpty(text, to, Infinity) : text.replaceAll(from, () => to)
  if (from === '') return replaceEmpty(text, to, Number(count))
  const parts = text.split(from)
  const replaced = Math.min(Number(count), parts.length - 1)
  return (
    parts
      .slice(0, replaced)
      .map((part) => part + to)
      .join('') + parts.slice(replaced).join(from)
  )
}

function replaceEmpty(text: string, to: string, count: number): string {
  let left = count
  const insert = () => (left-- > 0 ? to : '')
  return [...text].reduce((result, c) => result + insert() + c, '') + insert()
}

const textList = (items: readonly string[]) => new ArrayList(items)

function split(text: string, separator: string, limit: number | bigint = -1): Value {
  if (Number(limit) === 0) return textList([])
  const parts = separator === '' ? [...text] : text.split(separator)
  if (limit < 0 || parts.length <= limit) return textList(parts)
  const kept = Number(limit) - 1
  return textList([...parts.slice(0, kept), parts.slice(kept).join(separator)])
}

function substring(text: string, start: number | bigint, end?: number | bigint): string {
  const size = codePoints(text)
  if (end !== undefined && start > end) fail(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0 || start > size) fail(`index out of range: ${start}`)
  if (end !== undefined && (end < 0 || end > size)) fail(`index out of range: ${end}`)
  return sliceText(text, Number(start), end === undefined ? size : Number(end))
}

const spaces = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const outerSpaces = new RegExp(`^${spaces}|${spaces}$`, 'g')

function join(list: CelList, separator = ''): string {
  if (list.size * separator.length > textSizeMax) throw new CostError()
  return list
    .values()
    .map((item) => (typeof item === 'string' ? item : fail(`join: invalid input: ${String(item)}`)))
    .join(separator)
}

const quoteEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are escaped.
  return `"${text.replace(/[\x07\b\f\n\r\t\v\\"]/g, (c) => quoteEscapes[c]!)}"`
}

/** The strings extension in the version that Kubernetes uses. */
export const stringsLibrary: readonly FunctionDeclaration[] = [
  declare('charAt', [member('string_char_at_int', [string, int], string, charAt)]),
  declare('indexOf', [
    member('string_index_of_string', [string, string], int, (a: string, b: string) => indexOf(a, b)),
    member('string_index_of_string_int', [string, string, int], int, indexOf),
  ]),
  declare('lastIndexOf', [
    member('string_last_index_of_string', [string, string], int, (a: string, b: string) => lastIndexOf(a, b)),
    member('string_last_index_of_string_int', [string, string, int], int, lastIndexOf),
  ]),
  declare('lowerAscii', [
    member('string_lower_ascii', [string], string, (s: string) => s.replace(/[A-Z]+/g, (c) => c.toLowerCase())),
  ]),
  declare('replace', [
    member('string_replace_string_string', [string, string, string], string, replace),
    member('string_replace_string_string_int', [string, string, string, int], string, replace),
  ]),
  declare('split', [
    member('string_split_string', [string, string], listOf(string), split),
    member('string_split_string_int', [string, string, int], listOf(string), split),
  ]),
  declare('substring', [
    member('string_substring_int', [string, int], string, substring),
    member('string_substring_int_int', [string, int, int], string, substring),
  ]),
  declare('trim', [member('string_trim', [string], string, (s: string) => s.replace(outerSpaces, ''))]),
  declare('upperAscii', [
    member('string_upper_ascii', [string], string, (s: string) => s.replace(/[a-z]+/g, (c) => c.toUpperCase())),
  ]),
  declare('format', [member('string_format', [string, listOf(dyn)], string, formatString)]),
  declare('strings.quote', [overload('strings_quote', [string], string, quote)]),
  declare('join', [
    member('list_join', [listOf(string)], string, (list: CelList) => join(list)),
    member('list_join_string', [listOf(string), string], string, join),
  ]),
]
