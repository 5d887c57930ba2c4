import type { Inputs } from '@crosstie/cel'
import type { Bindings } from '../webhooks/bindings.js'
import { evaluateConditions } from '../webhooks/conditions.js'
import { type Budget, type Compiled, evaluate, OutOfBudget } from '../webhooks/expressions.js'
import type { Policy, Validation } from './policy.js'

/** The cost limit of kube-apiserver for all expressions of one policy and one request. */
const BUDGET = 10_000_000
const MESSAGE_MAX = 5 * 1024

/** A failed validation of a policy. */
export interface Denial {
  /** The index of the validation in the policy. */
  readonly index: number
  readonly message: string
  readonly reason: string
}

/** The result of a policy for one request. */
export interface Evaluation {
  readonly denials: readonly Denial[]
  readonly annotations: readonly { readonly key: string; readonly value: string }[]
  /** Errors of audit annotations. They deny the request regardless of the actions of the binding. */
  readonly annotationErrors: readonly string[]
}

const NOTHING: Evaluation = { denials: [], annotations: [], annotationErrors: [] }

/** Evaluates a policy for one request and one parameter object. */
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
  const reported = messageExpression && evaluatedMessage(messageExpression, inputs, budget)
  return { index, message: reported || message || `failed expression: ${check.text.trim()}`, reason }
}

/** Returns the message of a messageExpression. Empty when it fails or has line breaks. */
function evaluatedMessage(expression: Compiled, inputs: Inputs, budget: Budget): string {
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
