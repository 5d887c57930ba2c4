import { type Json, NESTING_MAX, setOwn } from '@crosstie/kube'

/** The body is not JSON. The message is that of Go. */
export class JsonSyntaxError extends Error {
  override readonly name: string = 'JsonSyntaxError'
}

const DUPLICATES_MAX = 100
const INT64_MAX = 2n ** 63n - 1n
/** `-9223372036854775808`. JSON has no leading zeros. */
const INT64_LETTERS_MAX = 20
const INT64_MIN = -(2n ** 63n)

interface Frame {
  readonly container: Json[] | Record<string, Json>
  readonly isArray: boolean
  /** The path of this container, as strict decoding writes it. */
  readonly path: string
  key: string
}

/**
 * Parses JSON one character at a time. This is slower than JSON.parse, but exact about integers, duplicate fields
 * and the position of errors. It has its own stack, so that nesting cannot exhaust that of the engine.
 */
export function parseExactly(text: string): { value: Json; duplicates: readonly string[] } {
  return new ExactParser(text).parse()
}

class ExactParser {
  readonly #text: string
  #at = 0
  readonly #stack: Frame[] = []
  readonly #duplicates = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  parse(): { value: Json; duplicates: readonly string[] } {
    for (;;) {
      let value = this.#beginValue()
      if (value === undefined) continue
      // A complete value may complete the containers around it, too.
      for (;;) {
        const frame = this.#stack.at(-1)
        if (!frame) return this.#end(value)
        this.#add(frame, value)
        if (!this.#atEndOfContainer(frame)) break
        this.#stack.pop()
        value = frame.container
      }
    }
  }

  #end(value: Json): { value: Json; duplicates: readonly string[] } {
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#refuse('after top-level value')
    return { value, duplicates: [...this.#duplicates] }
  }

  /** Returns the value that starts here. Undefined when a container with members was entered. */
  #beginValue(): Json | undefined {
    this.#skipSpace()
    const char = this.#text[this.#at]
    switch (char) {
      case '{':
      case '[':
        return this.#enter(char === '[')
      case '"':
        return this.#string()
      case 't':
        return this.#literal('true', true)
      case 'f':
        return this.#literal('false', false)
      case 'n':
        return this.#literal('null', null)
      default:
        if (char !== undefined && (char === '-' || isDigit(char))) return this.#number()
        return this.#refuse('looking for beginning of value')
    }
  }

  #enter(isArray: boolean): Json | undefined {
    const parent = this.#stack.at(-1)
    const path = parent ? pathOf(parent) : ''
    const frame: Frame = { container: isArray ? [] : {}, isArray, path, key: '' }
    if (this.#stack.length >= NESTING_MAX) throw new JsonSyntaxError('exceeded max depth')
    this.#at++
    this.#skipSpace()
    if (this.#text[this.#at] === (isArray ? ']' : '}')) {
      this.#at++
      return frame.container
    }
    this.#stack.push(frame)
    if (!isArray) this.#key(frame)
    return undefined
  }

  #key(frame: Frame): void {
    this.#skipSpace()
    if (this.#text[this.#at] !== '"') this.#refuse('looking for beginning of object key string')
    frame.key = this.#string()
    if (Object.hasOwn(frame.container, frame.key) && this.#duplicates.size < DUPLICATES_MAX) {
      this.#duplicates.add(frame.path === '' ? frame.key : `${frame.path}.${frame.key}`)
    }
    this.#skipSpace()
    if (this.#text[this.#at] !== ':') this.#refuse('after object key')
    this.#at++
  }

  #add(frame: Frame, value: Json): void {
    if (frame.isArray) (frame.container as Json[]).push(value)
    else setOwn(frame.container as Record<string, Json>, frame.key, value)
  }

