import {
  badRequest,
  type FieldError,
  fieldErrors,
  invalid,
  isObject,
  type KubeObject,
  parseFieldSelector,
  parseLabelSelector,
  timestamp,
} from '@crosstie/kube'
import type { Authenticator } from '../access/authenticate.js'
import type { Attributes, Authorizer } from '../access/authorize.js'
import { aggregate, missingRole, type RbacAuthorizer } from '../access/rbac.js'
import { type UserInfo, userFields } from '../access/user.js'
import type { WriteContext } from '../definitions/definition.js'

/** The `Strategy.answer` of a review kind. */
export type Answer = (object: KubeObject, context: WriteContext) => KubeObject

type Fields = Readonly<Record<string, unknown>>

/** Answers TokenReview. */
export function answerTokenReview(authenticator: Authenticator): Answer {
  return (object) => {
    const spec = fieldsOf(object['spec'])
    const token = textOf(spec['token'])
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    const asked = textsOf(spec['audiences'])
    const { user, audiences, error } = authenticator.review(token, asked.length > 0 ? asked : undefined)
    const status = user
      ? { authenticated: true, user: userFields(user), audiences }
      : { user: {}, ...(error === undefined ? {} : { error }) }
    return { ...object, status }
  }
}

/** Answers SelfSubjectReview. */
export const answerSelfSubjectReview: Answer = (object, { user, now }) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: { creationTimestamp: timestamp(now) },
  status: { userInfo: userFields(user) },
})

/** Answers SubjectAccessReview. */
export function answerSubjectAccessReview(authorizer: Authorizer): Answer {
  return (object) => {
    const spec = fieldsOf(object['spec'])
    const errors = [...accessErrors(spec), ...subjectErrors(spec), ...selectorErrors(spec)]
    if (!isEmptyMeta(object, [])) errors.push(fieldErrors.invalid('metadata', object.metadata, 'must be empty'))
    refuse(errors)
    return answered(object, authorizer, subjectOf(spec), spec)
  }
}

/** Answers SelfSubjectAccessReview. */
export function answerSelfSubjectAccessReview(authorizer: Authorizer): Answer {
  return (object, { user }) => {
    const spec = fieldsOf(object['spec'])
    const errors = [...accessErrors(spec), ...selectorErrors(spec)]
    if (!isEmptyMeta(object, [])) errors.push(fieldErrors.invalid('metadata', object.metadata, 'must be empty'))
    refuse(errors)
    return answered(object, authorizer, user, spec)
  }
}

/** Answers LocalSubjectAccessReview. */
export function answerLocalSubjectAccessReview(authorizer: Authorizer): Answer {
  return (object) => {
    const spec = fieldsOf(object['spec'])
    const errors = [...accessErrors(spec), ...subjectErrors(spec), ...selectorErrors(spec)]
    if (!isEmptyMeta(object, ['namespace'])) {
      errors.push(fieldErrors.invalid('metadata', object.metadata, 'must be empty except for namespace'))
    }
    const resource = spec['resourceAttributes']
    const namespace = isObject(resource) ? textOf(resource['namespace']) : ''
    if (isObject(resource) && namespace !== (object.metadata.namespace ?? '')) {
      errors.push(fieldErrors.invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'))
    }
    if (isObject(spec['nonResourceAttributes'])) {
      const value = shownPath(spec['nonResourceAttributes'])
      errors.push(fieldErrors.invalid('spec.nonResourceAttributes', value, 'disallowed on this kind of request'))
    }
    refuse(errors)
    return answered(object, authorizer, subjectOf(spec), spec)
  }
}

/** Answers SelfSubjectRulesReview. */
export function answerSelfSubjectRulesReview(authorizer: RbacAuthorizer): Answer {
  return (object, { user }) => {
    const namespace = textOf(fieldsOf(object['spec'])['namespace'])
    if (namespace === '') throw badRequest('no namespace on request')
    const { rules, missing } = authorizer.rulesFor(user, namespace)
    const resourceRules = rules
      .filter(({ resources }) => resources && resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames }))
    const nonResourceRules = rules
      .filter(({ nonResourceURLs }) => nonResourceURLs && nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }))
    const evaluation = missing.length === 0 ? {} : { evaluationError: aggregate(missing.map(missingRole)) }
    return {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {},
      spec: {},
      status: { resourceRules, nonResourceRules, incomplete: false, ...evaluation },
    }
  }
}

