import { getOwn, isObject } from './json.js'

/** Finds values in a document. Returns an empty list if the path matches nothing. */
export type JsonPath = (document: unknown) => readonly unknown[]

type Step = (values: readonly unknown[], root: unknown) => readonly unknown[]

/** A path that cannot be parsed. The message contains the position. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

/**
 * Compiles the JSONPath of printer columns and selectable fields: `.a.b`, `['a.b']`, `[0]`, `[-1]`, `[1:3]`, `[*]`,
 * `..name`, `[a,b]` and `[?(@.type=="Ready")]`. Throws a JsonPathError.
 */
export function compileJsonPath(path: string): JsonPath {
  if (PLAIN_PATH.test(path)) return plainPath(path.split('.').slice(1))
  const steps = new Parser(path).steps()
  return (document) => {
    let values: readonly unknown[] = [document]
    for (const step of steps) {
      values = step(values, document)
      if (values.length === 0) break
    }
    return values
  }
}

/** Matches simple paths such as `.spec.size`, which are the most frequent ones. */
const PLAIN_PATH = /^(\.[A-Za-z_]\w*)+$/

function plainPath(names: readonly string[]): JsonPath {
  return (document) => {
    let value = document
    for (const name of names) {
      value = isObject(value) ? getOwn(value, name) : undefined
      if (value === undefined) return []
    }
    return [value]
  }
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  steps(): Step[] {
    const steps: Step[] = []
    if (this.#text[0] === '$' || this.#text[0] === '@') this.#at = 1
    while (this.#at < this.#text.length) steps.push(this.#step())
    return steps
  }

  #step(): Step {
    if (this.#take('..')) {
      if (this.#text.startsWith('..', this.#at)) this.#fail('invalid multiple recursive descent')
      if (!/[\p{L}\p{N}_]/u.test(this.#peek())) return (values) => values.flatMap(descendants)
      const inner = field(this.#name())
      return (values, root) => inner(values.flatMap(descendants), root)
    }
    if (this.#take('.')) {
      if (this.#peek() === '[') return this.#bracket()
      if (this.#at === this.#text.length) return (values) => values
      return this.#take('*') ? children : field(this.#name())
    }
    if (this.#peek() === '[') return this.#bracket()
    return this.#at === 0 ? field(this.#name()) : this.#fail('unexpected character')
  }

  #name(): string {
    let name = ''
    while (this.#at < this.#text.length && !/[.[\]\s,]/.test(this.#peek())) {
      // A backslash escapes a dot in a name, as in kubectl.
      if (this.#peek() === '\\') this.#at++
      name += this.#text[this.#at++] ?? ''
    }
    return name === '' ? this.#fail('a field name is missing') : name
  }

  #bracket(): Step {
    this.#at++
    const filter = this.#take('?(')
    const body = this.#until(filter ? ')]' : ']')
    if (filter) return filterStep(body, (why) => this.#fail(why))
    const parts = splitOutsideQuotes(body, ',').map((part) => this.#selector(part.trim()))
    return parts.length === 1 ? parts[0]! : (values, root) => parts.flatMap((part) => part(values, root))
  }

  #selector(part: string): Step {
    if (part === '*') return children
    const quoted = /^'([^']*)'$/.exec(part)
    // Quotes do not escape a dot: client-go parses the quoted text as a path, and does not accept double quotes.
    if (quoted) return chain(new Parser(`.${quoted[1]!}`).steps())
    if (/^-?\d+$/.test(part)) return index(Number(part))
    const slice = /^(-?\d*):(-?\d*)(?::(-?\d*))?$/.exec(part)
    if (slice) return sliceStep(slice[1]!, slice[2]!, slice[3])
    return this.#fail(`cannot read "[${part}]"`)
  }

  #until(end: string): string {
    let quote = ''
    for (let i = this.#at; i < this.#text.length; i++) {
      const letter = this.#text[i]!
      if (quote) {
        if (letter === '\\') i++
        else if (letter === quote) quote = ''
      } else if (letter === "'" || letter === '"') quote = letter
      else if (this.#text.startsWith(end, i)) {
        const body = this.#text.slice(this.#at, i)
        this.#at = i + end.length
        return body
      }
    }
    return this.#fail(`unterminated ${end === ']' ? 'array' : 'filter'}`)
  }

  #peek(): string {
    return this.#text[this.#at] ?? ''
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #fail(why: string): never {
    throw new JsonPathError(`${why} at position ${this.#at} of "${this.#text}"`)
  }
}

function chain(steps: readonly Step[]): Step {
  return (values, root) => steps.reduce((found, step) => step(found, root), values)
}

function field(name: string): Step {
  return (values) => {
    const found: unknown[] = []
    for (const value of values) {
      const member = isObject(value) ? getOwn(value, name) : undefined
      if (member !== undefined) found.push(member)
    }
    return found
  }
}

function index(position: number): Step {
  return (values) =>
    values.flatMap((value) => {
      const member = Array.isArray(value) ? value.at(position) : undefined
      return member === undefined ? [] : [member]
    })
}

function sliceStep(from: string, to: string, step: string | undefined): Step {
  const stride = step ? Number(step) : 1
  if (!(stride > 0)) return () => []
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return []
      const place = (text: string, otherwise: number) => (text ? Number(text) : otherwise)
      const counted = (position: number) => (position < 0 ? position + value.length : position)
      const [start, end] = [counted(place(from, 0)), counted(place(to, value.length))]
      // A range that exceeds the array is empty, unlike in JavaScript.
      if (start < 0 || end > value.length || start > end) return []
      return value.slice(start, end).filter((_, i) => i % stride === 0)
    })
}

const children: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []))

