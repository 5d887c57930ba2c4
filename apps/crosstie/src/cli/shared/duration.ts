import { parseGoDuration } from '@crosstie/kube'
import { UsageError } from '../command.js'

const NANOSECONDS_PER_MILLISECOND = 1_000_000n

/** Parses a duration such as `90s`, `30m` or `1h` into milliseconds. Throws a usage error. */
export function durationOf(option: string, text: string, { zero = false } = {}): number {
  const duration = text === '0' ? 0n : parseGoDuration(text)
  if (duration === undefined || duration < (zero ? 0n : NANOSECONDS_PER_MILLISECOND)) {
    throw new UsageError(`${option} takes a duration such as 90s, 30m or 1h, not '${text}'`)
  }
  return Number(duration / NANOSECONDS_PER_MILLISECOND)
}