  #atEndOfContainer(frame: Frame): boolean {
    this.#skipSpace()
    const char = this.#text[this.#at]
    if (char === ',') {
      this.#at++
      if (!frame.isArray) this.#key(frame)
      return false
    }
    if (char !== (frame.isArray ? ']' : '}')) {
      this.#refuse(frame.isArray ? 'after array element' : 'after object key:value pair')
    }
    this.#at++
    return true
  }

  #literal<T extends Json>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      this.#at++
      if (this.#text[this.#at] !== word[i]) this.#refuse(`in literal ${word} (expecting ${quoteChar(word[i]!)})`)
    }
    this.#at++
    return value
  }

  #number(): Json {
    const start = this.#at
    if (this.#text[this.#at] === '-') this.#at++
    if (this.#text[this.#at] === '0') this.#at++
    else this.#digits('in numeric literal')
    let integral = true
    if (this.#text[this.#at] === '.') {
      integral = false
      this.#at++
      this.#digits('after decimal point in numeric literal')
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      integral = false
      this.#at++
      if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at++
      this.#digits('in exponent of numeric literal')
    }
    return numberOf(this.#text.slice(start, this.#at), integral)
  }

  #digits(where: string): void {
    if (!isDigit(this.#text[this.#at] ?? '')) this.#refuse(where)
    while (isDigit(this.#text[this.#at] ?? '')) this.#at++
  }

  #string(): string {
    const start = this.#at
    this.#at++
    let escaped = false
    for (;;) {
      const char = this.#text[this.#at]
      if (char === '"') break
      if (char === undefined || char < ' ') this.#refuse('in string literal')
      this.#at++
      if (char === '\\') {
        escaped = true
        this.#escape()
      }
    }
    this.#at++
    if (!escaped) return this.#text.slice(start + 1, this.#at - 1)
    // Through UTF-8, where an unpaired surrogate becomes U+FFFD, as in Go.
    return Buffer.from(JSON.parse(this.#text.slice(start, this.#at)) as string).toString()
  }

  #escape(): void {
    const char = this.#text[this.#at]
    if (char === undefined || !'bfnrt\\/"u'.includes(char)) this.#refuse('in string escape code')
    this.#at++
    if (char !== 'u') return
    for (let i = 0; i < 4; i++) {
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) this.#refuse('in \\u hexadecimal character escape')
      this.#at++
    }
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.#at++
    }
  }

  #refuse(where: string): never {
    const point = this.#text.codePointAt(this.#at)
    if (point === undefined) throw new JsonSyntaxError('unexpected end of JSON input')
    throw new JsonSyntaxError(`invalid character ${quoteChar(firstByte(point))} ${where}`)
  }
}

function pathOf(frame: Frame): string {
  if (frame.isArray) return `${frame.path}[${(frame.container as Json[]).length}]`
  return frame.path === '' ? frame.key : `${frame.path}.${frame.key}`
}

function numberOf(literal: string, integral: boolean): Json {
  const value = Number(literal)
  if (integral && literal.length <= INT64_LETTERS_MAX && !Number.isSafeInteger(value)) {
    const exact = BigInt(literal)
    if (exact >= INT64_MIN && exact <= INT64_MAX) return exact
  }
  if (!Number.isFinite(value)) {
    throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`)
  }
  return Object.is(value, -0) ? 0 : value
}

const isDigit = (char: string): boolean => char >= '0' && char <= '9'

/** Go reports bytes: for a character beyond ASCII it names the first byte, read as Latin-1. */
function firstByte(point: number): string {
  return point < 0x80 ? String.fromCodePoint(point) : String.fromCharCode(Buffer.from(String.fromCodePoint(point))[0]!)
}

const namedEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  "'": "\\'",
}

function quoteChar(char: string): string {
  const code = char.charCodeAt(0)
  const named = namedEscapes[char]
  if (named) return `'${named}'`
  if (code < 32 || code === 127) return `'\\x${code.toString(16).padStart(2, '0')}'`
  if ((code >= 0x80 && code < 0xa1) || code === 0xad) return `'\\u${code.toString(16).padStart(4, '0')}'`
  return `'${char}'`
}