function descendants(value: unknown): unknown[] {
  const below = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  return [value, ...below.flatMap(descendants)]
}

const compare: Record<string, (a: unknown, b: unknown) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => comparable(a, b) && (a as number) < (b as number),
  '<=': (a, b) => comparable(a, b) && (a as number) <= (b as number),
  '>': (a, b) => comparable(a, b) && (a as number) > (b as number),
  '>=': (a, b) => comparable(a, b) && (a as number) >= (b as number),
}

function comparable(a: unknown, b: unknown): boolean {
  return typeof a === typeof b && (typeof a === 'number' || typeof a === 'string')
}

function filterStep(body: string, fail: (why: string) => never): Step {
  const parts = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(body.trim())
  const left = operand(parts?.[1]?.trim() ?? body.trim(), fail)
  const right = parts ? operand(parts[3]!.trim(), fail) : undefined
  // A filter with an unknown operator matches nothing.
  const test = parts ? (compare[parts[2]!] ?? (() => false)) : undefined
  return (values, root) =>
    values.flatMap((value) => {
      return (Array.isArray(value) ? value : []).filter((item) => {
        const found = left(item, root)
        if (!test || !right) return found.length > 0
        return found.length > 0 && test(found[0], right(item, root)[0])
      })
    })
}

function operand(text: string, fail: (why: string) => never): (item: unknown, root: unknown) => readonly unknown[] {
  if (text.startsWith('@')) {
    const path = compileJsonPath(text)
    return (item) => path(item)
  }
  if (text.startsWith('$')) {
    const path = compileJsonPath(text)
    return (_, root) => path(root)
  }
  const quoted = /^'(.*)'$|^"(.*)"$/s.exec(text)
  if (quoted) {
    const value = (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1')
    return () => [value]
  }
  if (text === 'true' || text === 'false') return () => [text === 'true']
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)]
  return fail(`cannot read "${text}" in a filter`)
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts = ['']
  let quote = ''
  for (const letter of text) {
    if (quote ? letter === quote : letter === "'" || letter === '"') quote = quote ? '' : letter
    if (letter === separator && !quote) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}
