import { append, equal, type FieldError, fieldErrors, type KubeObject } from '@crosstie/kube'
import type { Column, Definition } from '../definitions/definition.js'
import { ageColumn, column, createdAtColumn, nameColumn } from './columns.js'
import { type Draft, defineKind, type KindStrategy } from './kind.js'
import { dnsSubdomainErrors, hasInvalidLabelValue, labelSelectorErrors, pathSegmentErrors } from './names.js'

const GROUP = 'rbac.authorization.k8s.io'

interface PolicyRule {
  readonly verbs?: readonly string[] | null
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

interface Subject {
  readonly kind?: string
  readonly apiGroup?: string
  readonly name?: string
  readonly namespace?: string
}

interface RoleRef {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

/** Authorizes the write of a role or binding, right before it is stored. */
export type EscalationCheck = NonNullable<KindStrategy['authorizeWrite']>

type Validate = (object: KubeObject, old: KubeObject | undefined) => FieldError[]

function strategy(validate: Validate, authorizeWrite: EscalationCheck | undefined): KindStrategy {
  return {
    generation: 'never',
    unconditionalUpdate: true,
    createOnUpdate: true,
    nameRule: 'pathSegment',
    ...(authorizeWrite ? { authorizeWrite } : {}),
    // kube-apiserver validates an update twice and lists each cause twice.
    validate: (object, old) => {
      const errors = validate(object, old)
      return old ? [...validate(object, undefined), ...errors] : errors
    },
  }
}

/** Role and ClusterRole. */
export function roleKinds(authorizeWrite?: EscalationCheck): Definition[] {
  const role = (kind: string, plural: string, namespaced: boolean, validate: Validate) =>
    defineKind({
      group: GROUP,
      kind,
      plural,
      model: `io.k8s.api.rbac.v1.${kind}`,
      namespaced,
      columns: [nameColumn, createdAtColumn],
      strategy: strategy(validate, authorizeWrite),
    })
  return [
    role('Role', 'roles', true, (object) => ruleErrors(object, true)),
    role('ClusterRole', 'clusterroles', false, (object, old) => [
      ...ruleErrors(object, false),
      ...aggregationErrors(object, old),
    ]),
  ]
}

function ruleErrors(role: KubeObject, namespaced: boolean): FieldError[] {
  const rules = (role['rules'] ?? []) as readonly PolicyRule[]
  return rules.flatMap((rule, i) => policyRuleErrors(rule, namespaced, `rules[${i}]`))
}

const has = (list: readonly string[] | null | undefined): boolean => (list?.length ?? 0) > 0

function policyRuleErrors(rule: PolicyRule, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (!has(rule.verbs)) errors.push(fieldErrors.required(`${field}.verbs`, 'verbs must contain at least one value'))
  if (has(rule.nonResourceURLs)) {
    const invalid = (words: string) =>
      errors.push(fieldErrors.invalid(`${field}.nonResourceURLs`, rule.nonResourceURLs, words))
    if (namespaced) invalid('namespaced rules cannot apply to non-resource URLs')
    if (has(rule.apiGroups) || has(rule.resources) || has(rule.resourceNames)) {
      invalid('rules cannot apply to both regular resources and non-resource URLs')
    }
    return errors
  }
  if (!has(rule.apiGroups)) {
    errors.push(fieldErrors.required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
  }
  if (!has(rule.resources)) {
    errors.push(fieldErrors.required(`${field}.resources`, 'resource rules must supply at least one resource'))
  }
  return errors
}

function selectorsOf(role: KubeObject | undefined): readonly unknown[] | undefined {
  const rule = role?.['aggregationRule'] as { readonly clusterRoleSelectors?: readonly unknown[] } | undefined
  return rule && (rule.clusterRoleSelectors ?? [])
}

function aggregationErrors(role: KubeObject, old: KubeObject | undefined): FieldError[] {
  const selectors = selectorsOf(role)
  if (!selectors) return []
  const field = 'aggregationRule.clusterRoleSelectors'
  if (selectors.length === 0) {
    return [fieldErrors.required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  const tolerant = (selectorsOf(old) ?? []).some(hasInvalidLabelValue)
  return selectors.flatMap((selector, i) => {
    const errors = labelSelectorErrors(selector, `${field}[${i}]`, tolerant)
    if (labelSelectorErrors(selector, '').length === 0) return errors
    return [...errors, fieldErrors.invalid(`${field}[${i}]`, null, 'invalid label selector.')]
  })
}

/** RoleBinding and ClusterRoleBinding. */
export function bindingKinds(authorizeWrite?: EscalationCheck): Definition[] {
  const binding = (kind: string, plural: string, namespaced: boolean) =>
    defineKind({
      group: GROUP,
      kind,
      plural,
      model: `io.k8s.api.rbac.v1.${kind}`,
      namespaced,
      columns: bindingColumns(),
      defaults: bindingDefaults,
      strategy: strategy((object, old) => bindingErrors(object, old, namespaced), authorizeWrite),
    })
  return [binding('RoleBinding', 'rolebindings', true), binding('ClusterRoleBinding', 'clusterrolebindings', false)]
}

const roleRefOf = (binding: KubeObject): RoleRef => binding['roleRef'] as RoleRef
const subjectsOf = (binding: KubeObject): readonly Subject[] => (binding['subjects'] ?? []) as readonly Subject[]

function bindingDefaults(binding: Draft): void {
  const roleRef = binding['roleRef'] as RoleRef
  if (roleRef.apiGroup === '') binding['roleRef'] = { ...roleRef, apiGroup: GROUP }
  const subjects = binding['subjects'] as readonly Subject[] | undefined
  if (subjects) binding['subjects'] = subjects.map(subjectWithGroup)
}

function subjectWithGroup(subject: Subject): Subject {
  if (subject.apiGroup || (subject.kind !== 'User' && subject.kind !== 'Group')) return subject
  const { kind, ...rest } = subject
  return { kind, apiGroup: GROUP, ...rest }
}

function bindingErrors(binding: KubeObject, old: KubeObject | undefined, namespaced: boolean): FieldError[] {
  const { apiGroup, kind, name } = roleRefOf(binding)
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const errors: FieldError[] = []
  if (apiGroup !== GROUP) errors.push(fieldErrors.notSupported('roleRef.apiGroup', apiGroup, [GROUP]))
  if (!kinds.includes(kind)) errors.push(fieldErrors.notSupported('roleRef.kind', kind, kinds))
  if (name === '') errors.push(fieldErrors.required('roleRef.name'))
  for (const message of pathSegmentErrors(name)) errors.push(fieldErrors.invalid('roleRef.name', name, message))
  subjectsOf(binding).forEach((subject, i) => {
    append(errors, subjectErrors(subject, namespaced, `subjects[${i}]`))
  })
  if (old && !equal(roleRefOf(old), roleRefOf(binding))) {
    const shown = { APIGroup: apiGroup, Kind: kind, Name: name }
    errors.push(fieldErrors.invalid('roleRef', shown, 'cannot change roleRef'))
  }
  return errors
}

function subjectErrors(subject: Subject, namespaced: boolean, field: string): FieldError[] {
  const { kind = '', apiGroup = '', name = '', namespace = '' } = subject
  const errors: FieldError[] = name === '' ? [fieldErrors.required(`${field}.name`)] : []
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') {
        for (const message of dnsSubdomainErrors(name)) errors.push(fieldErrors.invalid(`${field}.name`, name, message))
      }
      if (apiGroup !== '') errors.push(fieldErrors.notSupported(`${field}.apiGroup`, apiGroup, ['']))
      if (!namespaced && namespace === '') errors.push(fieldErrors.required(`${field}.namespace`))
      break
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) errors.push(fieldErrors.notSupported(`${field}.apiGroup`, apiGroup, [GROUP]))
      break
    default:
      errors.push(fieldErrors.notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}

function bindingColumns(): readonly Column[] {
  const subjects = (kind: string, of: (subject: Subject) => string) => (binding: KubeObject) =>
    subjectsOf(binding)
      .filter((subject) => subject.kind === kind)
      .map(of)
      .join(', ')
  const name = (subject: Subject) => subject.name ?? ''
  const role = (binding: KubeObject) => `${roleRefOf(binding).kind}/${roleRefOf(binding).name}`
  return [
    nameColumn,
    column('Role', 'string', 'The role that is granted.', role),
    ageColumn,
    column('Users', 'string', 'Users who are granted it.', subjects('User', name), 1),
    column('Groups', 'string', 'Groups that are granted it.', subjects('Group', name), 1),
    column(
      'ServiceAccounts',
      'string',
      'Service accounts that are granted it.',
      subjects('ServiceAccount', (subject) => `${subject.namespace ?? ''}/${name(subject)}`),
      1,
    ),
  ]
}
