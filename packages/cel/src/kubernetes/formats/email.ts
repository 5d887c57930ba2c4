import { isIP } from './address.js'

const word = /[!#-'*+\-./0-9=?A-Z^-~\u0080-\u{10ffff}]+/uy
const quoted = /"((?:[ \t!#-[\]-~\u0080-\u{10ffff}]|\\[ \t!-~\u0080-\u{10ffff}])*)"/uy
const blanks = /[ \t]*/y

/** Reports whether the text is one address of RFC 5322: `a@b`, `Name <a@b>`, or a group with exactly one address. */
export function isEmail(text: string): boolean {
  const reader = new AddressReader(text)
  return reader.address(true) === 1 && reader.skipComments() && reader.atEnd()
}

class AddressReader {
  private at = 0
  constructor(private readonly text: string) {}

  atEnd(): boolean {
    return this.at >= this.text.length
  }

  /** Returns the number of addresses, or undefined if the text is not an address. */
  address(mayBeGroup: boolean): number | undefined {
    this.skipBlanks()
    if (this.atEnd()) return undefined
    if (this.mailbox()) {
      this.skipBlanks()
      return this.peek() !== '(' || this.comment() ? 1 : undefined
    }
    if (this.peek() !== '<' && !this.phrase()) return undefined
    this.skipBlanks()
    if (mayBeGroup && this.take(':')) return this.group()
    return this.take('<') && this.mailbox() && this.take('>') ? 1 : undefined
  }

  private group(): number | undefined {
    this.skipBlanks()
    if (this.take(';')) return this.skipComments() ? 0 : undefined
    for (let count = 1; ; count++) {
      this.skipBlanks()
      if (this.address(false) === undefined || !this.skipComments()) return undefined
      if (this.take(';')) return this.skipComments() ? count : undefined
      if (!this.take(',')) return undefined
    }
  }

  /** Reads `local@domain`. Consumes nothing if the text is not a mailbox. */
  private mailbox(): boolean {
    const start = this.at
    if (this.local() && this.take('@') && this.domain()) return true
    this.at = start
    return false
  }

  private local(): boolean {
    this.skipBlanks()
    if (this.peek() === '"') return (this.match(quoted)?.length ?? 0) > 2
    return this.dotted()
  }

  private domain(): boolean {
    this.skipBlanks()
    if (this.peek() !== '[') return this.dotted()
    const end = this.text.indexOf(']', this.at)
    const literal = this.text.slice(this.at + 1, end)
    if (end < 0 || !isIP(literal)) return false
    this.at = end + 1
    return true
  }

  private dotted(): boolean {
    const atom = this.match(word)
    return atom !== undefined && !/^\.|\.\.|\.$/.test(atom)
  }

  private phrase(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.skipComments()) return false
      this.skipBlanks()
      if (this.atEnd()) return true
      if (this.match(this.peek() === '"' ? quoted : word) === undefined) return words > 0
    }
  }

  skipComments(): boolean {
    this.skipBlanks()
    while (this.peek() === '(') {
      if (!this.comment()) return false
      this.skipBlanks()
    }
    return true
  }

  private comment(): boolean {
    let depth = 0
    for (; this.at < this.text.length; this.at++) {
      const char = this.text[this.at]
      if (char === '\\') this.at++
      else if (char === '(') depth++
      else if (char === ')' && --depth === 0) return this.take(')')
    }
    return false
  }

  private skipBlanks(): void {
    this.match(blanks)
  }

  private peek(): string {
    return this.text[this.at] ?? ''
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false
    this.at++
    return true
  }

  private match(expression: RegExp): string | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }
}
