import { daysIn, quote } from '@crosstie/cel/kubernetes'

/**
 * Parses an RFC 3339 time and formats it in UTC with seconds, as in metadata. Returns the error of Go's
 * `time.Parse` otherwise.
 */
export function readTime(text: string): { readonly time?: string; readonly error?: string } {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,]\d+)?(Z|[+-]\d{2}:\d{2})$/.exec(text)
  if (!match) return { error: describeMismatch(text) }
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const range = outOfRange(year, month, day, hour, minute, second)
  if (range) return { error: `parsing time ${quote(text)}: ${range} out of range` }
  if (match[7] === 'Z' && text.length === 20) return { time: text }
  const moment = new Date(text.replace(',', '.').replace(/\.\d+/, ''))
  return { time: moment.toISOString().replace(/\.\d{3}Z$/, 'Z') }
}

function outOfRange(...[year, month, day, hour, minute, second]: number[]): string | undefined {
  if (month! < 1 || month! > 12) return 'month'
  if (day! < 1 || day! > daysIn(year!, month!)) return 'day'
  if (hour! > 23) return 'hour'
  if (minute! > 59) return 'minute'
  return second! > 59 ? 'second' : undefined
}

const layout: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d{2}/],
  ['-', /^-/],
  ['02', /^\d{2}/],
  ['T', /^T/],
  ['15', /^\d{2}/],
  [':', /^:/],
  ['04', /^\d{2}/],
  [':', /^:/],
  ['05', /^\d{2}(?:[.,]\d+)?/],
  ['Z07:00', /^(?:Z|[+-]\d{2}:\d{2})/],
]

function describeMismatch(text: string): string {
  let rest = text
  for (const [element, expression] of layout) {
    const found = expression.exec(rest)
    if (!found) {
      return `parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(rest)} as ${quote(element)}`
    }
    rest = rest.slice(found[0].length)
  }
  return `parsing time ${quote(text)}: extra text: ${quote(rest)}`
}
