import { isQualifiedName, isValidLabelValue } from '@crosstie/cel/kubernetes'
import { append } from './arrays.js'
import { badRequest, type FieldError, fieldErrors, fieldErrorText, messageOf } from './errors.js'
import { getOwn } from './json.js'

/** An operator of a label selector. */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!'

/** A requirement for one label. `values` has one value for comparisons and is empty for existence tests. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

/** A label selector. All requirements must hold. */
export interface Selector {
  /** Whether the selector matches everything. */
  readonly empty: boolean
  readonly requirements: readonly LabelRequirement[]
  matches(labels: Readonly<Record<string, string>> | undefined): boolean
  /** Returns the canonical text: requirements sorted by key, values sorted. */
  toString(): string
}

/** metav1.LabelSelector, as in objects. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

/** A requirement of a metav1.LabelSelector. */
export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** A requirement for one field. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** A field selector. A missing field counts as the empty string. */
export interface FieldSelector {
  readonly empty: boolean
  readonly requirements: readonly FieldRequirement[]
  matches(fields: Readonly<Record<string, string>>): boolean
  /** Returns the value that the selector requires for a field, if any. */
  exact(field: string): string | undefined
  toString(): string
}

/** The selector that matches everything. */
export const everything: Selector = labelSelector([])

/** The selector that matches nothing, which is the meaning of a missing LabelSelector. */
export const nothing: Selector = { empty: false, requirements: [], matches: () => false, toString: () => '' }

/** Parses the parameter `labelSelector`. Throws a StatusError with code 400, worded as kube-apiserver words it. */
export function parseLabelSelector(text: string): Selector {
  if (text === '') return everything
  return labelSelector(parseRequirements(scan(text)))
}

/**
 * Compiles a metav1.LabelSelector: a missing one matches nothing, an empty one everything. Throws a StatusError
 * with code 400 if it is not valid.
 */
export function selectorOf(selector: LabelSelector | null | undefined): Selector {
  if (selector === undefined || selector === null) return nothing
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(requirement(key, '=', [value]))
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const op = expressionOperators.get(operator)
    if (!op) throw badRequest(`${JSON.stringify(operator ?? '')} is not a valid label selector operator`)
    requirements.push(requirement(key, op, values ?? []))
  }
  return requirements.length === 0 ? everything : labelSelector(requirements)
}

const expressionOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

function labelSelector(unsorted: readonly LabelRequirement[]): Selector {
  const requirements = [...unsorted].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const tests = requirements.map(labelTest)
  return {
    empty: requirements.length === 0,
    requirements,
    matches(labels = {}) {
      for (const test of tests) if (!test(labels)) return false
      return true
    },
    toString: () => requirements.map(requirementText).join(','),
  }
}

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean

function labelTest({ key, operator, values }: LabelRequirement): LabelTest {
  const read = (labels: Readonly<Record<string, string>>) => getOwn(labels, key) as string | undefined
  switch (operator) {
    case 'exists':
      return (labels) => read(labels) !== undefined
    case '!':
      return (labels) => read(labels) === undefined
    case '!=':
    case 'notin':
      return (labels) => {
        const value = read(labels)
        return value === undefined || !values.includes(value)
      }
    case 'gt':
    case 'lt': {
      const bound = parseInt64(values[0]!)!
      return (labels) => {
        const value = parseInt64(read(labels) ?? '')
        return value !== undefined && (operator === 'gt' ? value > bound : value < bound)
      }
    }
    default:
      return (labels) => {
        const value = read(labels)
        return value !== undefined && values.includes(value)
      }
  }
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  const list = [...values].sort().join(',')
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`
    case 'gt':
      return `${key}>${list}`
    case 'lt':
      return `${key}<${list}`
    default:
      return `${key}${operator}${list}`
  }
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

/** Creates a requirement, or returns all its errors. */
function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: FieldError[] = []
  const keyErrors = isQualifiedName(key)
  if (keyErrors.length > 0) errors.push(fieldErrors.invalid('key', key, keyErrors.join('; ')))
  append(errors, countErrors(operator, values))
  values.forEach((value, index) => {
    const complaints = isValidLabelValue(value)
    if (complaints.length > 0) {
      errors.push(fieldErrors.invalid(`values[${index}][${key}]`, value, complaints.join('; ')))
    }
  })
  if (errors.length > 0) throw badRequest(aggregate(errors))
  return { key, operator, values }
}

function countErrors(operator: LabelOperator, values: readonly string[]): FieldError[] {
  const invalid = (detail: string) => [fieldErrors.invalid('values', values, detail)]
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0 ? [] : invalid("for 'in', 'notin' operators, values set can't be empty")
    case 'exists':
    case '!':
      return values.length === 0 ? [] : invalid('values set must be empty for exists and does not exist')
    case 'gt':
    case 'lt':
      return values.flatMap((value, index) =>
        parseInt64(value) !== undefined
          ? []
          : [fieldErrors.invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")],
      )
    default:
      return values.length === 1 ? [] : invalid('exact-match compatibility requires one single value')
  }
}

function aggregate(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(fieldErrorText))]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}

type TokenKind = 'end' | 'identifier' | ')' | '(' | ',' | '!' | '==' | '=' | '>' | '<' | '!=' | 'in' | 'notin'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const end: Token = { kind: 'end', text: '' }
const whitespace = ' \t\r\n'
const symbols = '=!(),><'

function scan(text: string): Token[] {
  const tokens: Token[] = []
  // A NUL ends the text, as in Kubernetes.
  const stop = text.includes('\0') ? text.indexOf('\0') : text.length
  let at = 0
  while (at < stop) {
    const char = text[at]!
    if (whitespace.includes(char)) {
      at++
      continue
    }
    const start = at++
    if (symbols.includes(char)) {
      if (text[at] === '=' && at < stop && (char === '=' || char === '!')) at++
      const literal = text.slice(start, at)
      tokens.push({ kind: literal as TokenKind, text: literal })
      continue
    }
    while (at < stop && !whitespace.includes(text[at]!) && !symbols.includes(text[at]!)) at++
    const word = text.slice(start, at)
    tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word })
  }
  tokens.push(end)
  return tokens
}

/** Reads tokens. Where a value is expected, `in` and `notin` are ordinary words. */
class Tokens {
  #at = 0
  constructor(private readonly tokens: readonly Token[]) {}

  peek(): Token {
    return asValue(this.tokens[this.#at] ?? end)
  }

  next(): Token {
    return asValue(this.nextOperator())
  }

  nextOperator(): Token {
    return this.tokens[this.#at++] ?? end
  }
}

function asValue(token: Token): Token {
  return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token
}

function parseRequirements(scanned: readonly Token[]): LabelRequirement[] {
  const tokens = new Tokens(scanned)
  const requirements: LabelRequirement[] = []
  for (;;) {
    const first = tokens.peek()
    if (first.kind === 'end') return requirements
    if (first.kind !== 'identifier' && first.kind !== '!') {
      throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`)
    }
    requirements.push(parseRequirement(tokens))
    const separator = tokens.next()
    if (separator.kind === 'end') return requirements
    if (separator.kind !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`)
    const after = tokens.peek()
    if (after.kind !== 'identifier' && after.kind !== '!') {
      throw badRequest(`found '${after.text}', expected: identifier after ','`)
    }
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  try {
    let key = tokens.next()
    const negated = key.kind === '!'
    if (negated) key = tokens.next()
    if (key.kind !== 'identifier') throw badRequest(`found '${key.text}', expected: identifier`)
    const keyErrors = isQualifiedName(key.text)
    if (keyErrors.length > 0) {
      throw badRequest(fieldErrorText(fieldErrors.invalid('<nil>', key.text, keyErrors.join('; '))))
    }
    const following = tokens.peek().kind
    if (negated) return requirement(key.text, '!', [])
    if (following === 'end' || following === ',') return requirement(key.text, 'exists', [])
    const operator = parseOperator(tokens)
    const values = operator === 'in' || operator === 'notin' ? parseValues(tokens) : parseExactValue(tokens)
    return requirement(key.text, operator, [...new Set(values)].sort())
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${messageOf(error)}`)
  }
}

