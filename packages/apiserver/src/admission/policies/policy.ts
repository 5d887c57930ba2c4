import type { ExpressionEnvironment } from '@crosstie/cel'
import { isObject, type KubeObject } from '@crosstie/kube'
import { type Conditions, compileConditions } from '../webhooks/conditions.js'
import { type Compiled, compileIn, environmentFor } from '../webhooks/expressions.js'
import { type Matcher, matcherOf } from '../webhooks/match.js'

/** One validation of a policy. */
export interface Validation {
  readonly check: Compiled
  readonly message: string
  readonly messageExpression: Compiled | undefined
  readonly reason: string
}

/** A compiled ValidatingAdmissionPolicy. */
export interface Policy {
  readonly name: string
  readonly failurePolicy: string
  readonly matcher: Matcher
  readonly conditions: Conditions
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined
  /** Declares the variables of the policy. */
  readonly environment: ExpressionEnvironment
  readonly validations: readonly Validation[]
  readonly auditAnnotations: readonly { readonly key: string; readonly value: Compiled }[]
}

/** A compiled ValidatingAdmissionPolicyBinding. */
export interface Binding {
  readonly name: string
  readonly policyName: string
  /** Absent when the binding adds no conditions. */
  readonly matcher: Matcher | undefined
  readonly paramRef: Readonly<Record<string, unknown>> | undefined
  readonly actions: readonly string[]
}

/** Compiles all expressions. An expression that does not compile fails at evaluation. */
export function compilePolicy(object: KubeObject): Policy {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const paramKind = isObject(spec['paramKind']) ? spec['paramKind'] : undefined
  const plain = environmentFor(paramKind !== undefined, true, true)
  let environment = plain
  for (const { name, expression } of itemsOf(spec['variables'])) {
    environment = environment.compose(String(name), String(expression)).environment
  }
  const validations = itemsOf(spec['validations']).map((fields) => ({
    check: compileIn(environment, textOf(fields['expression']), ['bool']),
    message: textOf(fields['message']).trim(),
    messageExpression: fields['messageExpression']
      ? compileIn(environment, textOf(fields['messageExpression']), ['string'])
      : undefined,
    reason: textOf(fields['reason']) || 'Invalid',
  }))
  const auditAnnotations = itemsOf(spec['auditAnnotations']).map((fields) => ({
    key: textOf(fields['key']),
    value: compileIn(environment, textOf(fields['valueExpression']), ['string', 'null_type']),
  }))
  return {
    name: object.metadata.name ?? '',
    failurePolicy: spec['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    matcher: matcherOf(isObject(spec['matchConstraints']) ? spec['matchConstraints'] : {}),
    conditions: compileConditions(spec['matchConditions'], plain),
    paramKind: paramKind && { apiVersion: textOf(paramKind['apiVersion']), kind: textOf(paramKind['kind']) },
    environment,
    validations,
    auditAnnotations,
  }
}

/** Reads a ValidatingAdmissionPolicyBinding. */
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

/** A binding without rules narrows its policy by selectors only. */
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
