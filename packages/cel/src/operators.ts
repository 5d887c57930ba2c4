import { type Frame, type Step, spend } from './attribute.js'
import { type CallCost, equalityCost } from './runtime-cost.js'
import {
  CelDouble,
  type CelList,
  CelOptional,
  CelUint,
  EvaluationError,
  equals,
  isInt,
  noSuchOverload,
  type Value,
} from './values.js'

/** Runs a step and returns its value or its evaluation error. Cost errors are thrown. */
export function attempt(step: Step, frame: Frame): Value | EvaluationError {
  try {
    return step(frame)
  } catch (error) {
    if (error instanceof EvaluationError) return error
    throw error
  }
}

/** Plans `&&` and `||`. The value `decisive` on either side determines the result, even if the other side fails. */
export function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const first = attempt(left, frame)
    if (first === decisive) return decisive
    const second = attempt(right, frame)
    if (second === decisive) return decisive
    for (const value of [first, second]) {
      if (value instanceof EvaluationError) throw value
      if (typeof value !== 'boolean') noSuchOverload()
    }
    return !decisive
  }
}

/** Plans `@not_strictly_false`: true unless the value is false. An error counts as true. */
export function notStrictlyFalse(run: Step): Step {
  return (frame) => {
    const value = attempt(run, frame)
    spend(frame, 1)
    return value !== false
  }
}

/** Plans `==` or `!=`. */
export function equality(left: Step, right: Step, negated: boolean): Step {
  return (frame) => {
    const x = attempt(left, frame)
    const y = attempt(right, frame)
    if (x instanceof EvaluationError || y instanceof EvaluationError) {
      const sized = (value: Value | EvaluationError) => (value instanceof EvaluationError ? null : value)
      spend(frame, equalityCost(sized(x), sized(y), true))
      throw x instanceof EvaluationError ? x : y
    }
    spend(frame, equalityCost(x, y, negated))
    if (!negated) return equals(x, y)
    try {
      return !equals(x, y)
    } catch (error) {
      // cel-go treats every result but true as unequal.
      if (error instanceof EvaluationError) return true
      throw error
    }
  }
}

/** Plans `or` and `orValue` of optionals. */
export function optionalOr(left: Step, right: Step, unwrap: boolean): Step {
  return (frame) => {
    const value = left(frame)
    if (!(value instanceof CelOptional)) return value
    if (value.value === undefined) return right(frame)
    return unwrap ? value.value : value
  }
}

/** Plans `x in [constants]` as a lookup without cost. Returns undefined if the constants do not allow that. */
export function setMembership(item: Step, list: CelList): Step | undefined {
  const keys = list.values().map(setKey)
  if (keys.includes(undefined)) return undefined
  const set = new Set(keys)
  return (frame) => set.has(setKey(item(frame)))
}

function setKey(value: Value): string | number | bigint | boolean | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || isInt(value)) return value
  if (value instanceof CelUint) {
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value
  }
  return value instanceof CelDouble && !Number.isNaN(value.value) ? value.value : undefined
}

/** Plans a function call. It costs the same whether it fails or not. */
export function invocation(run: (...args: Value[]) => Value, args: readonly Step[], cost: CallCost): Step {
  const [a, b] = args as [Step, Step]
  if (args.length === 1) return unary(run, a, cost)
  if (args.length === 2) return binary(run, a, b, cost)
  return variadic(run, args, cost)
}

/** Plans a call that evaluates its arguments in order. */
export function variadic(run: (...args: Value[]) => Value, args: readonly Step[], cost: CallCost): Step {
  return (frame) => {
    const values: Value[] = []
    for (let i = 0; i < args.length; i++) {
      const value = attempt(args[i]!, frame)
      if (value instanceof EvaluationError) {
        // A failure before the last argument ends the call before it is charged.
        if (i === args.length - 1) spend(frame, chargeFor(cost, [...values, null], null))
        throw value
      }
      values.push(value)
    }
    return call(frame, () => run(...values), values, cost)
  }
}

function unary(run: (arg: Value) => Value, arg: Step, cost: CallCost): Step {
  return (frame) => {
    const value = attempt(arg, frame)
    if (value instanceof EvaluationError) {
      spend(frame, chargeFor(cost, [null], null))
      throw value
    }
    if (typeof cost !== 'number') return call(frame, () => run(value), [value], cost)
    try {
      return run(value)
    } finally {
      spend(frame, cost)
    }
  }
}

function binary(run: (a: Value, b: Value) => Value, left: Step, right: Step, cost: CallCost): Step {
  return (frame) => {
    const x = attempt(left, frame)
    const y = attempt(right, frame)
    if (x instanceof EvaluationError || y instanceof EvaluationError) {
      const sized = [x, y].map((value) => (value instanceof EvaluationError ? null : value))
      spend(frame, chargeFor(cost, sized, null))
      throw x instanceof EvaluationError ? x : y
    }
    if (typeof cost !== 'number') return call(frame, () => run(x, y), [x, y], cost)
    try {
      return run(x, y)
    } finally {
      spend(frame, cost)
    }
  }
}

function call(frame: Frame, run: () => Value, args: readonly Value[], cost: CallCost): Value {
  let result: Value = null
  try {
    result = run()
    return result
  } finally {
    spend(frame, chargeFor(cost, args, result))
  }
}

function chargeFor(cost: CallCost, args: readonly Value[], result: Value): number {
  return typeof cost === 'number' ? cost : cost(args, result)
}
