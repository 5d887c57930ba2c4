/** A time that Go's time.Parse refuses for the layouts of metav1.Time and metav1.MicroTime, with Go's message. */
export class TimeError extends Error {
  override readonly name = 'TimeError'
}

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00'
const MICROS_LAYOUT = '2006-01-02T15:04:05.000000Z07:00'

const canonicalSeconds = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/
const canonicalMicros = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/

/**
 * Returns the time in UTC without fractions (RFC 3339). Null for the zero time, which Go writes as null. Throws a
 * TimeError.
 */
export function canonicalTime(text: string): string | null {
  if (!canonicalSeconds.test(text)) {
    const { seconds } = new Reader(text, SECONDS_LAYOUT).read(false)
    return isZero(seconds, 0) ? null : new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  }
  return text === '0001-01-01T00:00:00Z' ? null : text
}

/** Returns the time in UTC with exactly six fractional digits. Throws a TimeError. */
export function canonicalMicroTime(text: string): string | null {
  if (!canonicalMicros.test(text)) {
    const { seconds, micros } = new Reader(text, MICROS_LAYOUT).read(true)
    return isZero(seconds, micros) ? null : microText(seconds, micros)
  }
  return text === '0001-01-01T00:00:00.000000Z' ? null : text
}

/** Returns the text of a MicroTime. */
export function microText(seconds: number, micros: number): string {
  const whole = new Date(seconds * 1000).toISOString()
  return `${whole.slice(0, whole.lastIndexOf('.'))}.${String(micros).padStart(6, '0')}Z`
}

const ZERO_SECONDS = -62135596800

const isZero = (seconds: number, micros: number): boolean => seconds === ZERO_SECONDS && micros === 0

class Reader {
  readonly #text: string
  readonly #layout: string
  #rest: string

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  read(exactMicros: boolean): { seconds: number; micros: number } {
    const year = this.#digits(4, '2006')
    this.#literal('-')
    const month = this.#inRange(this.#digits(2, '01'), 1, 12, 'month')
    this.#literal('-')
    const day = this.#digits(2, '02')
    this.#literal('T')
    const hour = this.#inRange(this.#hour(), 0, 23, 'hour')
    this.#literal(':')
    const minute = this.#inRange(this.#digits(2, '04'), 0, 59, 'minute')
    this.#literal(':')
    const second = this.#inRange(this.#digits(2, '05'), 0, 59, 'second')
    const micros = this.#fraction(exactMicros)
    const offset = this.#zone()
    if (this.#rest !== '') this.#fail(`: extra text: ${quote(this.#rest)}`)
    const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
    this.#inRange(day, 1, daysInMonth, 'day')
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    date.setUTCHours(hour, minute, second)
    return { seconds: date.getTime() / 1000 - offset, micros }
  }

  #digits(count: number, element: string): number {
    if (!new RegExp(`^\\d{${count}}`).test(this.#rest)) this.#cannotParse(element)
    return Number(this.#take(count))
  }

  /** Only the hour may have a single digit. */
  #hour(): number {
    return this.#digits(/^\d\d/.test(this.#rest) ? 2 : 1, '15')
  }

  #literal(char: string): void {
    if (this.#rest[0] !== char) this.#cannotParse(char)
    this.#take(1)
  }

  #inRange(value: number, min: number, max: number, what: string): number {
    if (value < min || value > max) this.#fail(`: ${what} out of range`)
    return value
  }

  #fraction(exact: boolean): number {
    if (exact) {
      if (!/^[.,]\d{6}/.test(this.#rest)) this.#cannotParse('.000000')
      return Number(this.#take(7).slice(1))
    }
    const digits = /^[.,](\d+)/.exec(this.#rest)
    if (digits) this.#take(digits[0].length)
    return digits ? Number(digits[1]!.slice(0, 6).padEnd(6, '0')) : 0
  }

  #zone(): number {
    if (this.#rest[0] === 'Z') {
      this.#take(1)
      return 0
    }
    const zone = /^([+-])(\d\d):(\d\d)/.exec(this.#rest) ?? this.#cannotParse('Z07:00')
    const hours = this.#inRange(Number(zone[2]), 0, 24, 'time zone offset hour')
    const minutes = this.#inRange(Number(zone[3]), 0, 60, 'time zone offset minute')
    this.#take(6)
    return (hours * 3600 + minutes * 60) * (zone[1] === '+' ? 1 : -1)
  }

  #take(count: number): string {
    const taken = this.#rest.slice(0, count)
    this.#rest = this.#rest.slice(count)
    return taken
  }

  #cannotParse(element: string): never {
    throw new TimeError(
      `parsing time ${quote(this.#text)} as ${quote(this.#layout)}: cannot parse ${quote(this.#rest)} as ${quote(element)}`,
    )
  }

  #fail(why: string): never {
    throw new TimeError(`parsing time ${quote(this.#text)}${why}`)
  }
}

const quote = (text: string): string => JSON.stringify(text)
