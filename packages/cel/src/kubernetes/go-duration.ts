const second = 1_000_000_000n
const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
}

/**
 * Parses a duration in Go's syntax, such as `1h30m` or `-1.5s`, into nanoseconds. Returns undefined for any other
 * text.
 */
export function parseGoDuration(text: string): bigint | undefined {
  const sign = text[0] === '-' ? -1n : 1n
  const body = text[0] === '-' || text[0] === '+' ? text.slice(1) : text
  if (body === '0') return 0n
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined
  let nanos = 0n
  for (const [, whole, fraction = '', unit] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = unitNanos[unit!]!
    nanos += BigInt(whole || '0') * scale
    if (fraction) nanos += (BigInt(fraction.slice(0, 18)) * scale) / 10n ** BigInt(Math.min(fraction.length, 18))
  }
  nanos *= sign
  return BigInt.asIntN(64, nanos) === nanos ? nanos : undefined
}
