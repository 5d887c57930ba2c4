import type { Token } from './lexer.js'
import type { Issue } from './source.js'

/** Thrown when a grammar rule cannot continue. The error is already reported; an outer rule recovers. */
export class ParseFailure {}

const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const operators = new Set([...relations, '&&', '||', '?', '+', '-', '*', '/', '%'])
const postfixes = new Set(['.', '['])

const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
/** The tokens that may start an operand, as messages list them. */
export const operandStart = `{'[', '{', '(', '.', '-', '!', ${literals}}`
/** The tokens that may start an argument list. */
export const argumentStart = `{'[', '{', '(', ')', '.', '-', '!', ${literals}}`
/** The tokens that may follow the opening bracket of a list. */
export const listStart = `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${literals}}`
/** The tokens that may follow the opening brace of a map. */
export const mapStart = `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${literals}}`
/** The tokens that may follow the opening brace of a message. */
export const structStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
/** The tokens that may name a field. */
export const fieldName = '{IDENTIFIER, ESC_IDENTIFIER}'
/** The tokens that may start an index. */
export const indexStart = `{'[', '{', '(', '.', '-', '!', '?', ${literals}}`

/** An open bracket or conditional. */
interface Open {
  /** The tokens that may follow an expression there. */
  readonly after: readonly string[]
  /** Whether a selection may follow the closed bracket. */
  readonly postfix: boolean
}

/**
 * A stream of tokens with error recovery. Users read the messages and tests compare them, so the recovery follows
 * the strategy of ANTLR, which generated the parser of cel-go: one surplus or missing token is repaired; otherwise
 * tokens are skipped to one that an open rule accepts, and further errors are suppressed until a token matches.
 */
export class TokenStream {
  private at = 0
  private recovering = false
  private lastErrorAt = -1
  private readonly open: Open[] = [{ after: ['<EOF>'], postfix: false }]

  constructor(
    readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly issues: Issue[],
  ) {}

  peek(ahead = 0): Token {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)]!
  }

  next(): Token {
    const token = this.peek()
    this.at++
    this.recovering = false
    return token
  }

  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'punctuation' && token.text === text
  }

  accept(text: string): Token | undefined {
    return this.is(text) ? this.next() : undefined
  }

  isRelation(): boolean {
    const { kind, text } = this.peek()
    return (kind === 'punctuation' || kind === 'ident') && relations.has(text)
  }

  isOperandStart(ahead = 0): boolean {
    const { kind, text } = this.peek(ahead)
    if (kind === 'punctuation') return ['[', '{', '(', '.', '-', '!'].includes(text)
    return kind !== 'end' && kind !== 'escaped' && text !== 'in'
  }

  /** Reports a syntax error, unless it follows from an error that was reported before. */
  report(token: Token, message: string): void {
    this.lastErrorAt = this.at
    if (this.recovering) return
    this.recovering = true
    this.issues.push({ offset: token.offset, message: `Syntax error: ${message}` })
  }

  /** Reports the token as extraneous and skips it. */
  deleteToken(expecting: string): void {
    const token = this.peek()
    this.report(token, `extraneous input '${token.text}' expecting ${expecting}`)
    this.at++
    this.recovering = false
  }

  mismatched(expecting: string): never {
    const token = this.peek()
    this.report(token, `mismatched input '${token.text}' expecting ${expecting}`)
    throw new ParseFailure()
  }

  /** Reports `no viable alternative` with the text from here to the offending token. */
  noAlternative(ahead: number): void {
    const first = this.peek()
    const bad = this.peek(ahead)
    // Text that is not a token was reported before and is left out.
    const gap = this.text.slice(first.offset + first.text.length, bad.offset).replace(/\S/g, '')
    const shown = first.text + gap + (bad.kind === 'end' ? '' : bad.text)
    const input = shown.replaceAll('\n', '\\n').replaceAll('\t', '\\t')
    const keyword = /^\.(true|false|null)$/.exec(input)
    this.report(
      bad,
      keyword ? `mismatched input '${keyword[1]}' expecting IDENTIFIER` : `no viable alternative at input '${input}'`,
    )
  }

  /** Parses inside a bracket. `after` lists the tokens that may follow an expression there. */
  within<T>(after: readonly string[], postfix: boolean, parse: () => T): T {
    const depth = this.open.length
    this.open.push({ after, postfix })
    try {
      return parse()
    } finally {
      this.open.length = depth
    }
  }

  /** Consumes a closing bracket. A missing or surplus token is reported and repaired. */
  close(text: string): Token {
    return this.match(text, (token) => this.mayFollow(token))
  }

  /** Consumes a colon, with the same repair. */
  colon(): Token {
    return this.match(':', () => this.isOperandStart())
  }

  private match(text: string, mayFollow: (token: Token) => boolean): Token {
    const token = this.peek()
    if (this.is(text)) return this.next()
    const expecting = `'${text}'`
    if (this.is(text, 1)) {
      this.deleteToken(expecting)
      return this.next()
    }
    if (!mayFollow(token)) this.mismatched(expecting)
    this.report(token, `missing ${expecting} at '${token.text}'`)
    return token
  }

  /** Requires a token that can start a construct. One surplus token before it is skipped. */
  require(expecting: string, starts: (ahead: number) => boolean): void {
    if (starts(0)) return
    if (this.peek().kind === 'end' || !starts(1)) this.mismatched(expecting)
    this.deleteToken(expecting)
  }

  /** Reports whether a token may follow a complete operand here. */
  private mayFollow(token: Token): boolean {
    if (token.kind === 'end') return this.open.length === 1
    if (token.kind === 'ident') return token.text === 'in'
    if (token.kind !== 'punctuation') return false
    const innermost = this.open[this.open.length - 1]!
    return operators.has(token.text) || postfixes.has(token.text) || innermost.after.includes(token.text)
  }

  /** Skips to a token that an open rule accepts. `postfix` says whether a selection may follow here. */
  recover(postfix = false): void {
    if (this.lastErrorAt === this.at && this.recoveredAt === this.at && this.peek().kind !== 'end') this.at++
    this.recoveredAt = this.at
    while (!this.canResume(this.peek(), postfix)) this.at++
  }

  private recoveredAt = -1

  private canResume(token: Token, postfix: boolean): boolean {
    if (token.kind === 'end') return true
    if (token.kind !== 'punctuation') return token.kind === 'ident' && token.text === 'in'
    if (operators.has(token.text)) return true
    if (postfixes.has(token.text) && (postfix || this.open.some((open) => open.postfix))) return true
    return this.open.some((open) => open.after.includes(token.text))
  }

  /** Reports tokens after the end of the expression. */
  end(): void {
    const token = this.peek()
    if (token.kind === 'end') return
    const word = this.peek(1).kind === 'end' ? 'extraneous' : 'mismatched'
    this.report(token, `${word} input '${token.text}' expecting <EOF>`)
  }
}
