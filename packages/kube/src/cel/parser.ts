import { type Call, type CreateStruct, type Expr, type MapEntry, qualifiedName, type StructField } from './ast.js'
import { type Token, tokenize } from './lexer.js'
import { bytesLiteral, doubleLiteral, intLiteral, type LiteralResult, stringLiteral, uintLiteral } from './literals.js'
import { expandMacro, MacroBuilder, MacroError } from './macros.js'
import { type Issue, nowhere } from './source.js'

const recursionMax = 250
const codePointsMax = 100_000

/** Stops parsing; the reason is among the issues already. */
class Stop {}

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
const operandStart = `{'[', '{', '(', '.', '-', '!', ${literals}}`
const argumentStart = `{'[', '{', '(', ')', '.', '-', '!', ${literals}}`
const indexStart = `{'[', '{', '(', '.', '-', '!', '?', ${literals}}`

const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const afterOperand = new Set([...relations, ...'&& || [ ] } ) . , - ? : + * / % <EOF>'.split(' ')])

export interface ParserOptions {
  /** Whether `sortBy` is a macro, as it is where the lists extension is enabled. */
  readonly lists?: boolean
}

export interface ParseResult {
  readonly expr: Expr | undefined
  readonly issues: readonly Issue[]
}

/** Parses an expression and expands its macros. */
export function parse(text: string, options: ParserOptions = {}): ParseResult {
  const issues: Issue[] = []
  const size = text.length > codePointsMax ? [...text].length : text.length
  if (size > codePointsMax) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${codePointsMax}`
    return { expr: undefined, issues: [{ offset: nowhere, message }] }
  }
  const parser = new Parser(text, tokenize(text, issues), issues, options.lists ?? false)
  const expr = parser.parse()
  return { expr: issues.length > 0 ? undefined : expr, issues }
}

class Parser {
  private at = 0
  private ids = 0
  private depth = 0

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly issues: Issue[],
    private readonly lists: boolean,
  ) {}

  parse(): Expr | undefined {
    try {
      const expr = this.expr()
      if (this.peek().kind !== 'end') this.unexpectedAtEnd()
      return expr
    } catch (error) {
      if (error instanceof Stop) return undefined
      throw error
    }
  }

  private readonly nextId = (): number => ++this.ids

  private peek(ahead = 0): Token {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)]!
  }

  private next(): Token {
    const token = this.peek()
    this.at++
    return token
  }

  private isPunctuation(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'punctuation' && token.text === text
  }

  private accept(text: string): Token | undefined {
    return this.isPunctuation(text) ? this.next() : undefined
  }

  private syntaxError(token: Token, message: string): void {
    this.issues.push({ offset: token.offset, message: `Syntax error: ${message}` })
  }

  private mismatched(expecting: string): never {
    const token = this.peek()
    this.syntaxError(token, `mismatched input '${token.text}' expecting ${expecting}`)
    throw new Stop()
  }

  private unexpectedAtEnd(): void {
    const token = this.peek()
    const word = this.peek(1).kind === 'end' ? 'extraneous' : 'mismatched'
    this.syntaxError(token, `${word} input '${token.text}' expecting <EOF>`)
  }

  /** Takes a closing bracket; a missing or a surplus token is forgiven, but reported. */
  private close(text: string, expecting = `'${text}'`): void {
    if (this.accept(text)) return
    const token = this.peek()
    if (expecting !== `'${text}'`) this.mismatched(expecting)
    if (this.isPunctuation(text, 1)) {
      this.syntaxError(token, `extraneous input '${token.text}' expecting '${text}'`)
      this.at += 2
    } else if (afterOperand.has(token.text)) {
      this.syntaxError(token, `missing '${text}' at '${token.text}'`)
    } else this.mismatched(expecting)
  }

  private expr(expecting = operandStart): Expr {
    if (++this.depth > recursionMax) {
      this.issues.push({ offset: nowhere, message: `expression recursion limit exceeded: ${recursionMax}` })
      throw new Stop()
    }
    const condition = this.logical('||', expecting)
    let expr = condition
    const question = this.accept('?')
    if (question) {
      const id = this.nextId()
      const whenTrue = this.logical('||', operandStart)
      if (!this.accept(':')) this.mismatched("':'")
      expr = this.call(id, question, '_?_:_', undefined, [condition, whenTrue, this.expr()])
    }
    this.depth--
    return expr
  }

  private logical(operator: '||' | '&&', expecting: string): Expr {
    const terms = [operator === '||' ? this.logical('&&', expecting) : this.relation(expecting)]
    const operators: { id: number; token: Token }[] = []
    for (let token = this.accept(operator); token; token = this.accept(operator)) {
      terms.push(operator === '||' ? this.logical('&&', operandStart) : this.relation(operandStart))
      operators.push({ id: this.nextId(), token })
    }
    if (terms.length === 1) return terms[0]!
    return this.balance(`_${operator}_`, terms, operators, 0, operators.length - 1)
  }

  /** Long chains become a balanced tree, so that their depth stays small. */
  private balance(
    name: string,
    terms: readonly Expr[],
    operators: readonly { id: number; token: Token }[],
    low: number,
    high: number,
  ): Expr {
    const middle = Math.floor((low + high + 1) / 2)
    const left = middle === low ? terms[middle]! : this.balance(name, terms, operators, low, middle - 1)
    const right = middle === high ? terms[middle + 1]! : this.balance(name, terms, operators, middle + 1, high)
    const { id, token } = operators[middle]!
    return { kind: 'call', id, offset: token.offset, name, target: undefined, args: [left, right] }
  }

  private relation(expecting: string): Expr {
    let left = this.sum(expecting)
    while (this.isRelation()) {
      const operator = this.next()
      const id = this.nextId()
      const name = operator.text === 'in' ? '@in' : `_${operator.text}_`
      left = this.call(id, operator, name, undefined, [left, this.sum(operandStart)])
    }
    return left
  }

  private isRelation(): boolean {
    const { kind, text } = this.peek()
    return (kind === 'punctuation' || kind === 'ident') && relations.has(text)
  }

  private sum(expecting: string): Expr {
    let left = this.product(expecting)
    while (this.isPunctuation('+') || this.isPunctuation('-')) {
      const operator = this.next()
      const id = this.nextId()
      left = this.call(id, operator, `_${operator.text}_`, undefined, [left, this.product(operandStart)])
    }
    return left
  }

  private product(expecting: string): Expr {
    let left = this.unary(expecting)
    while (this.isPunctuation('*') || this.isPunctuation('/') || this.isPunctuation('%')) {
      const operator = this.next()
      const id = this.nextId()
      left = this.call(id, operator, `_${operator.text}_`, undefined, [left, this.unary(operandStart)])
    }
    return left
  }

  private unary(expecting: string): Expr {
    const first = this.peek()
    if (this.isPunctuation('!')) return this.repeated('!', first, '!_')
    const signedLiteral = this.peek(1).kind === 'int' || this.peek(1).kind === 'float'
    if (this.isPunctuation('-') && !signedLiteral) return this.repeated('-', first, '-_')
    return this.member(expecting)
  }

  private repeated(operator: string, first: Token, name: string): Expr {
    let count = 0
    while (this.accept(operator)) count++
    if (count % 2 === 0) return this.member(operandStart)
    const id = this.nextId()
    return this.call(id, first, name, undefined, [this.member(operandStart)])
  }

  private member(expecting: string): Expr {
    let expr = this.primary(expecting)
    let plainName = expr.kind === 'ident'
    for (;;) {
      const dot = this.peek()
      if (this.accept('.')) {
        const optional = this.accept('?') !== undefined
        const selected = this.selection(expr, dot, optional)
        plainName &&= selected.kind === 'select'
        expr = selected
      } else if (this.accept('[')) {
        plainName = false
        expr = this.index(expr, dot)
      } else if (plainName && this.isPunctuation('{')) {
        plainName = false
        expr = this.struct(qualifiedName(expr)!)
      } else return expr
    }
  }

  private selection(operand: Expr, dot: Token, optional: boolean): Expr {
    const name = this.next()
    const escaped = name.kind === 'escaped'
    const keyword = name.text === 'in' || name.text === 'true' || name.text === 'false' || name.text === 'null'
    if (!escaped && (name.kind !== 'ident' || keyword)) this.badSelection(dot, name, optional)
    if (escaped) this.issues.push({ offset: name.offset, message: "unsupported syntax: '`'" })
    if (!optional && !escaped && this.isPunctuation('(')) {
      const open = this.next()
      const id = this.nextId()
      return this.call(id, open, name.text, operand, this.args())
    }
    if (!optional) {
      return { kind: 'select', id: this.nextId(), offset: dot.offset, operand, field: name.text, testOnly: false }
    }
    const id = this.nextId()
    const field: Expr = { kind: 'literal', id: this.nextId(), offset: name.offset, value: name.text }
    return this.call(id, dot, '_?._', undefined, [operand, field])
  }

  private badSelection(dot: Token, name: Token, optional: boolean): never {
    if (optional) {
      this.at--
      this.syntaxError(name, `mismatched input '${name.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`)
      this.issues.push({ offset: name.offset, message: 'unsupported ident kind' })
    } else if (/^(true|false|null)$/.test(name.text) && name.offset === dot.offset + 1) {
      this.syntaxError(name, `mismatched input '${name.text}' expecting IDENTIFIER`)
    } else {
      const shown = name.kind === 'end' ? this.text.slice(dot.offset) : this.text.slice(dot.offset, name.offset)
      const input = name.kind === 'end' ? shown : shown + name.text
      this.syntaxError(name, `no viable alternative at input '${input.replaceAll('\n', '\\n')}'`)
    }
    throw new Stop()
  }

  private index(operand: Expr, open: Token): Expr {
    const optional = this.accept('?') !== undefined
    const id = this.nextId()
    const key = this.expr(optional ? operandStart : indexStart)
    this.close(']')
    return this.call(id, open, optional ? '_[?_]' : '_[_]', undefined, [operand, key])
  }

  private args(): Expr[] {
    const args: Expr[] = []
    if (this.accept(')')) return args
    args.push(this.expr(argumentStart))
    while (this.accept(',')) args.push(this.expr())
    this.close(')')
    return args
  }

  private primary(expecting: string): Expr {
    const token = this.peek()
    if (token.kind === 'punctuation') return this.punctuated(token, expecting)
    const literal = this.literal(token, false)
    if (literal) return literal
    if (token.kind === 'ident' && token.text !== 'in') return this.named('')
    return this.skip(expecting)
  }

  private punctuated(token: Token, expecting: string): Expr {
    if (token.text === '-') {
      this.next()
      const literal = this.literal(this.peek(), true, token)
      if (literal) return literal
      this.at--
    }
    if (this.accept('(')) {
      const expr = this.expr()
      this.close(')')
      return expr
    }
    if (this.accept('[')) return this.list(token)
    if (this.accept('{')) return this.map(token)
    if (token.text === '.' && this.peek(1).kind === 'ident') {
      this.next()
      return this.named('.')
    }
    return this.skip(expecting)
  }

  /** One surplus token before an operand is stepped over, as the real parser does; anything worse ends the parse. */
  private skip(expecting: string): Expr {
    const token = this.peek()
    const after = this.peek(1)
    const operand =
      after.kind === 'punctuation'
        ? ['[', '{', '(', '.', '-', '!'].includes(after.text)
        : after.kind !== 'end' && after.text !== 'in'
    if (token.kind === 'end' || !operand) this.mismatched(expecting)
    this.syntaxError(token, `extraneous input '${token.text}' expecting ${expecting}`)
    this.next()
    return this.unary(operandStart)
  }

  private named(prefix: string): Expr {
    const token = this.next()
    if (this.isPunctuation('(')) {
      const open = this.next()
      if (reserved.has(token.text)) this.reservedIdentifier(token)
      const id = this.nextId()
      return this.call(id, open, prefix + token.text, undefined, this.args())
    }
    if (reserved.has(token.text)) this.reservedIdentifier(token)
    return { kind: 'ident', id: this.nextId(), offset: token.offset, name: prefix + token.text }
  }

  private reservedIdentifier(token: Token): void {
    this.issues.push({ offset: token.offset, message: `reserved identifier: ${token.text}` })
  }

  private literal(token: Token, negative: boolean, sign = token): Expr | undefined {
    const result = literalOf(token, negative)
    if (!result) return undefined
    this.next()
    const base = { kind: 'literal' as const, id: this.nextId(), offset: sign.offset }
    if ('value' in result) return { ...base, value: result.value }
    this.issues.push({ offset: sign.offset, message: result.error })
    return { ...base, value: null }
  }

  private list(open: Token): Expr {
    const id = this.nextId()
    const elements: Expr[] = []
    const optional: boolean[] = []
    while (!this.isPunctuation(']')) {
      if (elements.length > 0 && this.isPunctuation(',')) this.mismatched("']'")
      if (elements.length === 0 && this.accept(',')) break
      optional.push(this.accept('?') !== undefined)
      elements.push(this.expr())
      if (!this.accept(',')) {
        this.close(']', "{']', ','}")
        return { kind: 'list', id, offset: open.offset, elements, optional }
      }
    }
    this.close(']')
    return { kind: 'list', id, offset: open.offset, elements, optional }
  }

  private map(open: Token): Expr {
    const id = this.nextId()
    const entries: MapEntry[] = []
    this.entries(() => {
      const optional = this.accept('?') !== undefined
      const key = this.expr()
      const colon = this.colon()
      this.nextId()
      entries.push({ offset: colon.offset, key, value: this.expr(), optional })
    })
    return { kind: 'map', id, offset: open.offset, entries }
  }

  private struct(typeName: string): CreateStruct {
    const open = this.next()
    const id = this.nextId()
    const fields: StructField[] = []
    this.entries(() => {
      const optional = this.accept('?') !== undefined
      const name = this.next()
      if (name.kind !== 'ident') {
        this.at--
        this.mismatched('{IDENTIFIER, ESC_IDENTIFIER}')
      }
      const colon = this.colon()
      this.nextId()
      fields.push({ offset: colon.offset, name: name.text, value: this.expr(), optional })
    })
    return { kind: 'struct', id, offset: open.offset, typeName, fields }
  }

  private colon(): Token {
    return this.accept(':') ?? this.mismatched("':'")
  }

  private entries(one: () => void): void {
    if (this.accept('}')) return
    if (!this.accept(',')) {
      do {
        one()
        if (!this.isPunctuation(',')) {
          this.close('}', "{'}', ','}")
          return
        }
        this.next()
      } while (!this.isPunctuation('}') && this.peek().kind !== 'end')
    }
    this.close('}')
  }

  private call(id: number, at: Token, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const make = new MacroBuilder(this.nextId, at.offset)
    const expanded = expandMacro(make, name, target, args, this.lists)
    const call: Call = { kind: 'call', id, offset: at.offset, name, target, args }
    if (expanded === undefined) return call
    if (!(expanded instanceof MacroError)) return expanded
    this.issues.push({ offset: expanded.offset, message: expanded.message })
    return call
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
