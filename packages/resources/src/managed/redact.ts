/** Values that must not be shown to anybody, gathered as they are read, and taken out of whatever is told. */
export class Redactor {
  readonly #forms = new Set<string>()

  /** A value that is a secret as a whole. Very short ones would blot out ordinary words. */
  add(value: string): void {
    if (value.length < 4) return
    for (const form of [
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64'),
    ]) {
      this.#forms.add(form)
    }
  }

  /** A connection detail: user names and ports are among them, and worth reading. */
  addDetail(value: string): void {
    if (value.length >= 8) this.add(value)
  }

  /** A document with secrets in it, such as a credentials file: messages quote its parts. */
  addDocument(text: string): void {
    this.add(text)
    for (const part of text.split(/[\s"'`=:,;{}[\]()]+/)) if (part.length >= 8) this.add(part)
  }

  redact(text: string): string {
    if (this.#forms.size === 0) return text
    // Longest first: a part of a secret must not break up the whole.
    const forms = [...this.#forms].sort((a, b) => b.length - a.length)
    return forms.reduce((rest, form) => rest.replaceAll(form, '<redacted>'), text)
  }
}
