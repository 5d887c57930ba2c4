import type { Json } from '@crosstie/kube'

const named = new Map<string, Json>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
])

const INT64_MIN = -(2n ** 63n)
const UINT64_MAX = 2n ** 64n - 1n
const floatPattern = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const timestampPattern =
  /^\d{4}-\d{1,2}-\d{1,2}([Tt]\d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?(Z|[+-]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?)?$/

/**
 * Returns the value of a plain scalar: YAML 1.1 as go-yaml reads it, so `yes` is true and `0777` is 511. Times stay
 * text.
 */
export function resolvePlain(text: string): Json {
  if (named.has(text)) return named.get(text)!
  const first = text[0]!
  if (first === '.') return parseFloat64(text) ?? text
  if (!/[-+0-9]/.test(first) || isTimestamp(text)) return text
  const digits = text.replaceAll('_', '')
  const integer = parseInteger(digits)
  if (integer !== undefined) return integer
  return parseFloat64(digits) ?? text
}

function parseFloat64(text: string): number | undefined {
  const value = floatPattern.test(text) ? Number(text) : Number.NaN
  // JSON would lose the sign of negative zero.
  return Number.isFinite(value) ? (value === 0 ? 0 : value) : undefined
}

function isTimestamp(text: string): boolean {
  if (!timestampPattern.test(text)) return false
  const [year, month, day, hour = 0, minute = 0, second = 0] = text.split(/\D/).map(Number) as number[]
  const days = new Date(Date.UTC(2000 + (year! % 400), month!, 0)).getUTCDate()
  return month! >= 1 && month! <= 12 && day! >= 1 && day! <= days && hour < 24 && minute < 60 && second < 60
}

function parseInteger(text: string): number | bigint | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/.exec(text)
  if (!match) return undefined
  const [, sign, body] = match as unknown as [string, string, string]
  const octal = /^0[0-7]+$/.test(body)
  const magnitude = BigInt(octal ? `0o${body.slice(1)}` : body.toLowerCase())
  const value = sign === '-' ? -magnitude : magnitude
  if (value < INT64_MIN || value > UINT64_MAX) return undefined
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  // JSON decoders read integers beyond int64 as floats.
  return value >= 2n ** 63n ? number : value
}

const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/**
 * Whether a reader takes the plain text as itself, and not as a number, boolean, time or merge key. go-yaml does
 * not check the last.
 */
export function readsAsText(text: string): boolean {
  return text !== '<<' && !isTimestamp(text) && resolvePlain(text) === text && !base60.test(text)
}
