import { forbidden, isObject, messageOf } from '@crosstie/kube'
import { aggregate } from '../../access/rbac.js'
import type { AdmissionAttributes } from './attributes.js'

/** What an expression of a webhook or policy may speak of. */
export type Variables = Readonly<Record<string, unknown>>

/** A CEL expression, compiled. */
export interface Expression {
  /** Throws an error whose message is the evaluation's. */
  evaluate(variables: Variables): unknown
}

/** Compiles the expressions of admission. Throws an error whose message is the compiler's. */
export type CompileExpression = (expression: string, wanted: 'bool' | 'string' | 'any') => Expression

interface Condition {
  readonly name: string
  readonly expression: Expression | { readonly broken: string }
}

export type Conditions = readonly Condition[]

/** Compiles once; a condition that does not compile fails at every use instead. */
export function compileConditions(value: unknown, compile: CompileExpression): Conditions {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).map((condition) => ({
    name: String(condition['name']),
    expression: compiled(String(condition['expression']), compile),
  }))
}

function compiled(text: string, compile: CompileExpression): Condition['expression'] {
  try {
    return compile(text, 'bool')
  } catch (error) {
    return { broken: messageOf(error) }
  }
}

export type Verdict = 'match' | 'skip' | { readonly error: string }

/** One false condition is enough to skip, whatever the others say; errors count only when none is false. */
export function evaluateConditions(conditions: Conditions, variables: Variables, failurePolicy: string): Verdict {
  const errors: string[] = []
  for (const { expression } of conditions) {
    if ('broken' in expression) {
      errors.push(expression.broken)
      continue
    }
    try {
      if (expression.evaluate(variables) === false) return 'skip'
    } catch (error) {
      errors.push(messageOf(error))
    }
  }
  if (errors.length === 0) return 'match'
  return failurePolicy === 'Ignore' ? 'skip' : { error: aggregate(errors) }
}

/** The 403 of a request whose conditions could not be evaluated. */
export function conditionError({ type, name }: AdmissionAttributes, error: string): Error {
  return forbidden(type, name, error)
}
