import { append, equal, type FieldError, fieldErrors, type KubeObject } from '@crosstie/kube'
import type { Definition } from '../definitions/definition.js'
import {
  type ClientConfig,
  clientConfigErrors,
  type ExpressionCheck,
  type MatchCondition,
  matchConditionErrors,
  oneOf,
  type RuleWithOperations,
  ruleErrors,
} from './admission-rules.js'
import { ageColumn, column, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'
import { dns1035LabelErrors, dnsSubdomainErrors, hasInvalidLabelValue, labelSelectorErrors } from './names.js'

interface Webhook {
  readonly name: string
  readonly clientConfig: ClientConfig
  readonly rules?: readonly RuleWithOperations[]
  readonly failurePolicy?: string
  readonly matchPolicy?: string
  readonly namespaceSelector?: unknown
  readonly objectSelector?: unknown
  readonly sideEffects?: string | null
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[] | null
  readonly reinvocationPolicy?: string
  readonly matchConditions?: readonly MatchCondition[]
}

const webhooksOf = (configuration: KubeObject | Draft): readonly Webhook[] =>
  ((configuration as Draft)['webhooks'] ?? []) as readonly Webhook[]

/** MutatingWebhookConfiguration and ValidatingWebhookConfiguration. */
export function webhookKinds(check: ExpressionCheck): Definition[] {
  return ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => {
    const mutating = kind.startsWith('Mutating')
    return defineKind({
      group: 'admissionregistration.k8s.io',
      kind,
      plural: `${kind.toLowerCase()}s`,
      model: `io.k8s.api.admissionregistration.v1.${kind}`,
      namespaced: false,
      categories: ['api-extensions'],
      columns: [
        nameColumn,
        column('Webhooks', 'integer', 'The number of webhooks.', (object) => webhooksOf(object).length),
        ageColumn,
      ],
      defaults: (object) => {
        if (object['webhooks']) object['webhooks'] = webhooksOf(object).map((hook) => withDefaults(hook, mutating))
      },
      strategy: {
        generation: 'onChange',
        unconditionalUpdate: false,
        createOnUpdate: false,
        nameRule: 'dnsSubdomain',
        validate: (object, old) => configurationErrors(webhooksOf(object), old && webhooksOf(old), mutating, check),
      },
    })
  })
}

/** Sets defaults in the order of the Go type, so that the field order does not depend on the client. */
function withDefaults(hook: Webhook, mutating: boolean): Webhook {
  const { name, clientConfig, rules, matchConditions, sideEffects, admissionReviewVersions } = hook
  const { service } = clientConfig
  return {
    name,
    clientConfig: service ? { ...clientConfig, service: { ...service, port: service.port ?? 443 } } : clientConfig,
    ...(rules ? { rules: rules.map(withScope) } : {}),
    failurePolicy: hook.failurePolicy ?? 'Fail',
    matchPolicy: hook.matchPolicy ?? 'Equivalent',
    namespaceSelector: hook.namespaceSelector ?? {},
    objectSelector: hook.objectSelector ?? {},
    sideEffects: sideEffects ?? null,
    timeoutSeconds: hook.timeoutSeconds ?? 10,
    admissionReviewVersions: admissionReviewVersions ?? null,
    ...(mutating ? { reinvocationPolicy: hook.reinvocationPolicy ?? 'Never' } : {}),
    ...(matchConditions ? { matchConditions } : {}),
  }
}

/** Adds the default scope to a rule. */
export function withScope(rule: RuleWithOperations): RuleWithOperations {
  return rule.scope === undefined ? { ...rule, scope: '*' } : rule
}

/** Invalid values that older servers accepted stay valid until they are changed. */
interface Tolerance {
  readonly sideEffects: boolean
  readonly reviewVersions: boolean
  readonly sameNames: boolean
  readonly labelValues: boolean
  readonly conditions: boolean
}

const withoutSideEffects = ['None', 'NoneOnDryRun']
const reviewVersions = ['v1', 'v1beta1']

