import type { ExpressionEnvironment, Inputs } from '@crosstie/cel'
import { forbidden, isObject, type StatusError } from '@crosstie/kube'
import { aggregate } from '../../access/rbac.js'
import type { AdmissionAttributes } from './attributes.js'
import { type Budget, type Compiled, compileIn, evaluate, OutOfBudget } from './expressions.js'

/** The compiled matchConditions of a webhook or policy. */
export type Conditions = readonly Compiled[]

/** The cost limit of kube-apiserver for all match conditions of one webhook or policy. */
const BUDGET = 2_500_000

/** Compiles matchConditions. */
export function compileConditions(value: unknown, environment: ExpressionEnvironment): Conditions {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).map(({ expression }) => compileIn(environment, String(expression), ['bool']))
}

/** The result of matchConditions. */
export type Verdict = 'match' | 'skip' | { readonly error: string }

/** One false condition skips the webhook or policy. Errors count only when no condition is false. */
export function evaluateConditions(conditions: Conditions, inputs: Inputs, failurePolicy: string): Verdict {
  const errors: string[] = []
  const budget: Budget = { left: BUDGET }
  try {
    for (const condition of conditions) {
      const result = evaluate(condition, inputs, budget)
      if ('error' in result) errors.push(result.error)
      else if (result.value === false) return 'skip'
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    errors.splice(0, errors.length, error.message)
  }
  if (errors.length === 0) return 'match'
  return failurePolicy === 'Ignore' ? 'skip' : { error: aggregate(errors) }
}

/** Returns the 403 of a request whose conditions could not be evaluated. */
export function conditionError({ type, name }: AdmissionAttributes, error: string): StatusError {
  return forbidden(type, name, error)
}
