/** Reports whether the text is a date such as `2006-01-02`. */
export function isDate(text: string): boolean {
  return text.length === 10 && startsWithDate(text)
}

// Every condition carries times, so this check reads the digits directly.
function startsWithDate(text: string): boolean {
  if (text.charCodeAt(4) !== dash || text.charCodeAt(7) !== dash) return false
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  return year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

const dash = 45

/** Returns the number that the digits from start to end form, or a negative number if one of them is not a digit. */
function digits(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 48
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

/** Returns the number of days in a month, which counts from 1. */
export function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (month === 2) return leap ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Reports whether the text is an RFC 3339 time, as leniently as kube-apiserver: text after a second `t` is ignored. */
export function isDateTime(text: string): boolean {
  if (text.length === 20 && isPlainTime(text)) return startsWithDate(text)
  const [date, time] = text.toLowerCase().split('t')
  if (text.length < 4 || date === undefined || time === undefined || !isDate(date)) return false
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|([+-]\d{2}:\d{2}))$/.exec(time)
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}

/** Reports whether the text ends in `T15:04:05Z`, the form of all times that Kubernetes writes. */
function isPlainTime(text: string): boolean {
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':' || text[19] !== 'Z') return false
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59
}

const goDuration = /^[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/
const nanoseconds = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
])
const unit = /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/

/** Reports whether the text is a duration such as `1h30m` or `2 days`. */
export function isDuration(text: string): boolean {
  if (/^[-+]?0$/.test(text) || isGoDuration(text)) return true
  let known = false
  // The unit is optional in the pattern, so that it never backtracks over digits.
  for (const [, count, name] of text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]*)/g)) {
    if (name === '') continue
    if (exceedsInt64(count!)) return false
    if (unit.test(name!.toLowerCase())) known = true
  }
  return known
}

function exceedsInt64(count: string): boolean {
  const significant = count.replace(/^0+/, '')
  return significant.length > 19 || (significant.length === 19 && BigInt(significant) >= 2n ** 63n)
}

/** Reports whether the duration fits into 64 bits of nanoseconds, about 292 years. */
function isGoDuration(text: string): boolean {
  if (!goDuration.test(text)) return false
  let total = 0
  for (const [, count, name] of text.matchAll(/([\d.]+)([^\d.]+)/g)) total += Number(count) * nanoseconds.get(name!)!
  return total < 2 ** 63
}
