import { forbidden, isObject, messageOf, type StatusError } from '@crosstie/kube'
import { aggregate } from '../../access/rbac.js'
import type { AdmissionAttributes } from './attributes.js'
import { type Bind, type Budget, type CompileExpression, type Expression, OutOfBudget } from './expression.js'

interface Condition {
  readonly text: string
  readonly expression: Expression | { readonly broken: string }
}

export type Conditions = readonly Condition[]

/** The real server's limit for all match conditions of one webhook or policy. */
const BUDGET = 2_500_000

/** Compiles once; a condition that does not compile fails at every use instead. */
export function compileConditions(value: unknown, compile: CompileExpression, params: boolean): Conditions {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).map((condition) => {
    const text = String(condition['expression'])
    return { text, expression: compiled(text, compile, params) }
  })
}

function compiled(text: string, compile: CompileExpression, params: boolean): Condition['expression'] {
  try {
    return compile(text, { wanted: ['bool'], params, authorizer: true })
  } catch (error) {
    return { broken: `compilation error: ${messageOf(error)}` }
  }
}

export type Verdict = 'match' | 'skip' | { readonly error: string }

/** One false condition is enough to skip, whatever the others say; errors count only when none is false. */
export function evaluateConditions(conditions: Conditions, bind: Bind, failurePolicy: string): Verdict {
  const errors: string[] = []
  const budget: Budget = { left: BUDGET }
  for (const { text, expression } of conditions) {
    if ('broken' in expression) {
      errors.push(expression.broken)
      continue
    }
    try {
      if (expression.evaluate(bind, budget) === false) return 'skip'
    } catch (error) {
      if (error instanceof OutOfBudget) {
        errors.splice(0, errors.length, error.message)
        break
      }
      errors.push(`expression '${text}' resulted in error: ${messageOf(error)}`)
    }
  }
  if (errors.length === 0) return 'match'
  return failurePolicy === 'Ignore' ? 'skip' : { error: aggregate(errors) }
}

/** The 403 of a request whose conditions could not be evaluated. */
export function conditionError({ type, name }: AdmissionAttributes, error: string): StatusError {
  return forbidden(type, name, error)
}
