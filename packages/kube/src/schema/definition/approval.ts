import { isRequestURI, quote } from '@crosstie/cel/kubernetes'
import { type FieldError, fieldErrors } from '../../errors.js'
import { getOwn } from '../../json.js'
import type { CustomResourceDefinition } from './types.js'

const annotation = 'api-approved.kubernetes.io'

/** The API approval of a definition in a group of Kubernetes. */
export interface Approval {
  readonly state: 'invalid' | 'approved' | 'bypassed' | 'missing'
  readonly reason: string
}

/** Reports whether a group belongs to Kubernetes, so that its definitions need an approval. */
export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group)
}

/** Returns the API approval that the annotation of a definition states. */
export function approvalOf(crd: CustomResourceDefinition): Approval {
  const value = approvalText(crd)
  const needs = `protected groups must have approval annotation ${quote(annotation)}`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (value === '') return { state: 'missing', reason: `${needs}, ${see}` }
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(value)}` }
  if (isRequestURI(value) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?]/.test(value)) {
    return { state: 'approved', reason: `approved in ${value}` }
  }
  return {
    state: 'invalid',
    reason: `${needs} with either a URL or a reason starting with "unapproved", ${see}`,
  }
}

function approvalText(crd: CustomResourceDefinition): string {
  return (getOwn(crd.metadata.annotations ?? {}, annotation) as string | undefined) ?? ''
}

/** Validates the API approval. A definition without one before may stay without. */
export function approvalErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!isProtectedGroup(crd.spec.group ?? '')) return []
  const { state, reason } = approvalOf(crd)
  if (state === 'approved' || state === 'bypassed' || (old && approvalOf(old).state === state)) return []
  const path = `metadata.annotations[${annotation}]`
  if (state === 'missing') return [fieldErrors.required(path, reason)]
  return [fieldErrors.invalid(path, approvalText(crd), reason)]
}
