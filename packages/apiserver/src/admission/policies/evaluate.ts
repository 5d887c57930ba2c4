import { messageOf } from '@crosstie/kube'
import { evaluateConditions } from '../webhooks/conditions.js'
import { type Bind, type Budget, OutOfBudget } from '../webhooks/expression.js'
import type { Compiled, Policy, Validation } from './policy.js'

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
export function evaluatePolicy(policy: Policy, outer: Bind): Evaluation {
  const failed = (message: string): Evaluation =>
    policy.failurePolicy === 'Ignore' ? NOTHING : { ...NOTHING, denials: [{ index: 0, message, reason: 'Invalid' }] }

  const verdict = evaluateConditions(policy.conditions, outer, policy.failurePolicy)
  if (verdict === 'skip') return NOTHING
  if (verdict !== 'match') return failed(verdict.error)

  const budget: Budget = { left: BUDGET }
  const bind = withVariables(policy, outer, budget)
  try {
    const denials = policy.validations
      .map((validation, index) => validate(policy, validation, index, bind, budget))
      .filter((denial) => denial !== undefined)
    return { denials, ...annotate(policy, outer) }
  } catch (error) {
    if (error instanceof OutOfBudget) return failed(error.message)
    throw error
  }
}

function validate(
  policy: Policy,
  { check, message, messageExpression, reason }: Validation,
  index: number,
  bind: Bind,
  budget: Budget,
): Denial | undefined {
  const result = run(check, bind, budget)
  if ('error' in result) {
    return policy.failurePolicy === 'Ignore' ? undefined : { index, message: result.error, reason: 'Invalid' }
  }
  if (result.value === true) return undefined
  const told = messageExpression && toldMessage(messageExpression, bind, budget)
  return { index, message: told || message || `failed expression: ${check.text.trim()}`, reason }
}

/** Empty when the expression fails or its text does not fit on a line. */
function toldMessage(expression: Compiled, bind: Bind, budget: Budget): string {
  const result = run(expression, bind, budget)
  if ('error' in result || typeof result.value !== 'string') return ''
  const message = result.value.trim()
  return message.includes('\n') || Buffer.byteLength(message) > MESSAGE_MAX ? '' : message
}

function annotate(policy: Policy, outer: Bind): Pick<Evaluation, 'annotations' | 'annotationErrors'> {
  const budget: Budget = { left: BUDGET }
  const bind = withVariables(policy, outer, budget)
  const annotations: { key: string; value: string }[] = []
  const annotationErrors: string[] = []
  for (const { key, value } of policy.auditAnnotations) {
    const result = run(value, bind, budget)
    if ('error' in result) {
      if (policy.failurePolicy !== 'Ignore') annotationErrors.push(result.error)
    } else if (typeof result.value === 'string' && result.value.trim() !== '') {
      annotations.push({ key, value: result.value.trim() })
    }
  }
  return { annotations, annotationErrors }
}

type Result = { readonly value: unknown } | { readonly error: string }

function run(compiled: Compiled, bind: Bind, budget: Budget): Result {
  if ('broken' in compiled) return { error: `compilation error: ${compiled.broken}` }
  try {
    return { value: compiled.expression.evaluate(bind, budget) }
  } catch (error) {
    if (error instanceof OutOfBudget) throw error
    return { error: `expression '${compiled.text}' resulted in error: ${messageOf(error)}` }
  }
}

/** `variables.x` is evaluated when first used, and then once for all expressions that use it. */
function withVariables({ variables }: Policy, outer: Bind, budget: Budget): Bind {
  if (variables.size === 0) return outer
  const known = new Map<string, unknown>()
  const bind: Bind = (name) => {
    if (!name.startsWith('variables.')) return outer(name)
    const variable = name.slice('variables.'.length)
    if (!known.has(variable)) known.set(variable, evaluated(variable))
    return known.get(variable)
  }
  const evaluated = (name: string): unknown => {
    const compiled = variables.get(name)
    if (!compiled) return null
    if ('broken' in compiled) throw new Error(`composited variable "${name}" fails to compile: ${compiled.broken}`)
    try {
      return compiled.expression.evaluate(bind, budget)
    } catch (error) {
      if (error instanceof OutOfBudget) throw error
      throw new Error(`composited variable "${name}" fails to evaluate: ${messageOf(error)}`)
    }
  }
  return bind
}
