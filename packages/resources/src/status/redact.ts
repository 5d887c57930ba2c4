import { isObject } from '@crosstie/kube'

/** Connection details whose names say that they open something are secrets however short they are. */
const OPENS = /passw|secret|token|credential|private|key$/i
/** Those whose names say that they only lead somewhere are what messages are about. */
const LEADS = /^(endpoint|host|hostname|port|user|username|database|region)$/i

/** Values that must not be shown to anybody, gathered as they are read, and taken out of whatever is told. */
export class Redactor {
  /** Absent until there is one: most objects have none. */
  #forms: Set<string> | undefined
  /** Values of sensitive fields that are long enough not to be an ordinary word by chance. */
  #values: Set<string> | undefined

  /** A value that is a secret as a whole. Very short ones would blot out ordinary words. */
  add(value: string): void {
    if (value.length < 4) return
    this.#forms ??= new Set()
    for (const form of [
      value,
      encodeURIComponent(value),
      encodeURI(value),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64'),
    ]) {
      this.#forms.add(form)
    }
    if (value.length < 8) return
    for (const form of encodedWithin(value)) this.#forms.add(form)
    // Messages quote single lines of keys and certificates.
    if (value.includes('\n')) for (const line of value.split(/[\r\n]+/)) if (line.length >= 16) this.#forms.add(line)
  }

  /** The value of a sensitive field: not even what the provider reports may hold it. */
  addValue(value: string): void {
    this.add(value)
    if (value.length < 8) return
    this.#values ??= new Set()
    this.#values.add(value)
  }

  /** Connection details, by name. */
  addConnection(details: Readonly<Record<string, string | undefined>> | undefined): void {
    if (!details) return
    for (const [name, value] of Object.entries(details)) {
      if (value === undefined) continue
      if (OPENS.test(name)) this.add(value)
      else if (!LEADS.test(name)) this.addDetail(value)
    }
  }

  /** A connection detail: user names and ports are among them, and worth reading. */
  addDetail(value: string): void {
    if (value.length >= 8) this.add(value)
  }

  /** A document with secrets in it, such as a credentials file: messages quote its parts. */
  addDocument(text: string): void {
    this.add(text)
    const named = namedParts(text)
    if (named) this.addConnection(named)
    else for (const part of text.split(/[\s"'`=:,;{}[\]()]+/)) this.addDetail(part)
  }

  redact(text: string): string {
    if (!this.#forms) return text
    // Longest first: a part of a secret must not break up the whole.
    const forms = [...this.#forms].sort((a, b) => b.length - a.length)
    return forms.reduce((rest, form) => rest.replaceAll(form, '<redacted>'), text)
  }

  /** A value with every text in it that holds the value of a sensitive field masked; the same value when none does. */
  mask<T>(value: T): T {
    return this.holds(value) ? (this.#masked(value) as T) : value
  }

  /** Is the value of a sensitive field anywhere in it? */
  holds(value: unknown): boolean {
    if (!this.#values) return false
    if (typeof value === 'string') return this.#isHeldBy(value)
    if (Array.isArray(value)) return value.some((item) => this.holds(item))
    return isObject(value) && Object.entries(value).some(([key, inner]) => this.#isHeldBy(key) || this.holds(inner))
  }

  #isHeldBy(text: string): boolean {
    for (const value of this.#values ?? []) if (text.includes(value)) return true
    return false
  }

  #masked(value: unknown): unknown {
    if (typeof value === 'string') return this.#isHeldBy(value) ? this.redact(value) : value
    if (Array.isArray(value)) return value.map((item) => this.#masked(item))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.#masked(key), this.#masked(inner)]))
  }
}

/** The parts of a document that names them: a JSON object of texts, or a URL with a password. */
function namedParts(text: string): Readonly<Record<string, string>> | undefined {
  try {
    if (/^[a-z]+:\/\//.test(text)) return { password: decodeURIComponent(new URL(text).password) }
    const parsed: unknown = JSON.parse(text)
    const texts = isObject(parsed) && Object.values(parsed).every((value) => typeof value === 'string')
    return texts ? (parsed as Record<string, string>) : undefined
  } catch {
    return undefined
  }
}

/** What the value looks like in hexadecimal, and inside of something longer in Base64, as in `user:password`. */
function encodedWithin(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const within = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and the last character also carry bits of the neighbours.
    const whole = encoded.slice(before === 0 ? 0 : before + 1)
    return (before + bytes.length) % 3 === 0 ? whole : whole.slice(0, -1)
  })
  return [bytes.toString('hex'), ...within, ...within.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}