function answered(object: KubeObject, authorizer: Authorizer, user: UserInfo, spec: Fields): KubeObject {
  const { allowed, reason } = authorizer.authorize(attributesOf(user, spec))
  const trouble = selectorTrouble(spec)
  const status = {
    allowed,
    ...(reason === '' ? {} : { reason }),
    ...(trouble === '' ? {} : { evaluationError: trouble }),
  }
  return { ...object, status }
}

function attributesOf(user: UserInfo, spec: Fields): Attributes {
  const resource = spec['resourceAttributes']
  if (!isObject(resource)) {
    const path = fieldsOf(spec['nonResourceAttributes'])
    return { user, verb: textOf(path['verb']), path: textOf(path['path']) }
  }
  return {
    user,
    verb: textOf(resource['verb']),
    group: textOf(resource['group']),
    resource: textOf(resource['resource']),
    subresource: textOf(resource['subresource']),
    name: textOf(resource['name']),
    namespace: textOf(resource['namespace']),
  }
}

function subjectOf(spec: Fields): UserInfo {
  return { name: textOf(spec['user']), groups: textsOf(spec['groups']) }
}

function accessErrors(spec: Fields): FieldError[] {
  const resource = isObject(spec['resourceAttributes'])
  const path = spec['nonResourceAttributes']
  if (resource && isObject(path)) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [fieldErrors.invalid('spec.nonResourceAttributes', shownPath(path), why)]
  }
  if (resource || isObject(path)) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [fieldErrors.invalid('spec.resourceAttributes', null, why)]
}

function subjectErrors(spec: Fields): FieldError[] {
  if (textOf(spec['user']) !== '' || textsOf(spec['groups']).length > 0) return []
  return [fieldErrors.invalid('spec.user', '', 'at least one of user or group must be specified')]
}

function selectorErrors(spec: Fields): FieldError[] {
  const resource = fieldsOf(spec['resourceAttributes'])
  return ['fieldSelector', 'labelSelector'].flatMap((name) => {
    const selector = resource[name]
    if (!isObject(selector)) return []
    const path = `spec.resourceAttributes.${name}`
    const raw = textOf(selector['rawSelector'])
    const requirements = Array.isArray(selector['requirements']) ? selector['requirements'] : []
    if (raw !== '' && requirements.length > 0) {
      return [fieldErrors.invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements')]
    }
    if (raw !== '' || requirements.length > 0) return []
    const why = `when ${path} is specified, requirements or rawSelector is required`
    return [fieldErrors.required(`${path}.requirements`, why)]
  })
}

/** The parser of each kind of selector, and the requirements that it can express. */
const selectors: Record<string, { parse(raw: string): unknown; reads(requirement: Fields): boolean }> = {
  fieldSelector: {
    parse: parseFieldSelector,
    reads: ({ operator, values }) => (operator === 'In' || operator === 'NotIn') && textsOf(values).length === 1,
  },
  labelSelector: {
    parse: parseLabelSelector,
    reads: ({ operator }) => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(textOf(operator)),
  },
}

/** RBAC ignores selectors, but reports those that it cannot parse. */
function selectorTrouble(spec: Fields): string {
  const resource = fieldsOf(spec['resourceAttributes'])
  return Object.entries(selectors)
    .flatMap(([name, { parse, reads }]) => {
      const { rawSelector, requirements } = fieldsOf(resource[name])
      const raw = textOf(rawSelector)
      const asked = Array.isArray(requirements) ? requirements.map(fieldsOf) : []
      const unread = asked.filter((one) => !reads(one)).length
      if (unread === 0 && (raw === '' || succeeds(() => parse(raw)))) return []
      const what = unread < asked.length ? 'partially ignored' : 'ignored'
      return [`spec.resourceAttributes.${name} ${what} due to parse error`]
    })
    .join('; ')
}

function succeeds(step: () => unknown): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}

function refuse(errors: readonly FieldError[]): void {
  // kube-apiserver leaves out the kind here.
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors)
}

/** Fields that the write path added do not count as sent by the client. */
function isEmptyMeta({ metadata }: KubeObject, allowed: readonly string[]): boolean {
  const ignored = ['managedFields', 'creationTimestamp', 'uid', ...allowed]
  return Object.entries(metadata).every(([name, value]) => value === undefined || ignored.includes(name))
}

/** kube-apiserver prints its internal type, without JSON names. */
function shownPath(path: Fields): unknown {
  return { Path: textOf(path['path']), Verb: textOf(path['verb']) }
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
