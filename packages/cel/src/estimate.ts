/** A minimum and a maximum, of elements or of cost units. Sums and products saturate at the maximum uint64. */
export interface Estimate {
  readonly min: bigint
  readonly max: bigint
}

/** The maximum uint64, which stands for an unbounded number. */
export const unlimited = 2n ** 64n - 1n

/** Returns the smaller number. */
export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

/** Returns the larger number. */
export function larger(a: bigint, b: bigint): bigint {
  if (a > b) return a
  return b
}

/** Returns the estimate whose minimum and maximum are the value. */
export const fixed = (value: bigint | number): Estimate => ({ min: BigInt(value), max: BigInt(value) })
/** The estimate of exactly 0. */
export const zero: Estimate = fixed(0)
/** The estimate of exactly 1. */
export const one: Estimate = fixed(1)
/** The estimate of an unbounded number. */
export const unknown: Estimate = { min: 0n, max: unlimited }

/** Limits a number to the maximum uint64. */
export const cap = (value: bigint) => smaller(value, unlimited)

/** Adds estimates. */
export function plus(...parts: readonly Estimate[]): Estimate {
  let { min, max } = zero
  for (const part of parts) {
    min = cap(min + part.min)
    max = cap(max + part.max)
  }
  return { min, max }
}

/** Multiplies two estimates. */
export function times(a: Estimate, b: Estimate): Estimate {
  return { min: cap(a.min * b.min), max: cap(a.max * b.max) }
}

/** Multiplies by a factor and rounds up. Computes in doubles, as the estimator of Kubernetes does. */
export function scale(a: Estimate, factor: number): Estimate {
  return { min: scaleOne(a.min, factor), max: scaleOne(a.max, factor) }
}

function scaleOne(value: bigint, factor: number): bigint {
  const scaled = Math.ceil(Number(value) * factor)
  return scaled >= 2 ** 64 ? unlimited : BigInt(scaled)
}

/** Returns the smallest estimate that includes both. */
export function cover(a: Estimate, b: Estimate): Estimate {
  return { min: smaller(a.min, b.min), max: larger(a.max, b.max) }
}
