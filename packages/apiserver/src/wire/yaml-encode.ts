import type { Json, JsonObject } from '@crosstie/kube'
import { readsAsText } from './yaml-scalar.js'

const WIDTH = 80
const INDENT = 2
const SIMPLE_KEY_MAX = 128

/**
 * Encodes YAML as kube-apiserver does (go-yaml): keys are sorted, lists are not indented, and long lines are
 * folded.
 */
export function encodeYaml(value: Json): string {
  const writer = new Writer()
  writer.document(value)
  return writer.text
}

class Writer {
  text = ''
  #column = 0

  document(value: Json): void {
    if (isMapping(value) && Object.keys(value).length > 0) this.#mapping(value, 0, true)
    else if (Array.isArray(value) && value.length > 0) this.#sequence(value, 0, true)
    else this.#leaf(value, 0)
    this.#put('\n')
  }

  #put(text: string): void {
    this.text += text
    const newline = text.lastIndexOf('\n')
    this.#column = newline < 0 ? this.#column + [...text].length : text.length - newline - 1
  }

  #newLine(indent: number): void {
    this.#put(`\n${' '.repeat(indent)}`)
  }

  #mapping(mapping: JsonObject, indent: number, inline: boolean): void {
    let first = inline
    for (const key of Object.keys(mapping).sort(compareKeys)) {
      const value = mapping[key]
      if (value === undefined) continue
      if (!first) this.#newLine(indent)
      first = false
      if (isSimpleKey(key)) {
        this.#scalar(key, indent, true)
        this.#put(':')
        this.#valueOf(value, indent)
      } else {
        this.#put('? ')
        this.#scalar(key, indent + INDENT, false)
        this.#newLine(indent)
        this.#put(':')
        this.#itemOf(value, indent)
      }
    }
  }

  #valueOf(value: Json, indent: number): void {
    if (isMapping(value) && Object.keys(value).length > 0) {
      this.#newLine(indent + INDENT)
      this.#mapping(value, indent + INDENT, true)
    } else if (Array.isArray(value) && value.length > 0) {
      this.#newLine(indent)
      this.#sequence(value, indent, true)
    } else {
      this.#put(' ')
      this.#leaf(value, indent + INDENT)
    }
  }

  #sequence(items: readonly Json[], indent: number, inline: boolean): void {
    let first = inline
    for (const item of items) {
      if (!first) this.#newLine(indent)
      first = false
      this.#put('-')
      this.#itemOf(item, indent)
    }
  }

  #itemOf(item: Json, indent: number): void {
    this.#put(' ')
    if (isMapping(item) && Object.keys(item).length > 0) this.#mapping(item, indent + INDENT, true)
    else if (Array.isArray(item) && item.length > 0) this.#sequence(item, indent + INDENT, true)
    else this.#leaf(item, indent + INDENT)
  }

  #leaf(value: Json, indent: number): void {
    if (typeof value === 'string') this.#scalar(value, indent, false)
    else if (typeof value === 'number') this.#put(formatNumber(value))
    else if (typeof value === 'object' && value !== null) this.#put(Array.isArray(value) ? '[]' : '{}')
    else this.#put(String(value))
  }

  #scalar(text: string, indent: number, isKey: boolean): void {
    const shape = analyze(text)
    if (text.includes('\n') && shape.block && !isKey) this.#literal(text, indent)
    else if (text.includes('\n') || !readsAsText(text)) this.#doubleQuoted(text, indent, isKey)
    else if (shape.plain) this.#folded(text, indent, isKey, '')
    else if (shape.singleQuoted) this.#folded(text, indent, isKey, "'")
    else this.#doubleQuoted(text, indent, isKey)
  }

  /** Plain or single-quoted style: a single space beyond the width becomes a line break. */
  #folded(text: string, indent: number, isKey: boolean, quote: string): void {
    this.#put(quote)
    const chars = [...text]
    let run = ''
    const flush = () => {
      if (run !== '') this.#put(run)
      run = ''
    }
    chars.forEach((char, i) => {
      const inside = quote === '' || (i > 0 && i < chars.length - 1)
      if (char === ' ' && !isKey && inside && chars[i - 1] !== ' ' && chars[i + 1] !== ' ') {
        flush()
        if (this.#column > WIDTH) {
          this.#newLine(indent)
          return
        }
      }
      run += quote !== '' && char === "'" ? "''" : char
    })
    flush()
    this.#put(quote)
  }

  #doubleQuoted(text: string, indent: number, isKey: boolean): void {
    this.#put('"')
    const chars = [...text]
    let afterSpace = false
    chars.forEach((char, i) => {
      const lone = char === ' ' && !isKey && !afterSpace && i > 0 && i < chars.length - 1
      afterSpace = char === ' '
      if (lone && this.#column > WIDTH) {
        this.#newLine(indent)
        if (chars[i + 1] === ' ') this.#put('\\')
      } else this.#put(escaped(char))
    })
    this.#put('"')
  }

  #literal(text: string, indent: number): void {
    this.#put('|')
    if (text[0] === ' ' || isBreak(text[0]!)) this.#put(String(INDENT))
    if (!isBreak(text.at(-1)!)) this.#put('-')
    else if (text.length === 1 || isBreak(text.at(-2)!)) this.#put('+')
    const lines = text.split('\n')
    const ended = lines.at(-1) === ''
    for (const line of ended ? lines.slice(0, -1) : lines) {
      this.#put('\n')
      if (line !== '') this.#put(' '.repeat(indent) + line)
    }
  }
}

