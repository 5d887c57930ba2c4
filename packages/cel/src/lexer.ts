import type { Issue } from './source.js'

/** The kind of a token. */
export type TokenKind = 'ident' | 'escaped' | 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'punctuation' | 'end'

/** A token of an expression. */
export interface Token {
  readonly kind: TokenKind
  /** The text of the token in the source. */
  readonly text: string
  readonly offset: number
}

const whitespace = /[\t \r\n\f]+/y
const comment = /\/\/[^\n]*/y
const escaped = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`
const stringForms = [
  String.raw`"""(?:${escaped}|[^\\])*?"""`,
  String.raw`'''(?:${escaped}|[^\\])*?'''`,
  String.raw`"(?:${escaped}|[^\\"\n\r])*"`,
  String.raw`'(?:${escaped}|[^\\'\n\r])*'`,
]
const rawForms = ['[rR]"""[^]*?"""', "[rR]'''[^]*?'''", String.raw`[rR]"[^"\n\r]*"`, String.raw`[rR]'[^'\n\r]*'`]
const anyString = `(?:${[...rawForms, ...stringForms].join('|')})`
const rules: readonly (readonly [TokenKind, RegExp])[] = [
  ['bytes', new RegExp(`[bB]${anyString}`, 'y')],
  ['string', new RegExp(anyString, 'y')],
  ['float', /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ['uint', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['int', /(?:0x[0-9a-fA-F]+|\d+)/y],
  ['ident', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['escaped', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['punctuation', /(?:==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%])/y],
]

/** Splits an expression into tokens. Text that is not a token is added to the issues and skipped. */
export function tokenize(text: string, issues: Issue[]): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const skipped = match(whitespace, text, at) ?? match(comment, text, at)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const token = nextToken(text, at)
    if (token) {
      tokens.push(token)
      at += token.text.length
      continue
    }
    const bad = badText(text, at)
    issues.push({ offset: at, message: `Syntax error: token recognition error at: '${printable(bad)}'` })
    at += bad.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length })
  return tokens
}

/** Returns the rules that can match, by the first character. Trying all rules would dominate the time of the lexer. */
function rulesFor(first: string): readonly (readonly [TokenKind, RegExp])[] {
  if (/[A-Za-z_]/.test(first)) return /[bBrR]/.test(first) ? wordRules : identRules
  if (/[0-9]/.test(first)) return numberRules
  if (first === '"' || first === "'") return stringRules
  return otherRules
}

const ofKinds = (...kinds: TokenKind[]) => rules.filter(([kind]) => kinds.includes(kind))
const wordRules = ofKinds('bytes', 'string', 'ident')
const identRules = ofKinds('ident')
const numberRules = ofKinds('float', 'uint', 'int')
const stringRules = ofKinds('string')
const otherRules = ofKinds('float', 'escaped', 'punctuation')

function nextToken(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of rulesFor(text[at]!)) {
    const found = match(pattern, text, at)
    if (found !== undefined) return { kind, text: found, offset: at }
  }
  return undefined
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Returns the text that the lexer of cel-go skips: an unclosed string up to the error, otherwise one character. */
function badText(text: string, at: number): string {
  const open = /[bB]?(?:[rR]?(?:"""|'''|"|')|`)/y
  const start = match(open, text, at)
  if (start === undefined) {
    const pair = /[&|=][\s\S]/y
    return match(pair, text, at) ?? String.fromCodePoint(text.codePointAt(at)!)
  }
  if (start.endsWith('`')) return match(/`[A-Za-z0-9_.\-/ ]*[\s\S]?/y, text, at) ?? '`'
  const quote = start.slice(-1)
  const body = new RegExp(`${/[rR]/.test(start) ? `[^${quote}\\n\\r]*` : `(?:${escaped}|[^\\\\${quote}\\n\\r])*`}`, 'y')
  const rest = match(body, text, at + start.length) ?? ''
  const end = at + start.length + rest.length
  const offending = text[end] === '\\' ? text.slice(end, end + 2) : text.slice(end, end + 1)
  return start + rest + offending
}

function printable(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}
