/** Returns the age as kubectl prints it, such as `5m` or `3d4h`. Returns `<unknown>` for a missing or invalid time. */
export function since(time: unknown, now: number): string {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(then) ? '<unknown>' : humanDuration(now - then)
}

// Each row: the upper limit in seconds, the unit, and the next smaller unit, if it is printed.
const MINUTE = 60
const HOUR = 3600
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** Formats a duration with two digits of precision, by the rule of kubectl. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return split(seconds, MINUTE, 'm', 1, 's')
  if (seconds < 3 * HOUR) return `${Math.trunc(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return split(seconds, HOUR, 'h', MINUTE, 'm')
  if (seconds < 2 * DAY) return `${Math.trunc(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return split(seconds, DAY, 'd', HOUR, 'h')
  if (seconds < 2 * YEAR) return `${Math.trunc(seconds / DAY)}d`
  if (seconds < 8 * YEAR) return split(seconds, YEAR, 'y', DAY, 'd')
  return `${Math.trunc(seconds / YEAR)}y`
}

function split(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.trunc((seconds % unit) / smaller)
  const whole = `${Math.trunc(seconds / unit)}${name}`
  return rest === 0 ? whole : `${whole}${rest}${smallerName}`
}
