import type { Token } from './lexer.js'
import type { Issue } from './source.js'

/** A rule of the grammar could not go on. The error is reported; some rule further out picks up after it. */
export class Derailed {}

const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const operators = new Set([...relations, '&&', '||', '?', '+', '-', '*', '/', '%'])
const postfixes = new Set(['.', '['])

const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
/** What may begin an operand, as messages list it; some places allow more. */
export const operandStart = `{'[', '{', '(', '.', '-', '!', ${literals}}`
export const argumentStart = `{'[', '{', '(', ')', '.', '-', '!', ${literals}}`
/** What may come right after an opening bracket. */
export const listStart = `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${literals}}`
export const mapStart = `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${literals}}`
export const structStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
export const fieldName = '{IDENTIFIER, ESC_IDENTIFIER}'
export const indexStart = `{'[', '{', '(', '.', '-', '!', '?', ${literals}}`

/** A bracket, or the middle of a condition, that is still open. */
interface Open {
  /** What may come after an expression there. */
  readonly after: readonly string[]
  /** Whether the whole may be followed by a selection, as parentheses may. */
  readonly postfix: boolean
}

/**
 * Tokens with a position, and what to do about those that do not fit. Users read the messages and tests compare
 * them, so this follows the strategy of the parser generator that the real parser was made with: one token too many
 * or too few is forgiven; otherwise tokens are skipped to where some open rule could go on, and nothing is reported
 * until a token fits again.
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

  /** Reports a complaint of the grammar, unless it follows from one that was reported already. */
  report(token: Token, message: string): void {
    this.lastErrorAt = this.at
    if (this.recovering) return
    this.recovering = true
    this.issues.push({ offset: token.offset, message: `Syntax error: ${message}` })
  }

  /** Reports the token as unwanted and steps over it. */
  deleteToken(expecting: string): void {
    const token = this.peek()
    this.report(token, `extraneous input '${token.text}' expecting ${expecting}`)
    this.at++
    this.recovering = false
  }

  mismatched(expecting: string): never {
    const token = this.peek()
    this.report(token, `mismatched input '${token.text}' expecting ${expecting}`)
    throw new Derailed()
  }

  /** `no viable alternative`: the text from here to the token that does not fit. */
  noAlternative(ahead: number): void {
    const first = this.peek()
    const bad = this.peek(ahead)
    // Text that is no token was reported before and does not count.
    const gap = this.text.slice(first.offset + first.text.length, bad.offset).replace(/\S/g, '')
    const shown = first.text + gap + (bad.kind === 'end' ? '' : bad.text)
    const input = shown.replaceAll('\n', '\\n').replaceAll('\t', '\\t')
    const keyword = /^\.(true|false|null)$/.exec(input)
    this.report(
      bad,
      keyword ? `mismatched input '${keyword[1]}' expecting IDENTIFIER` : `no viable alternative at input '${input}'`,
    )
  }

  /** Runs a part of the grammar within a bracket; `after` is what may follow an expression there. */
  within<T>(after: readonly string[], postfix: boolean, parse: () => T): T {
    const depth = this.open.length
    this.open.push({ after, postfix })
    try {
      return parse()
    } finally {
      this.open.length = depth
    }
  }

  /** Takes a closing bracket; a missing or a surplus token is forgiven, but reported. */
  close(text: string): Token {
    return this.match(text, (token) => this.mayFollow(token))
  }

  /** Takes a colon, with the same forgiveness. */
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

  /** Checks that what comes can start something; one surplus token before it is stepped over. */
  require(expecting: string, starts: (ahead: number) => boolean): void {
    if (starts(0)) return
    if (this.peek().kind === 'end' || !starts(1)) this.mismatched(expecting)
    this.deleteToken(expecting)
  }

  /** Whether a token could come after a complete operand here. */
  private mayFollow(token: Token): boolean {
    if (token.kind === 'end') return this.open.length === 1
    if (token.kind === 'ident') return token.text === 'in'
    if (token.kind !== 'punctuation') return false
    const innermost = this.open[this.open.length - 1]!
    return operators.has(token.text) || postfixes.has(token.text) || innermost.after.includes(token.text)
  }

  /** Skips to a token with which some open rule can go on. `postfix` says whether a selection may come here. */
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

  /** The expression is over; anything left is reported. */
  end(): void {
    const token = this.peek()
    if (token.kind === 'end') return
    const word = this.peek(1).kind === 'end' ? 'extraneous' : 'mismatched'
    this.report(token, `${word} input '${token.text}' expecting <EOF>`)
  }
}