const isMapping = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSimpleKey = (key: string): boolean => Buffer.byteLength(key) <= SIMPLE_KEY_MAX && ![...key].some(isBreak)

const isBreak = (char: string): boolean => '\n\r\u0085\u2028\u2029'.includes(char)

function isPrintable(char: string): boolean {
  const point = char.codePointAt(0)!
  if (point === 0x0a || (point >= 0x20 && point <= 0x7e)) return true
  return point >= 0xa0 && point <= 0xfffd && !(point >= 0xd800 && point < 0xe000) && point !== 0xfeff
}

interface Shape {
  readonly plain: boolean
  readonly singleQuoted: boolean
  readonly block: boolean
}

/** Returns the styles in which a text can be written unchanged. */
function analyze(text: string): Shape {
  if (text === '') return { plain: true, singleQuoted: true, block: false }
  const chars = [...text]
  // go-yaml writes rare line breaks unquoted and loses them on reading. Quotes preserve them.
  const special = chars.some((char) => !isPrintable(char) || (char !== '\n' && isBreak(char)))
  const breaks = chars.some(isBreak)
  const spaceBreak = / [\n\r\u0085\u2028\u2029]/.test(text)
  const breakSpace = /[\n\r\u0085\u2028\u2029] /.test(text)
  const edges = [text[0]!, text.at(-1)!].some((char) => char === ' ' || isBreak(char))
  const indicators =
    /^(---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-]([ \t]|$)/.test(text) ||
    /:([ \t]|$)/.test(text.slice(1)) ||
    /[ \t\n\r\u0085\u2028\u2029]#/.test(text)
  return {
    plain: !edges && !breakSpace && !spaceBreak && !special && !breaks && !indicators,
    singleQuoted: !breakSpace && !spaceBreak && !special,
    block: text.at(-1) !== ' ' && !spaceBreak && !special,
  }
}

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
}

function escaped(char: string): string {
  const short = escapes[char]
  if (short !== undefined) return short
  if (isPrintable(char)) return char
  const point = char.codePointAt(0)!
  const hex = point.toString(16).toUpperCase()
  if (point <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return point <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/** Integers in full, other numbers in Go's %g. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) return String(BigInt(value))
  const [digits, exponent] = value.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < 21 && !(power >= 6 && power >= digits.replace(/[-.]/g, '').length)) {
    if (power < 6) return String(value)
  }
  const sign = power < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`
}

/** The key order of go-yaml: numbers inside of keys compare by value, and letters come last. */
function compareKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((char, i) => i >= right.length || char !== right[i])
  if (at < 0 || at >= right.length) return left.length - right.length
  const [x, y] = [left[at]!, right[at]!]
  const [xLetter, yLetter] = [isLetter(x), isLetter(y)]
  if (xLetter && yLetter) return x.codePointAt(0)! - y.codePointAt(0)!
  if (xLetter || yLetter) return yLetter ? -1 : 1
  const seed = x === '0' || y === '0' ? leadingDigit(left, at) : 0n
  const [xNumber, xEnd] = numberAt(left, at, seed)
  const [yNumber, yEnd] = numberAt(right, at, seed)
  if (xNumber !== yNumber) return xNumber < yNumber ? -1 : 1
  return xEnd - yEnd || x.codePointAt(0)! - y.codePointAt(0)!
}

const isLetter = (char: string): boolean => /\p{L}/u.test(char)
const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char)

function leadingDigit(chars: readonly string[], at: number): bigint {
  for (let i = at - 1; i >= 0 && isDigit(chars[i]); i--) if (chars[i] !== '0') return 1n
  return 0n
}

function numberAt(chars: readonly string[], at: number, seed: bigint): [bigint, number] {
  let number = seed
  let end = at
  for (; isDigit(chars[end]); end++) number = BigInt.asIntN(64, number * 10n + BigInt(chars[end]!.codePointAt(0)! - 48))
  return [number, end]
}
