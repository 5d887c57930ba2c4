import { floorDivide } from './arithmetic.js'
import { parseGoDuration } from './kubernetes/go-duration.js'
import { type CelDuration, CelTimestamp, fail } from './values.js'

export { parseGoDuration } from './kubernetes/go-duration.js'

const second = 1_000_000_000n

const looseUnits: readonly (readonly [bigint, readonly string[]])[] = [
  [1n, ['ns', 'nano']],
  [1000n, ['us', 'µs', 'micro']],
  [1_000_000n, ['ms', 'milli']],
  [second, ['s', 'sec']],
  [60n * second, ['m', 'min']],
  [3600n * second, ['h', 'hr', 'hour']],
  [86400n * second, ['d', 'day']],
  [604800n * second, ['w', 'wk', 'week']],
]

/** Parses a duration as schemas with `format: duration` accept it: Go's syntax, or words such as `3 days`. */
export function parseFormatDuration(text: string): bigint | undefined {
  const exact = parseGoDuration(text)
  if (exact !== undefined) return exact
  let nanos = 0n
  let found = false
  for (const [, factor, word] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = word!.toLowerCase()
    for (const [scale, variants] of looseUnits) {
      variants.forEach((variant, i) => {
        if (unit !== variant && !(i === variants.length - 1 && unit.startsWith(variant))) return
        found = true
        nanos += BigInt(factor!) * scale
      })
    }
  }
  return found ? BigInt.asIntN(64, nanos) : undefined
}

/** Formats a duration as `3600.5s`. */
export function formatDuration(duration: CelDuration): string {
  const seconds = Number(duration.nanos / second) + Number(duration.nanos % second) / 1e9
  return `${plainNumber(seconds)}s`
}

/** Formats a number without an exponent, with the fewest digits that identify it. */
function plainNumber(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!match) return text
  const [, sign, head, tail = '', exponent] = match
  const digits = head! + tail
  const point = 1 + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length)
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

const timestampPattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/

/** Parses an RFC 3339 time. Returns undefined for any other text. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = timestampPattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, sec, fraction = '', sign, zoneHour, zoneMinute] = match
  const millis = daysToMillis(Number(year), Number(month), Number(day))
  if (millis === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(sec) > 59) return undefined
  if (sign && (Number(zoneHour) > 24 || Number(zoneMinute) > 59)) return undefined
  const offset = sign ? (sign === '-' ? -1 : 1) * (Number(zoneHour) * 3600 + Number(zoneMinute) * 60) : 0
  const seconds = millis / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(sec) - offset
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'))
  return new CelTimestamp(BigInt(seconds) * second + nanos, offset)
}

/** Parses a date as schemas with `format: date` accept it. */
export function parseDate(text: string): CelTimestamp | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  const millis = match ? daysToMillis(Number(match[1]), Number(match[2]), Number(match[3])) : undefined
  return millis === undefined ? undefined : new CelTimestamp(BigInt(millis) * 1_000_000n)
}

/** Parses a time as schemas with `format: date-time` accept it. */
export function parseFormatDateTime(text: string): CelTimestamp | undefined {
  if (text === '') return new CelTimestamp(0n)
  return parseTimestamp(text) ?? parseTimestamp(`${text}Z`)
}

function daysToMillis(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  return date.getTime()
}

const pad = (value: number, width: number) => String(value).padStart(width, '0')

/** Formats a time as RFC 3339 in its original zone, with as many fraction digits as needed. */
export function formatTimestamp(timestamp: CelTimestamp, offsetSeconds = timestamp.offsetSeconds): string {
  const seconds = floorDivide(timestamp.nanos, second)
  const nanos = timestamp.nanos - seconds * second
  const date = new Date((Number(seconds) + offsetSeconds) * 1000)
  const day = `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1, 2)}-${pad(date.getUTCDate(), 2)}`
  const time = `${pad(date.getUTCHours(), 2)}:${pad(date.getUTCMinutes(), 2)}:${pad(date.getUTCSeconds(), 2)}`
  const fraction = nanos === 0n ? '' : `.${pad(Number(nanos), 9).replace(/0+$/, '')}`
  if (offsetSeconds === 0) return `${day}T${time}${fraction}Z`
  const minutes = Math.trunc(Math.abs(offsetSeconds) / 60)
  const zone = `${offsetSeconds < 0 ? '-' : '+'}${pad(Math.trunc(minutes / 60), 2)}:${pad(minutes % 60, 2)}`
  return `${day}T${time}${fraction}${zone}`
}

/** Converts a time to a zone. Returns a Date whose UTC fields are the local ones. */
export function localTime(timestamp: CelTimestamp, zone: string): Date {
  const millis = Number(floorDivide(timestamp.nanos, 1_000_000n))
  return new Date(millis + zoneOffsetMinutes(millis, zone) * 60_000)
}

function zoneOffsetMinutes(millis: number, zone: string): number {
  if (zone === '' || zone === 'UTC') return 0
  const colon = zone.indexOf(':')
  if (colon >= 0) {
    const hours = atoi(zone.slice(0, colon))
    const minutes = atoi(zone.slice(colon + 1))
    return zone[0] === '-' ? hours * 60 - minutes : hours * 60 + minutes
  }
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    const name = format.formatToParts(new Date(millis)).find((part) => part.type === 'timeZoneName')?.value ?? ''
    const match = /GMT([+-])(\d{2}):(\d{2})/.exec(name)
    return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) : 0
  } catch {
    return fail(`unknown time zone ${zone}`)
  }
}

function atoi(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) fail(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}
