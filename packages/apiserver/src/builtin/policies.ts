import { append, equal, type FieldError, fieldErrors, isObject, type KubeObject } from '@crosstie/kube'
import type { Definition, WriteContext } from '../definitions/definition.js'
import {
  type ExpressionCheck,
  type ExpressionScope,
  expressionErrors,
  type MatchCondition,
  matchConditionErrors,
  namedRuleErrors,
  oneOf,
  type RuleWithOperations,
} from './admission-rules.js'
import { ageColumn, column, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'
import {
  dns1035LabelErrors,
  dnsSubdomainErrors,
  labelSelectorErrors,
  pathSegmentErrors,
  qualifiedName,
} from './names.js'
import { withScope } from './webhooks.js'

interface MatchResources {
  readonly namespaceSelector?: unknown
  readonly objectSelector?: unknown
  readonly resourceRules?: readonly RuleWithOperations[]
  readonly excludeResourceRules?: readonly RuleWithOperations[]
  readonly matchPolicy?: string
}

interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string }
  readonly matchConstraints?: MatchResources
  readonly validations?: readonly Validation[]
  readonly failurePolicy?: string
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[]
  readonly matchConditions?: readonly MatchCondition[]
  readonly variables?: readonly { readonly name: string; readonly expression: string }[]
}

interface Validation {
  readonly expression: string
  readonly message?: string
  readonly reason?: string
  readonly messageExpression?: string
}

interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: {
    readonly name?: string
    readonly namespace?: string
    readonly selector?: unknown
    readonly parameterNotFoundAction?: string
  }
  readonly matchResources?: MatchResources
  readonly validationActions?: readonly string[]
}

const specOf = <T>(object: KubeObject): T => (object['spec'] ?? {}) as T

/** ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding. */
export function policyKinds(check: ExpressionCheck): Definition[] {
  return [policyKind(check), bindingKind()]
}

const strategy = {
  generation: 'onChange',
  unconditionalUpdate: false,
  createOnUpdate: false,
  nameRule: 'dnsSubdomain',
} as const

function policyKind(check: ExpressionCheck): Definition {
  const paramKind = (policy: KubeObject) => {
    const kind = specOf<PolicySpec>(policy).paramKind
    return kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : '<unset>'
  }
  return defineKind({
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    model: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
    namespaced: false,
    categories: ['api-extensions'],
    subresources: { status: true },
    columns: [
      nameColumn,
      column(
        'Validations',
        'integer',
        'How many validations the policy has.',
        (policy) => specOf<PolicySpec>(policy).validations?.length ?? 0,
      ),
      column('ParamKind', 'string', 'The kind of the parameters the policy takes.', paramKind),
      ageColumn,
    ],
    defaults(policy) {
      const spec = policy['spec'] as Draft
      spec['failurePolicy'] ??= 'Fail'
      if (spec['matchConstraints']) spec['matchConstraints'] = matchDefaults(spec['matchConstraints'])
    },
    strategy: {
      ...strategy,
      resets: { '': [['status']], status: [['metadata'], ['spec']] },
      prepare: preparePolicy,
      validate: (policy, old, { subresource }) =>
        subresource === 'status' ? statusErrors(policy) : policyErrors(policy, old, check),
    },
  })
}

function preparePolicy(policy: Draft, old: KubeObject | undefined, { subresource }: WriteContext): void {
  if (!old) policy['status'] = {}
  else if (subresource === 'status') policy['spec'] = old['spec']
  else policy['status'] = old['status']
}

function statusErrors(policy: KubeObject): FieldError[] {
  const status = isObject(policy['status']) ? policy['status'] : {}
  const checking = isObject(status['typeChecking']) ? status['typeChecking'] : {}
  const warnings = (checking['expressionWarnings'] ?? []) as readonly { fieldRef: string; warning: string }[]
  return warnings.flatMap(({ fieldRef, warning }, i) => {
    const field = `status.typeChecking.expressionWarnings[${i}]`
    return [
      ...(warning === '' ? [fieldErrors.required(`${field}.warning`)] : []),
      ...(fieldRef.trim() === '' ? [fieldErrors.required(`${field}.fieldRef`)] : []),
    ]
  })
}

