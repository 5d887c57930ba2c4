import type { Inputs } from '@crosstie/cel'
import type { Bindings } from '../webhooks/bindings.js'
import { evaluateConditions } from '../webhooks/conditions.js'
import { type Budget, type Compiled, evaluate, OutOfBudget } from '../webhooks/expressions.js'
import type { Policy, Validation } from './policy.js'

/** The real server's limit for all expressions of one policy and one request. */
const BUDGET = 10_000_000
const MESSAGE_MAX = 5 * 1024

export interface Denial {
  /** Which of the policy's validations. */
  readonly index: number
  readonly message: string
  readonly reason: string
}

export interface Evaluation {
  readonly denials: readonly Denial[]
  readonly annotations: readonly { readonly key: string; readonly value: string }[]
  /** Annotations that could not be made; they deny whatever the binding's actions are. */
  readonly annotationErrors: readonly string[]
}

const NOTHING: Evaluation = { denials: [], annotations: [], annotationErrors: [] }

/** What a policy says to one request and one parameter object. */
export function evaluatePolicy(policy: Policy, bindings: Bindings): Evaluation {
  const failed = (message: string): Evaluation =>
    policy.failurePolicy === 'Ignore' ? NOTHING : { ...NOTHING, denials: [{ index: 0, message, reason: 'Invalid' }] }

  const inputs = policy.environment.inputs(bindings)
  const verdict = evaluateConditions(policy.conditions, inputs, policy.failurePolicy)
  if (verdict === 'skip') return NOTHING
  if (verdict !== 'match') return failed(verdict.error)

  const budget: Budget = { left: BUDGET }
  try {
    const denials = policy.validations
      .map((validation, index) => validate(policy, validation, index, inputs, budget))
      .filter((denial) => denial !== undefined)
    return { denials, ...annotate(policy, inputs) }
  } catch (error) {
    if (error instanceof OutOfBudget) return failed(error.message)
    throw error
  }
}

function validate(
  policy: Policy,
  { check, message, messageExpression, reason }: Validation,
  index: number,
  inputs: Inputs,
  budget: Budget,
): Denial | undefined {
  const result = evaluate(check, inputs, budget)
  if ('error' in result) {
    return policy.failurePolicy === 'Ignore' ? undefined : { index, message: result.error, reason: 'Invalid' }
  }
  if (result.value === true) return undefined
  const told = messageExpression && toldMessage(messageExpression, inputs, budget)
  return { index, message: told || message || `failed expression: ${check.text.trim()}`, reason }
}

/** Empty when the expression fails or its text does not fit on a line. */
function toldMessage(expression: Compiled, inputs: Inputs, budget: Budget): string {
  const result = evaluate(expression, inputs, budget)
  if ('error' in result || typeof result.value !== 'string') return ''
  const message = result.value.trim()
  return message.includes('\n') || Buffer.byteLength(message) > MESSAGE_MAX ? '' : message
}

function annotate(policy: Policy, inputs: Inputs): Pick<Evaluation, 'annotations' | 'annotationErrors'> {
  const budget: Budget = { left: BUDGET }
  const annotations: { key: string; value: string }[] = []
  const annotationErrors: string[] = []
  for (const { key, value } of policy.auditAnnotations) {
    const result = evaluate(value, inputs, budget)
    if ('error' in result) {
      if (policy.failurePolicy !== 'Ignore') annotationErrors.push(result.error)
    } else if (typeof result.value === 'string' && result.value.trim() !== '') {
      annotations.push({ key, value: result.value.trim() })
    }
  }
  return { annotations, annotationErrors }
}
