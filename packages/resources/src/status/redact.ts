import { isObject } from '@crosstie/kube'

/** Names of connection details that are secrets regardless of their length. */
const OPENS = /passw|secret|token|credential|private|key$/i
/** Names of connection details that are not secret and that messages should show. */
const LEADS = /^(endpoint|host|hostname|port|user|username|database|region)$/i

/** Collects secret values as they are read and removes them from everything that is reported. */
export class Redactor {
  /** Allocated on first use, because most objects have no secrets. */
  #forms: Set<string> | undefined
  /** Values of sensitive fields that are long enough not to match ordinary words. */
  #values: Set<string> | undefined

  /**
   * Adds a value that is secret as a whole. Values with fewer than four characters are ignored, because they match
   * ordinary words.
   */
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

  /** Adds the value of a sensitive field. It is also masked in values that the provider reports. */
  addValue(value: string): void {
    this.add(value)
    if (value.length < 8) return
    this.#values ??= new Set()
    this.#values.add(value)
  }

  /** Adds connection details. Their names determine which ones are secret. */
  addConnection(details: Readonly<Record<string, string | undefined>> | undefined): void {
    if (!details) return
    for (const [name, value] of Object.entries(details)) {
      if (value === undefined) continue
      if (OPENS.test(name)) this.add(value)
      else if (!LEADS.test(name)) this.addDetail(value)
    }
  }

  /** Adds a connection detail of unknown meaning. Short ones, such as ports and user names, stay readable. */
  addDetail(value: string): void {
    if (value.length >= 8) this.add(value)
  }

  /** Adds a document that contains secrets, such as a credentials file, and its parts, because messages quote them. */
  addDocument(text: string): void {
    this.add(text)
    const named = namedParts(text)
    if (named) this.addConnection(named)
    else for (const part of text.split(/[\s"'`=:,;{}[\]()]+/)) this.addDetail(part)
  }

  redact(text: string): string {
    if (!this.#forms) return text
    // Replace the longest first, so that a part of a secret does not break up the whole.
    const forms = [...this.#forms].sort((a, b) => b.length - a.length)
    return forms.reduce((rest, form) => rest.replaceAll(form, '<redacted>'), text)
  }

  /** Masks every string that contains the value of a sensitive field. Returns the same value if none does. */
  mask<T>(value: T): T {
    return this.holds(value) ? (this.#masked(value) as T) : value
  }

  /** Reports whether the value contains the value of a sensitive field. */
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

/** Returns the named parts of a document: those of a JSON object of strings, or the password of a URL. */
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

/** Returns the value in hexadecimal, and in Base64 as a part of a longer text, such as `user:password`. */
function encodedWithin(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const within = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and the last character also contain bits of adjacent bytes.
    const whole = encoded.slice(before === 0 ? 0 : before + 1)
    return (before + bytes.length) % 3 === 0 ? whole : whole.slice(0, -1)
  })
  return [bytes.toString('hex'), ...within, ...within.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}
