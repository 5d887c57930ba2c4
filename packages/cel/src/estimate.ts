/** A least and a greatest number, of elements or of cost units. Sums and products stop at the greatest uint64. */
export interface Estimate {
  readonly min: bigint
  readonly max: bigint
}

export const unlimited = 2n ** 64n - 1n

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

export function larger(a: bigint, b: bigint): bigint {
  if (a > b) return a
  return b
}

export const fixed = (value: bigint | number): Estimate => ({ min: BigInt(value), max: BigInt(value) })
export const zero: Estimate = fixed(0)
export const one: Estimate = fixed(1)
export const unknown: Estimate = { min: 0n, max: unlimited }

/** No more than a uint64 holds. */
export const cap = (value: bigint) => smaller(value, unlimited)

export function plus(...parts: readonly Estimate[]): Estimate {
  let { min, max } = zero
  for (const part of parts) {
    min = cap(min + part.min)
    max = cap(max + part.max)
  }
  return { min, max }
}

export function times(a: Estimate, b: Estimate): Estimate {
  return { min: cap(a.min * b.min), max: cap(a.max * b.max) }
}

/** Rounded up; computed in doubles, as the real estimator does. */
export function scale(a: Estimate, factor: number): Estimate {
  return { min: scaleOne(a.min, factor), max: scaleOne(a.max, factor) }
}

function scaleOne(value: bigint, factor: number): bigint {
  const scaled = Math.ceil(Number(value) * factor)
  return scaled >= 2 ** 64 ? unlimited : BigInt(scaled)
}

/** The smallest estimate that covers both. */
export function cover(a: Estimate, b: Estimate): Estimate {
  return { min: smaller(a.min, b.min), max: larger(a.max, b.max) }
}
