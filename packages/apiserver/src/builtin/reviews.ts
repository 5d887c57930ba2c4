import { append, badRequest, type FieldError, fieldErrors, invalid, isObject, type KubeObject } from '@crosstie/kube'
import type { Definition, Strategy } from '../definitions/definition.js'
import { type Draft, defineKind } from './kind.js'
import { requirementErrors } from './names.js'

type Answer = NonNullable<Strategy['answer']>

/** The functions that answer reviews. */
export interface Answers {
  readonly tokenReview: Answer
  readonly selfSubjectReview: Answer
  readonly subjectAccessReview: Answer
  readonly localSubjectAccessReview: Answer
  readonly selfSubjectAccessReview: Answer
  readonly selfSubjectRulesReview: Answer
}

const AUTHENTICATION = 'authentication.k8s.io'
const AUTHORIZATION = 'authorization.k8s.io'

interface Question {
  readonly group: string
  readonly kind: string
  readonly namespaced?: boolean
  readonly answer: Answer
  readonly validate?: (review: KubeObject) => readonly FieldError[]
}

/** Review kinds. They are answered and never stored. */
export function reviewKinds(answers: Answers): Definition[] {
  const questions: readonly Question[] = [
    { group: AUTHENTICATION, kind: 'TokenReview', answer: answers.tokenReview },
    { group: AUTHENTICATION, kind: 'SelfSubjectReview', answer: answers.selfSubjectReview },
    {
      group: AUTHORIZATION,
      kind: 'SubjectAccessReview',
      answer: answers.subjectAccessReview,
      validate: (review) => [...accessErrors(review, true), ...metadataErrors(review, 'must be empty')],
    },
    {
      group: AUTHORIZATION,
      kind: 'LocalSubjectAccessReview',
      namespaced: true,
      answer: answers.localSubjectAccessReview,
      validate: localErrors,
    },
    {
      group: AUTHORIZATION,
      kind: 'SelfSubjectAccessReview',
      answer: answers.selfSubjectAccessReview,
      validate: (review) => [...accessErrors(review, false), ...metadataErrors(review, 'must be empty')],
    },
    { group: AUTHORIZATION, kind: 'SelfSubjectRulesReview', answer: answers.selfSubjectRulesReview },
  ]
  return questions.map(define)
}

function define({ group, kind, namespaced = false, answer, validate }: Question): Definition {
  const groupWord = group.slice(0, group.indexOf('.'))
  return defineKind({
    group,
    kind,
    plural: `${kind.toLowerCase()}s`,
    model: `io.k8s.api.${groupWord}.v1.${kind}`,
    namespaced,
    verbs: ['create'],
    keepsEmpty: true,
    strategy: {
      generation: 'never',
      unconditionalUpdate: false,
      createOnUpdate: false,
      nameRule: 'dnsSubdomain',
      answer: (review, context) => {
        const errors = validate?.(review) ?? []
        // kube-apiserver leaves out the kind.
        if (errors.length > 0) throw invalid({ group, kind: '' }, '', errors)
        checkTokenReview(kind, review)
        return answer(review, context)
      },
    },
  })
}

function checkTokenReview(kind: string, review: KubeObject): void {
  if (kind !== 'TokenReview' || specOf(review)['token']) return
  throw badRequest('token is required for TokenReview in authentication')
}

const specOf = (review: KubeObject): Draft => (isObject(review['spec']) ? review['spec'] : {})

function accessErrors(review: KubeObject, needsSubject: boolean): FieldError[] {
  const { resourceAttributes, nonResourceAttributes, user, groups } = specOf(review)
  const errors: FieldError[] = []
  if (resourceAttributes && nonResourceAttributes) {
    const words = 'cannot be specified in combination with resourceAttributes'
    errors.push(fieldErrors.invalid('spec.nonResourceAttributes', goNonResource(nonResourceAttributes), words))
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    const words = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    errors.push(fieldErrors.invalid('spec.resourceAttributes', null, words))
  }
  if (needsSubject && !user && !(groups as readonly string[] | undefined)?.length) {
    errors.push(fieldErrors.invalid('spec.user', '', 'at least one of user or group must be specified'))
  }
  return [...errors, ...selectorErrors(resourceAttributes)]
}

/** kube-apiserver prints its internal type, with Go field names. */
function goNonResource(attributes: unknown): unknown {
  const { path = '', verb = '' } = attributes as { path?: string; verb?: string }
  return { Path: path, Verb: verb }
}

function selectorErrors(attributes: unknown): FieldError[] {
  if (!isObject(attributes)) return []
  return ['fieldSelector', 'labelSelector'].flatMap((name) => {
    const selector = attributes[name]
    if (!isObject(selector)) return []
    const field = `spec.resourceAttributes.${name}`
    const requirements = (selector['requirements'] ?? []) as readonly { key: string; operator: string }[]
    const errors: FieldError[] = []
    if (selector['rawSelector'] && requirements.length > 0) {
      const words = 'may not specified at the same time as requirements'
      errors.push(fieldErrors.invalid(`${field}.rawSelector`, selector['rawSelector'], words))
    }
    if (!selector['rawSelector'] && requirements.length === 0) {
      const words = `when ${field} is specified, requirements or rawSelector is required`
      errors.push(fieldErrors.required(`${field}.requirements`, words))
    }
    requirements.forEach((requirement, i) => {
      append(errors, oneRequirement(name, requirement, `${field}.requirements[${i}]`))
    })
    return errors
  })
}

function oneRequirement(
  selector: string,
  requirement: { readonly key: string; readonly operator: string },
  field: string,
): FieldError[] {
  const errors = requirementErrors(requirement, field, { allowUnknownOperator: true })
  if (selector === 'labelSelector') return errors
  // Keys and values are free, but the key is required.
  const ofValues = errors.filter((error) => error.field === `${field}.values`)
  return requirement.key === '' ? [fieldErrors.required(`${field}.key`, 'must be specified'), ...ofValues] : ofValues
}

function metadataErrors({ metadata }: KubeObject, words: string, ...allowed: string[]): FieldError[] {
  const ignored = ['managedFields', 'creationTimestamp', 'uid', ...allowed]
  const empty = Object.keys(metadata).every((field) => ignored.includes(field))
  return empty ? [] : [fieldErrors.invalid('metadata', metadata, words)]
}

function localErrors(review: KubeObject): FieldError[] {
  const { namespace } = review.metadata
  const { resourceAttributes, nonResourceAttributes } = specOf(review)
  const errors = [
    ...accessErrors(review, true),
    ...metadataErrors(review, 'must be empty except for namespace', 'namespace'),
  ]
  const asked = (resourceAttributes as { readonly namespace?: string } | undefined)?.namespace ?? ''
  if (resourceAttributes && asked !== (namespace ?? '')) {
    errors.push(fieldErrors.invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'))
  }
  if (nonResourceAttributes) {
    const shown = goNonResource(nonResourceAttributes)
    errors.push(fieldErrors.invalid('spec.nonResourceAttributes', shown, 'disallowed on this kind of request'))
  }
  return errors
}

/** The body of `serviceaccounts/…/token`. It has no URL of its own but is decoded like other kinds. */
export const tokenRequestKind: Definition = defineKind({
  group: AUTHENTICATION,
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  model: 'io.k8s.api.authentication.v1.TokenRequest',
  namespaced: true,
  verbs: ['create'],
  keepsEmpty: true,
  defaults(request) {
    const spec = request['spec'] as Draft
    spec['expirationSeconds'] ??= 3600
  },
  strategy: { generation: 'never', unconditionalUpdate: false, createOnUpdate: false, nameRule: 'dnsSubdomain' },
})
