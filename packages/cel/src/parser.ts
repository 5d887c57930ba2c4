import { type Call, type CreateStruct, type Expr, type MapEntry, qualifiedName, type StructField } from './ast.js'
import { type Token, tokenize } from './lexer.js'
import { bytesLiteral, doubleLiteral, intLiteral, type LiteralResult, stringLiteral, uintLiteral } from './literals.js'
import { expandMacro, MacroBuilder, MacroError } from './macros.js'
import { type Issue, nowhere } from './source.js'
import {
  argumentStart,
  fieldName,
  indexStart,
  listStart,
  mapStart,
  operandStart,
  ParseFailure,
  structStart,
  TokenStream,
} from './token-stream.js'

const recursionMax = 250
const codePointsMax = 100_000
const nodesMax = 100_000

/** Ends the parse. The reason is already among the issues. */
class Stop {}

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

/** Options of {@link parse}. */
export interface ParserOptions {
  /** Whether `sortBy` is a macro, as with the lists extension. */
  readonly lists?: boolean
}

/** The parsed expression, or the issues of the source. */
export interface ParseResult {
  readonly expr: Expr | undefined
  readonly issues: readonly Issue[]
}

/** Parses an expression and expands its macros. Returns issues instead of throwing. */
export function parse(text: string, options: ParserOptions = {}): ParseResult {
  const issues: Issue[] = []
  const size = text.length > codePointsMax ? [...text].length : text.length
  if (size > codePointsMax) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${codePointsMax}`
    return { expr: undefined, issues: [{ offset: nowhere, message }] }
  }
  const tokens = new TokenStream(text, tokenize(text, issues), issues)
  const expr = new Parser(tokens, issues, options.lists ?? false).parse()
  return { expr: issues.length > 0 ? undefined : expr, issues }
}

interface Operator {
  readonly id: number
  readonly token: Token
}

/** A recursive-descent parser with one method per level of the grammar, from the loosest binding to the tightest. */
class Parser {
  private ids = 0
  private depth = 0
  private readonly heights = new WeakMap<Expr, number>()

  constructor(
    private readonly tokens: TokenStream,
    private readonly issues: Issue[],
    private readonly lists: boolean,
  ) {}

  parse(): Expr | undefined {
    try {
      const expr = this.expr()
      this.tokens.end()
      return expr
    } catch (error) {
      if (error instanceof Stop) return undefined
      throw error
    }
  }

  /** Limits the number of nodes. `optMap` repeats its target, so that the size of a chain doubles with every link. */
  private readonly nextId = (): number => {
    if (++this.ids <= nodesMax) return this.ids
    this.issues.push({ offset: nowhere, message: `expression node count exceeds limit: ${nodesMax}` })
    throw new Stop()
  }

  /** Parses, and continues after an error that no inner rule could handle. */
  private recovering(parse: () => Expr, postfix = false): Expr {
    const { offset } = this.tokens.peek()
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      this.tokens.recover(postfix)
      return { kind: 'literal', id: this.nextId(), offset, value: null }
    }
  }

  /** Records the nesting depth of operators and selections, which is limited like that of brackets. */
  private nested<T extends Expr>(expr: T, children: readonly Expr[], levels: 0 | 1): T {
    let height: number = levels
    for (const child of children) height = Math.max(height, (this.heights.get(child) ?? 0) + levels)
    if (height > recursionMax) {
      this.issues.push({ offset: nowhere, message: 'max recursion depth exceeded' })
      throw new Stop()
    }
    if (height > 0) this.heights.set(expr, height)
    return expr
  }

  private expr(): Expr {
    if (++this.depth > recursionMax) {
      this.issues.push({ offset: nowhere, message: `expression recursion limit exceeded: ${recursionMax}` })
      throw new Stop()
    }
    const expr = this.recovering(() => this.conditional())
    this.depth--
    return expr
  }

  private conditional(): Expr {
    const condition = this.logical('||')
    const question = this.tokens.accept('?')
    if (!question) return condition
    const id = this.nextId()
    const whenTrue = this.tokens.within([':'], false, () => this.logical('||'))
    this.tokens.colon()
    return this.call(id, question, '_?_:_', undefined, [condition, whenTrue, this.expr()])
  }

  private logical(operator: '||' | '&&'): Expr {
    const operand = () => (operator === '||' ? this.logical('&&') : this.relation())
    const terms = [operand()]
    const operators: Operator[] = []
    for (let token = this.tokens.accept(operator); token; token = this.tokens.accept(operator)) {
      terms.push(operand())
      operators.push({ id: this.nextId(), token })
    }
    return terms.length === 1 ? terms[0]! : this.balance(`_${operator}_`, terms, operators, 0, operators.length - 1)
  }

  /** Builds a balanced tree of a long chain, so that its depth stays small. */
  private balance(
    name: string,
    terms: readonly Expr[],
    operators: readonly Operator[],
    low: number,
    high: number,
  ): Expr {
    const middle = Math.floor((low + high + 1) / 2)
    const left = middle === low ? terms[middle]! : this.balance(name, terms, operators, low, middle - 1)
    const right = middle === high ? terms[middle + 1]! : this.balance(name, terms, operators, middle + 1, high)
    const { id, token } = operators[middle]!
    const args = [left, right]
    return this.nested({ kind: 'call', id, offset: token.offset, name, target: undefined, args }, args, 0)
  }

  private relation(): Expr {
    let left = this.sum()
    while (this.tokens.isRelation()) {
      const operator = this.tokens.next()
      const id = this.nextId()
      const name = operator.text === 'in' ? '@in' : `_${operator.text}_`
      left = this.call(id, operator, name, undefined, [left, this.sum()])
    }
    return left
  }

  private sum(): Expr {
    return this.binary(['+', '-'], () => this.product())
  }

  private product(): Expr {
    return this.binary(['*', '/', '%'], () => this.unary())
  }

  private binary(operators: readonly string[], operand: () => Expr): Expr {
    let left = operand()
    while (operators.some((operator) => this.tokens.is(operator))) {
      const operator = this.tokens.next()
      const id = this.nextId()
      left = this.call(id, operator, `_${operator.text}_`, undefined, [left, operand()])
    }
    return left
  }

  private unary(): Expr {
    return this.recovering(() => {
      const { tokens } = this
      tokens.require(operandStart, (ahead) => tokens.isOperandStart(ahead))
      const first = tokens.peek()
      if (tokens.is('!')) return this.not(first)
      const kind = tokens.peek(1).kind
      if (!tokens.is('-') || kind === 'int' || kind === 'float') return this.member()
      if (!this.isNegatable()) {
        tokens.noAlternative(1)
        throw new ParseFailure()
      }
      return this.negation(first)
    })
  }

  private not(first: Token): Expr {
    let count = 0
    while (this.tokens.accept('!')) count++
    if (!this.tokens.isOperandStart()) {
      const token = this.tokens.peek()
      this.tokens.report(token, `extraneous input '${token.text}' expecting ${operandStart}`)
      throw new ParseFailure()
    }
    if (count % 2 === 0) return this.member()
    const id = this.nextId()
    return this.call(id, first, '!_', undefined, [this.member()])
  }

  /** Reports whether the operand after a minus can be negated. */
  private isNegatable(): boolean {
    return this.tokens.isOperandStart(1) && !this.tokens.is('!', 1)
  }

  private negation(first: Token): Expr {
    let count = 0
    while (this.tokens.is('-') && this.isNegatable()) {
      this.tokens.next()
      count++
    }
    if (count % 2 === 0) return this.member()
    const id = this.nextId()
    return this.call(id, first, '-_', undefined, [this.member()])
  }

  private member(): Expr {
    let expr = this.recovering(() => this.primary(), true)
    let plainName = expr.kind === 'ident'
    for (;;) {
      const token = this.tokens.peek()
      if (this.tokens.is('.')) {
        const selected = this.selection(expr)
        plainName &&= selected.kind === 'select'
        expr = selected
      } else if (this.tokens.accept('[')) {
        plainName = false
        expr = this.index(expr, token)
      } else if (plainName && this.tokens.is('{')) {
        plainName = false
        expr = this.struct(qualifiedName(expr)!)
      } else return expr
    }
  }

  private isFieldName(ahead: number): boolean {
    const { kind, text } = this.tokens.peek(ahead)
    return kind === 'escaped' || (kind === 'ident' && !/^(?:in|true|false|null)$/.test(text))
  }

  private selection(operand: Expr): Expr {
    const { tokens } = this
    const optional = tokens.is('?', 1)
    if (!optional && !this.isFieldName(1)) {
      tokens.noAlternative(1)
      throw new ParseFailure()
    }
    const dot = tokens.next()
    if (optional) return this.optionalSelection(operand, dot)
    const name = tokens.next()
    if (name.kind === 'escaped') this.issues.push({ offset: name.offset, message: "unsupported syntax: '`'" })
    else if (tokens.is('(')) {
      const open = tokens.next()
      const id = this.nextId()
      return this.call(id, open, name.text, operand, this.args(false))
    }
    const base = { kind: 'select' as const, id: this.nextId(), offset: dot.offset }
    return this.nested({ ...base, operand, field: name.text, testOnly: false }, [operand], 1)
  }

  private optionalSelection(operand: Expr, dot: Token): Expr {
    const { tokens } = this
    tokens.next()
    const { offset } = tokens.peek()
    try {
      tokens.require(fieldName, (ahead) => this.isFieldName(ahead))
    } catch (error) {
      this.issues.push({ offset, message: 'unsupported ident kind' })
      throw error
    }
    const name = tokens.next()
    if (name.kind === 'escaped') this.issues.push({ offset: name.offset, message: "unsupported syntax: '`'" })
    const id = this.nextId()
    const field: Expr = { kind: 'literal', id: this.nextId(), offset: name.offset, value: name.text }
    return this.call(id, dot, '_?._', undefined, [operand, field])
  }

  private index(operand: Expr, open: Token): Expr {
    const { tokens } = this
    tokens.require(indexStart, (ahead) => tokens.isOperandStart(ahead) || tokens.is('?', ahead))
    const optional = tokens.accept('?') !== undefined
    const id = this.nextId()
    const key = tokens.within([']'], false, () => this.expr())
    tokens.close(']')
    return this.call(id, open, optional ? '_[?_]' : '_[_]', undefined, [operand, key])
  }

  private args(postfix: boolean): Expr[] {
    const { tokens } = this
    const args: Expr[] = []
    tokens.require(argumentStart, (ahead) => tokens.isOperandStart(ahead) || tokens.is(')', ahead))
    if (tokens.accept(')')) return args
    tokens.within([',', ')'], postfix, () => {
      do args.push(this.expr())
      while (tokens.accept(','))
    })
    tokens.close(')')
    return args
  }

  private primary(): Expr {
    const { tokens } = this
    const token = tokens.peek()
    const literal = this.literal(token, false)
    if (literal) return literal
    if (token.kind === 'ident') return this.named('')
    if (tokens.is('-') && literalOf(tokens.peek(1), true)) {
      tokens.next()
      return this.literal(tokens.peek(), true, token)!
    }
    if (tokens.accept('(')) {
      const expr = tokens.within([')'], true, () => this.expr())
      tokens.close(')')
      return expr
    }
    if (tokens.accept('[')) return this.list(token)
    if (tokens.accept('{')) return this.map(token)
    if (!tokens.is('.') || tokens.peek(1).kind !== 'ident') {
      tokens.noAlternative(1)
      throw new ParseFailure()
    }
    tokens.next()
    return this.named('.')
  }

  private named(prefix: string): Expr {
    const token = this.tokens.next()
    if (reserved.has(token.text)) {
      this.issues.push({ offset: token.offset, message: `reserved identifier: ${token.text}` })
    }
    if (!this.tokens.is('(')) {
      return { kind: 'ident', id: this.nextId(), offset: token.offset, name: prefix + token.text }
    }
    const open = this.tokens.next()
    const id = this.nextId()
    return this.call(id, open, prefix + token.text, undefined, this.args(true))
  }

  private literal(token: Token, negative: boolean, sign = token): Expr | undefined {
    const result = literalOf(token, negative)
    if (!result) return undefined
    this.tokens.next()
    const base = { kind: 'literal' as const, id: this.nextId(), offset: sign.offset }
    if ('value' in result) return { ...base, value: result.value }
    this.issues.push({ offset: sign.offset, message: result.error })
    return { ...base, value: null }
  }

  private list(open: Token): Expr {
    const { tokens } = this
    const id = this.nextId()
    const elements: Expr[] = []
    const optional: boolean[] = []
    this.items(']', listStart, () => {
      optional.push(tokens.accept('?') !== undefined)
      elements.push(this.expr())
    })
    return this.nested({ kind: 'list', id, offset: open.offset, elements, optional }, elements, 0)
  }

  private map(open: Token): Expr {
    const id = this.nextId()
    const entries: MapEntry[] = []
    this.items('}', mapStart, () => {
      const optional = this.tokens.accept('?') !== undefined
      const key = this.tokens.within([':'], false, () => this.expr())
      const colon = this.colon()
      if (!colon) return
      this.nextId()
      entries.push({ offset: colon.offset, key, value: this.expr(), optional })
    })
    const parts = entries.flatMap(({ key, value }) => [key, value])
    return this.nested({ kind: 'map', id, offset: open.offset, entries }, parts, 0)
  }

  private struct(typeName: string): CreateStruct {
    const open = this.tokens.next()
    const id = this.nextId()
    const fields: StructField[] = []
    this.items('}', structStart, () => {
      const optional = this.tokens.accept('?') !== undefined
      const name = this.tokens.peek()
      if (name.kind !== 'ident' && name.kind !== 'escaped') this.tokens.mismatched('{IDENTIFIER, ESC_IDENTIFIER}')
      this.tokens.next()
      if (name.kind === 'escaped') this.issues.push({ offset: name.offset, message: "unsupported syntax: '`'" })
      const colon = this.colon()
      if (!colon) return
      this.nextId()
      fields.push({ offset: colon.offset, name: name.text, value: this.expr(), optional })
    })
    const values = fields.map((field) => field.value)
    return this.nested({ kind: 'struct', id, offset: open.offset, typeName, fields }, values, 0)
  }

  private colon(): Token | undefined {
    try {
      return this.tokens.colon()
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error
      this.tokens.recover(true)
      return undefined
    }
  }

  /** Parses items between brackets that are separated by commas. A trailing comma is allowed. */
  private items(bracket: string, start: string, one: () => void): void {
    const { tokens } = this
    const starts = (ahead: number) =>
      start === structStart
        ? this.isFieldName(ahead) || tokens.is('?', ahead)
        : tokens.isOperandStart(ahead) || tokens.is('?', ahead)
    tokens.require(start, (ahead) => starts(ahead) || tokens.is(bracket, ahead) || tokens.is(',', ahead))
    tokens.within([',', bracket], true, () => {
      if (tokens.accept(',') || tokens.is(bracket)) return
      do one()
      while (starts(1) && tokens.accept(','))
      tokens.require(`{'${bracket}', ','}`, (ahead) => tokens.is(bracket, ahead) || tokens.is(',', ahead))
      tokens.accept(',')
    })
    tokens.close(bracket)
  }

  private call(id: number, at: Token, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const make = new MacroBuilder(this.nextId, at.offset)
    const expanded = expandMacro(make, name, target, args, this.lists)
    const call: Call = { kind: 'call', id, offset: at.offset, name, target, args }
    const failed = expanded instanceof MacroError
    if (failed) this.issues.push({ offset: expanded.offset, message: expanded.message })
    const levels = target || name === '@in' || name.startsWith('_') ? 1 : 0
    return this.nested(failed ? call : (expanded ?? call), target ? [target, ...args] : args, levels)
  }
}

function literalOf(token: Token, negative: boolean): LiteralResult | undefined {
  switch (token.kind) {
    case 'int':
      return intLiteral(token.text, negative)
    case 'float':
      return doubleLiteral(token.text, negative)
    case 'uint':
      return negative ? undefined : uintLiteral(token.text)
    case 'string':
      return negative ? undefined : stringLiteral(token.text)
    case 'bytes':
      return negative ? undefined : bytesLiteral(token.text)
    case 'ident':
      if (negative) return undefined
      if (token.text === 'true') return { value: true }
      if (token.text === 'false') return { value: false }
      return token.text === 'null' ? { value: null } : undefined
    default:
      return undefined
  }
}