function matchDefaults(match: unknown): MatchResources {
  const { namespaceSelector, objectSelector, resourceRules, excludeResourceRules, matchPolicy } =
    match as MatchResources
  return {
    namespaceSelector: namespaceSelector ?? {},
    objectSelector: objectSelector ?? {},
    ...(resourceRules ? { resourceRules: resourceRules.map(withScope) } : {}),
    ...(excludeResourceRules ? { excludeResourceRules: excludeResourceRules.map(withScope) } : {}),
    matchPolicy: matchPolicy ?? 'Equivalent',
  }
}

function policyErrors(policy: KubeObject, old: KubeObject | undefined, check: ExpressionCheck): FieldError[] {
  const spec = specOf<PolicySpec>(policy)
  const before = old && specOf<PolicySpec>(old)
  const { paramKind, matchConstraints, matchConditions = [] } = spec
  const errors: FieldError[] = []
  if (spec.failurePolicy === undefined) errors.push(fieldErrors.required('spec.failurePolicy'))
  else append(errors, oneOf(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy'))
  if (paramKind) append(errors, paramKindErrors(paramKind, 'spec.paramKind'))
  if (!matchConstraints) errors.push(fieldErrors.required('spec.matchConstraints'))
  else {
    append(errors, matchErrors(matchConstraints, 'spec.matchConstraints'))
    if (!matchConstraints.resourceRules?.length) {
      errors.push(fieldErrors.required('spec.matchConstraints.resourceRules'))
    }
  }
  const unchanged = before && equal(paramKind, before.paramKind) && equal(matchConditions, before.matchConditions ?? [])
  if (!unchanged) {
    append(errors, matchConditionErrors(matchConditions, 'spec.matchConditions', paramKind !== undefined, check))
  }
  return [...errors, ...variableErrors(spec, check), ...bodyErrors(policy, spec, check)]
}

function variableErrors({ variables = [], paramKind }: PolicySpec, check: ExpressionCheck): FieldError[] {
  return variables.flatMap(({ name, expression }, i) => {
    const field = `spec.variables[${i}]`
    const scope = { params: paramKind !== undefined, authorizer: true, variables: variables.slice(0, i) }
    return [
      ...(name.trim() === ''
        ? [fieldErrors.required(`${field}.name`, 'name is not specified')]
        : isIdentifier(name)
          ? []
          : [fieldErrors.invalid(`${field}.name`, name, 'must be a valid CEL identifier')]),
      ...expressionErrors(expression, 'variable', scope, `${field}.expression`, check, 'expression is not specified'),
    ]
  })
}

const reserved = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var
   void while`.split(/\s+/),
)
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name)

const ANNOTATIONS_MAX = 20
const VALUE_EXPRESSION_MAX = 5 * 1024

function bodyErrors(policy: KubeObject, spec: PolicySpec, check: ExpressionCheck): FieldError[] {
  const { validations = [], auditAnnotations = [], variables = [], paramKind } = spec
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const words = 'validations or auditAnnotations must contain at least one item'
    return [fieldErrors.required('spec.validations', words), fieldErrors.required('spec.auditAnnotations', words)]
  }
  const scope = { params: paramKind !== undefined, authorizer: true, variables }
  const errors = validations.flatMap((one, i) => validationErrors(one, `spec.validations[${i}]`, scope, check))
  if (auditAnnotations.length > ANNOTATIONS_MAX) {
    const words = `must not have more than ${ANNOTATIONS_MAX} auditAnnotations`
    // kube-apiserver prints its internal type, with Go field names.
    const shown = auditAnnotations.map((one) => ({ Key: one.key, ValueExpression: one.valueExpression }))
    errors.push(fieldErrors.invalid('spec.auditAnnotations', shown, words))
  }
  const keys = new Set<string>()
  auditAnnotations.forEach(({ key, valueExpression }, i) => {
    const field = `spec.auditAnnotations[${i}]`
    const { name } = policy.metadata
    if (name) append(errors, qualifiedName(`${name}/${key}`, `${field}.key`))
    else errors.push(fieldErrors.invalid(`${field}.key`, key, 'requires metadata.name be non-empty'))
    append(errors, annotationErrors(valueExpression, `${field}.valueExpression`, scope, check))
    if (keys.has(key)) errors.push(fieldErrors.duplicate(`${field}.key`, key))
    keys.add(key)
  })
  return errors
}

function annotationErrors(text: string, field: string, scope: ExpressionScope, check: ExpressionCheck): FieldError[] {
  const expression = text.trim()
  if (Buffer.byteLength(expression) > VALUE_EXPRESSION_MAX) {
    return [fieldErrors.required(field, `must not exceed ${VALUE_EXPRESSION_MAX} bytes in length`)]
  }
  return expressionErrors(expression, 'auditAnnotation', scope, field, check, 'valueExpression is not specified')
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function validationErrors(
  { expression, message = '', messageExpression = '', reason }: Validation,
  field: string,
  scope: ExpressionScope,
  check: ExpressionCheck,
): FieldError[] {
  const at = `${field}.expression`
  const errors = expressionErrors(expression, 'validation', scope, at, check, 'expression is not specified')
  if (messageExpression !== '') {
    const messageScope = { ...scope, params: scope.params, authorizer: false }
    append(errors, messageExpressionErrors(messageExpression, `${field}.messageExpression`, messageScope, check))
  }
  if (message !== '' && message.trim() === '') {
    errors.push(fieldErrors.invalid(`${field}.message`, message, 'must be non-empty if specified'))
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(fieldErrors.invalid(`${field}.message`, message, 'must not contain line breaks'))
  }
  return [...errors, ...oneOf(reason, reasons, `${field}.reason`)]
}

function messageExpressionErrors(
  expression: string,
  field: string,
  scope: ExpressionScope,
  check: ExpressionCheck,
): FieldError[] {
  if (expression.trim() === '') return [fieldErrors.invalid(field, expression, 'must be non-empty if specified')]
  return expressionErrors(expression, 'message', scope, field, check, '')
}

function paramKindErrors(
  { apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string },
  field: string,
): FieldError[] {
  const errors =
    apiVersion === ''
      ? [fieldErrors.required(`${field}.apiVersion`)]
      : apiVersionErrors(apiVersion, `${field}.apiVersion`)
  if (kind === '') errors.push(fieldErrors.required(`${field}.kind`))
  else {
    const faults = dns1035LabelErrors(kind.toLowerCase())
    if (faults.length > 0) {
      const words = `may have mixed case, but should otherwise match: ${faults.join(',')}`
      errors.push(fieldErrors.invalid(`${field}.kind`, kind, words))
    }
  }
  return errors
}

function apiVersionErrors(apiVersion: string, field: string): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    return [fieldErrors.invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  }
  const version = parts.at(-1)!
  const group = parts.length === 2 ? parts[0]! : ''
  const errors: FieldError[] = []
  const groupFaults = group === '' ? [] : dnsSubdomainErrors(group)
  if (groupFaults.length > 0) errors.push(fieldErrors.invalid(field, group, groupFaults.join(',')))
  const versionFaults = version === '' ? [] : dns1035LabelErrors(version)
  if (version === '') errors.push(fieldErrors.invalid(field, apiVersion, 'version must be specified'))
  else if (versionFaults.length > 0) errors.push(fieldErrors.invalid(field, version, versionFaults.join(',')))
  return errors
}

function matchErrors(match: MatchResources, field: string): FieldError[] {
  const named = (rules: readonly RuleWithOperations[] | undefined, name: string) =>
    (rules ?? []).flatMap((rule, i) => namedRuleErrors(rule, `${field}.${name}[${i}]`))
  return [
    ...oneOf(match.matchPolicy, ['Equivalent', 'Exact'], `${field}.matchPolicy`),
    ...labelSelectorErrors(match.namespaceSelector, `${field}.namespaceSelector`),
    ...labelSelectorErrors(match.objectSelector, `${field}.objectSelector`),
    ...named(match.resourceRules, 'resourceRules'),
    ...named(match.excludeResourceRules, 'excludeResourceRules'),
  ]
}

function bindingKind(): Definition {
  return defineKind({
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    model: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    namespaced: false,
    categories: ['api-extensions'],
    columns: [
      nameColumn,
      column('PolicyName', 'string', 'The policy that is bound.', (o) => specOf<BindingSpec>(o).policyName ?? ''),
      column('ParamRef', 'string', 'Where its parameters are.', paramRefText),
      ageColumn,
    ],
    defaults(binding) {
      const spec = binding['spec'] as Draft
      if (spec['matchResources']) spec['matchResources'] = matchDefaults(spec['matchResources'])
    },
    strategy: { ...strategy, validate: bindingErrors },
  })
}

function paramRefText(binding: KubeObject): string {
  const { paramRef } = specOf<BindingSpec>(binding)
  if (!paramRef) return '<unset>'
  if (paramRef.name) return `${paramRef.namespace || '*'}/${paramRef.name}`
  return isObject(paramRef.selector) ? goSelector(paramRef.selector) : '<unset>'
}

/** Prints a LabelSelector as Go does. */
function goSelector({ matchLabels = {}, matchExpressions = [] }: Draft): string {
  const labels = Object.entries(matchLabels as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))
  const expressions = matchExpressions as readonly { key: string; operator: string; values?: readonly string[] }[]
  const requirement = ({ key, operator, values = [] }: (typeof expressions)[number]) =>
    `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map(requirement).join('')}},}`
}

function bindingErrors(binding: KubeObject): FieldError[] {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = specOf<BindingSpec>(binding)
  const errors: FieldError[] = policyName === '' ? [fieldErrors.required('spec.policyName')] : []
  if (policyName !== '') {
    for (const message of dnsSubdomainErrors(policyName)) {
      errors.push(fieldErrors.invalid('spec.policyName', policyName, message))
    }
  }
  if (paramRef) append(errors, paramRefErrors(paramRef))
  if (matchResources) append(errors, matchErrors(matchResources, 'spec.matchResources'))
  return [...errors, ...actionErrors(validationActions)]
}

function paramRefErrors({
  name = '',
  selector,
  parameterNotFoundAction: action,
}: NonNullable<BindingSpec['paramRef']>): FieldError[] {
  const field = 'spec.paramRef'
  const errors = pathSegmentErrors(name).map((message) => fieldErrors.invalid(`${field}.name`, name, message))
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '' && selector) errors.push(fieldErrors.forbidden(`${field}.name`, exclusive))
  if (selector) append(errors, labelSelectorErrors(selector, `${field}.selector`))
  if (name !== '' && selector) errors.push(fieldErrors.forbidden(`${field}.selector`, exclusive))
  if (name === '' && !selector) errors.push(fieldErrors.required(field, 'one of name or selector must be specified'))
  if (!action) errors.push(fieldErrors.required(`${field}.parameterNotFoundAction`))
  else append(errors, oneOf(action, ['Deny', 'Allow'], `${field}.parameterNotFoundAction`))
  return errors
}

function actionErrors(actions: readonly string[]): FieldError[] {
  const field = 'spec.validationActions'
  const seen = new Set<string>()
  const errors = actions.flatMap((action, i) => {
    const found = oneOf(action, ['Audit', 'Deny', 'Warn'], `${field}[${i}]`)
    if (seen.has(action)) found.push(fieldErrors.duplicate(`${field}[${i}]`, action))
    seen.add(action)
    return found
  })
  if (seen.has('Deny') && seen.has('Warn')) {
    const words =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
    errors.push(fieldErrors.invalid(field, actions, words))
  }
  if (actions.length === 0) errors.push(fieldErrors.required(field, 'at least one validation action is required'))
  return errors
}