function toleranceOf(hooks: readonly Webhook[], old: readonly Webhook[] | undefined): Tolerance {
  const sameConditions = (hook: Webhook, i: number) => equal(hook.matchConditions, old?.[i]?.matchConditions)
  const unrecognized = ({ admissionReviewVersions }: Webhook) =>
    !!admissionReviewVersions?.length && !admissionReviewVersions.some((name) => reviewVersions.includes(name))
  return {
    sideEffects: !!old?.some(({ sideEffects }) => !withoutSideEffects.includes(sideEffects ?? '')),
    reviewVersions: !!old?.some(unrecognized),
    sameNames: !!old && new Set(old.map(({ name }) => name)).size < old.length,
    labelValues: !!old?.some(
      (hook) => hasInvalidLabelValue(hook.namespaceSelector) || hasInvalidLabelValue(hook.objectSelector),
    ),
    conditions: !!old && hooks.length === old.length && hooks.every(sameConditions),
  }
}

function configurationErrors(
  hooks: readonly Webhook[],
  old: readonly Webhook[] | undefined,
  mutating: boolean,
  check: ExpressionCheck,
): FieldError[] {
  const tolerates = toleranceOf(hooks, old)
  const seen = new Set<string>()
  return hooks.flatMap((hook, i) => {
    const field = `webhooks[${i}]`
    const errors = [
      ...webhookErrors(hook, field, tolerates, mutating),
      ...(tolerates.conditions
        ? []
        : matchConditionErrors(hook.matchConditions ?? [], `${field}.matchConditions`, false, check)),
      ...reviewVersionErrors(hook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`, tolerates),
    ]
    if (!tolerates.sameNames && hook.name !== '' && seen.has(hook.name)) {
      errors.push(fieldErrors.duplicate(`${field}.name`, hook.name))
    }
    seen.add(hook.name)
    return errors
  })
}

function webhookErrors(hook: Webhook, field: string, tolerates: Tolerance, mutating: boolean): FieldError[] {
  const { timeoutSeconds: timeout, sideEffects } = hook
  const effects = tolerates.sideEffects ? ['None', 'NoneOnDryRun', 'Some', 'Unknown'] : withoutSideEffects
  const errors = [
    ...fullNameErrors(hook.name, `${field}.name`),
    ...(hook.rules ?? []).flatMap((rule, i) => ruleErrors(rule, `${field}.rules[${i}]`)),
    ...oneOf(hook.failurePolicy, ['Fail', 'Ignore'], `${field}.failurePolicy`),
    ...oneOf(hook.matchPolicy, ['Equivalent', 'Exact'], `${field}.matchPolicy`),
  ]
  if (sideEffects === undefined || sideEffects === null) {
    errors.push(fieldErrors.required(`${field}.sideEffects`, `must specify one of ${effects.join(', ')}`))
  } else append(errors, oneOf(sideEffects, effects, `${field}.sideEffects`))
  if (timeout !== undefined && (timeout < 1 || timeout > 30)) {
    const words = 'the timeout value must be between 1 and 30 seconds'
    errors.push(fieldErrors.invalid(`${field}.timeoutSeconds`, timeout, words))
  }
  errors.push(
    ...labelSelectorErrors(hook.namespaceSelector, `${field}.namespaceSelector`, tolerates.labelValues),
    ...labelSelectorErrors(hook.objectSelector, `${field}.objectSelector`, tolerates.labelValues),
    ...(mutating ? oneOf(hook.reinvocationPolicy, ['IfNeeded', 'Never'], `${field}.reinvocationPolicy`) : []),
    ...clientConfigErrors(hook.clientConfig, `${field}.clientConfig`),
  )
  return errors
}

function fullNameErrors(name: string, field: string): FieldError[] {
  if (name === '') return [fieldErrors.required(field)]
  const faults = dnsSubdomainErrors(name)
  if (faults.length > 0) return [fieldErrors.invalid(field, name, faults.join(','))]
  if (name.split('.').length >= 3) return []
  return [fieldErrors.invalid(field, name, 'should be a domain with at least three segments separated by dots')]
}

function reviewVersionErrors(versions: readonly string[], field: string, tolerates: Tolerance): FieldError[] {
  const list = reviewVersions.join(', ')
  if (versions.length === 0) return [fieldErrors.required(field, `must specify one of ${list}`)]
  const seen = new Set<string>()
  const errors = versions.flatMap((version, i) => {
    if (seen.has(version)) return [fieldErrors.invalid(`${field}[${i}]`, version, 'duplicate version')]
    seen.add(version)
    return dns1035LabelErrors(version).map((message) => fieldErrors.invalid(`${field}[${i}]`, version, message))
  })
  if (!tolerates.reviewVersions && !versions.some((version) => reviewVersions.includes(version))) {
    errors.push(fieldErrors.invalid(field, versions, `must include at least one of ${list}`))
  }
  return errors
}
