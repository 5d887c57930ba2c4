/** The limits of kube-apiserver, in Unicode code points. */
const TOTAL_MAX = 4096
const TRUNCATED_MAX = 256

// biome-ignore lint/suspicious/noControlCharactersInRegex: a warning with one of these is not sent.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/**
 * The `Warning` headers of a response. Each text is sent once. When the texts are longer than 4,096 characters together,
 * each is cut to 256, and texts beyond the limit are left out.
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '')
  return withinLimit(texts, TOTAL_MAX) ?? truncated(texts)
}

function withinLimit(texts: readonly string[], limit: number): string[] | undefined {
  let written = 0
  const headers: string[] = []
  for (const text of texts) {
    if (CONTROL.test(text)) continue
    written += lengthOf(text)
    if (written > limit) return undefined
    headers.push(headerOf(text))
  }
  return headers
}

function truncated(texts: readonly string[]): string[] {
  let written = 0
  const headers: string[] = []
  for (const text of texts) {
    if (written >= TOTAL_MAX) break
    const short =
      lengthOf(text) > TRUNCATED_MAX ? [...text.slice(0, TRUNCATED_MAX * 2)].slice(0, TRUNCATED_MAX).join('') : text
    if (CONTROL.test(short)) continue
    written += lengthOf(short)
    headers.push(headerOf(short))
  }
  return headers
}

function lengthOf(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) pairs++
  }
  return text.length - pairs
}

/** RFC 7234 warn-text: a quoted string. Header values are latin1 to Node, so UTF-8 is passed byte by byte. */
function headerOf(text: string): string {
  return `299 - "${Buffer.from(text.replace(/[\\"]/g, '\\$&'), 'utf8').toString('latin1')}"`
}