function parseOperator(tokens: Tokens): LabelOperator {
  const { kind, text } = tokens.nextOperator()
  switch (kind) {
    case 'in':
    case 'notin':
    case '=':
    case '==':
    case '!=':
      return kind
    case '>':
      return 'gt'
    case '<':
      return 'lt'
    default:
      throw badRequest(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
  }
}

function parseExactValue(tokens: Tokens): string[] {
  const { kind } = tokens.peek()
  if (kind === 'end' || kind === ',') return ['']
  const value = tokens.next()
  if (value.kind === 'identifier') return [value.text]
  throw badRequest(`found '${value.text}', expected: identifier`)
}

/** Parses `(a,b)`. A missing value is the empty string. */
function parseValues(tokens: Tokens): string[] {
  const open = tokens.next()
  if (open.kind !== '(') throw badRequest(`found '${open.text}' expected: '('`)
  const first = tokens.peek()
  if (first.kind === ')') {
    tokens.next()
    return ['']
  }
  if (first.kind !== 'identifier' && first.kind !== ',') {
    throw badRequest(`found '${first.text}', expected: ',', ')' or identifier`)
  }
  const values = parseValueList(tokens)
  tokens.next()
  return values
}

function parseValueList(tokens: Tokens): string[] {
  const values: string[] = []
  for (;;) {
    const token = tokens.next()
    const following = tokens.peek()
    if (token.kind === 'identifier') {
      values.push(token.text)
      if (following.kind === ')') return values
      if (following.kind !== ',') throw badRequest(`found '${following.text}', expected: ',' or ')'`)
    } else if (token.kind === ',') {
      if (values.length === 0) values.push('')
      if (following.kind === ')') return [...values, '']
      if (following.kind === ',') {
        tokens.next()
        values.push('')
      }
    } else {
      throw badRequest(`found '${token.text}', expected: ',', or identifier`)
    }
  }
}

/** Parses the parameter `fieldSelector`. Throws a StatusError with code 400, worded as kube-apiserver words it. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue
    const split = /!=|==|=/.exec(term)
    if (!split) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    const value = unescapeValue(term.slice(split.index + split[0].length))
    const field = term.slice(0, split.index)
    // A term without field and value restricts nothing.
    if (field === '' && value === '') continue
    requirements.push({ field, operator: split[0] === '!=' ? '!=' : '=', value })
  }
  return fieldSelector(requirements)
}

function fieldSelector(requirements: readonly FieldRequirement[]): FieldSelector {
  return {
    empty: requirements.length === 0,
    requirements,
    matches(fields) {
      return requirements.every(({ field, operator, value }) => {
        return ((getOwn(fields, field) ?? '') === value) === (operator === '=')
      })
    },
    exact: (field) => requirements.find((r) => r.field === field && r.operator === '=')?.value,
    toString: () => requirements.map((r) => `${r.field}${r.operator}${escapeValue(r.value)}`).join(','),
  }
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

function unescapeValue(text: string): string {
  let value = ''
  const chars = [...text]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    if (char === '\\') {
      const escaped = chars[++at] ?? ''
      if (!['\\', ',', '='].includes(escaped)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      value += escaped
    } else if (char === ',' || char === '=') {
      // Kubernetes prints the code of the character.
      throw badRequest(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`)
    } else value += char
  }
  return value
}
