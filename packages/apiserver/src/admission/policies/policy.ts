import { isObject, type KubeObject, messageOf } from '@crosstie/kube'
import { type Conditions, compileConditions } from '../webhooks/conditions.js'
import type { CompileExpression, Expression, ExpressionOptions } from '../webhooks/expression.js'
import { type Matcher, matcherOf } from '../webhooks/match.js'

/** An expression, or why there is none. */
export type Compiled = { readonly text: string } & ({ readonly expression: Expression } | { readonly broken: string })

export interface Validation {
  readonly check: Compiled
  readonly message: string
  readonly messageExpression: Compiled | undefined
  readonly reason: string
}

/** A ValidatingAdmissionPolicy, ready to be used. */
export interface Policy {
  readonly name: string
  readonly failurePolicy: string
  readonly matcher: Matcher
  readonly conditions: Conditions
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined
  readonly variables: ReadonlyMap<string, Compiled>
  readonly validations: readonly Validation[]
  readonly auditAnnotations: readonly { readonly key: string; readonly value: Compiled }[]
}

/** A ValidatingAdmissionPolicyBinding, ready to be used. */
export interface Binding {
  readonly name: string
  readonly policyName: string
  /** Absent: it adds no conditions of its own. */
  readonly matcher: Matcher | undefined
  readonly paramRef: Readonly<Record<string, unknown>> | undefined
  readonly actions: readonly string[]
}

/** Compiles everything once. An expression that does not compile fails whenever it would be used. */
export function compilePolicy(object: KubeObject, compile: CompileExpression): Policy {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const paramKind = isObject(spec['paramKind']) ? spec['paramKind'] : undefined
  const params = paramKind !== undefined
  const attemptTo = (text: unknown, options: Omit<ExpressionOptions, 'params'>): Compiled => {
    try {
      return { text: String(text), expression: compile(String(text), { ...options, params }) }
    } catch (error) {
      return { text: String(text), broken: messageOf(error) }
    }
  }

  const known = new Map<string, Expression | undefined>()
  const variables = new Map<string, Compiled>()
  for (const { name, expression } of itemsOf(spec['variables'])) {
    const compiled = attemptTo(expression, { wanted: [], authorizer: true, variables: new Map(known) })
    variables.set(String(name), compiled)
    known.set(String(name), 'expression' in compiled ? compiled.expression : undefined)
  }
  const validations = itemsOf(spec['validations']).map((fields) => ({
    check: attemptTo(fields['expression'], { wanted: ['bool'], authorizer: true, variables: known }),
    message: textOf(fields['message']).trim(),
    messageExpression: fields['messageExpression']
      ? attemptTo(fields['messageExpression'], { wanted: ['string'], authorizer: false, variables: known })
      : undefined,
    reason: textOf(fields['reason']) || 'Invalid',
  }))
  const auditAnnotations = itemsOf(spec['auditAnnotations']).map((fields) => ({
    key: textOf(fields['key']),
    value: attemptTo(fields['valueExpression'], { wanted: ['string', 'null'], authorizer: true, variables: known }),
  }))
  return {
    name: object.metadata.name ?? '',
    failurePolicy: spec['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    matcher: matcherOf(isObject(spec['matchConstraints']) ? spec['matchConstraints'] : {}),
    conditions: compileConditions(spec['matchConditions'], compile, params),
    paramKind: paramKind && { apiVersion: textOf(paramKind['apiVersion']), kind: textOf(paramKind['kind']) },
    variables,
    validations,
    auditAnnotations,
  }
}

export function bindingOf(object: KubeObject): Binding {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const resources = isObject(spec['matchResources']) ? spec['matchResources'] : undefined
  return {
    name: object.metadata.name ?? '',
    policyName: textOf(spec['policyName']),
    matcher: resources && bindingMatcher(resources),
    paramRef: isObject(spec['paramRef']) ? spec['paramRef'] : undefined,
    actions: Array.isArray(spec['validationActions']) ? spec['validationActions'].map(String) : [],
  }
}

/** A binding without rules narrows its policy by selectors alone. */
function bindingMatcher(resources: Readonly<Record<string, unknown>>): Matcher {
  const matcher = matcherOf(resources)
  if (matcher.rules.length > 0) return matcher
  const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*', '*'] }
  return { ...matcher, rules: [all] }
}

function itemsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
