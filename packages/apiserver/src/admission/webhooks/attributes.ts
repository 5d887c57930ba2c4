import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { UserInfo } from '../../access/user.js'

/** The operation that admission reviews. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A write as admission reviews it. Objects are in the version of the request. */
export interface AdmissionAttributes {
  readonly operation: Operation
  readonly type: ResourceType
  /** The kind of the objects when it differs from that of the resource: Scale, TokenRequest. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  /** Empty for the resource itself. */
  readonly subresource: string
  /** Empty when the server has not generated it yet. */
  readonly name: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** The new state. Undefined for a deletion. */
  readonly object: KubeObject | undefined
  /** The old state. Undefined for a creation. */
  readonly oldObject: KubeObject | undefined
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with kind and apiVersion. */
  readonly options: Readonly<Record<string, unknown>> | undefined
  readonly dryRun: boolean
  readonly user: UserInfo
  /** Admission adds warnings for the client. */
  readonly warnings: string[]
  /** Admission adds annotations for the audit log, if there is one. */
  readonly annotations?: Map<string, string>
  readonly signal?: AbortSignal
}

/** The information about served kinds that admission needs. */
export interface Kinds {
  /** Returns the other addresses of the same objects: other versions, and for events the other group. */
  equivalents(type: ResourceType): readonly ResourceType[]
  convert(object: KubeObject, to: ResourceType): Promise<KubeObject>
}

const POLICY_RESOURCES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])
const WEBHOOK_RESOURCES = new Set(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])

/** Reviews by group. A policy that denies them could lock every client out. */
const REVIEW_RESOURCES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['authentication.k8s.io', new Set(['selfsubjectreviews', 'tokenreviews'])],
  [
    'authorization.k8s.io',
    new Set([
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
    ]),
  ],
])

const isPolicy = ({ group, resource }: ResourceType): boolean =>
  group === 'admissionregistration.k8s.io' && POLICY_RESOURCES.has(resource)

/**
 * Policies do not apply to policies and their bindings, so that a wrong policy can be removed, nor to token and access
 * reviews. They apply to webhook configurations.
 */
export function isExemptFromPolicies({ type }: AdmissionAttributes): boolean {
  return isPolicy(type) || REVIEW_RESOURCES.get(type.group)?.has(type.resource) === true
}

/** Webhooks are not called for policies nor for webhook configurations, so that a broken one can be removed. */
export function isExemptFromWebhooks({ type }: AdmissionAttributes): boolean {
  return isPolicy(type) || (type.group === 'admissionregistration.k8s.io' && WEBHOOK_RESOURCES.has(type.resource))
}

const isNamespaces = ({ group, resource }: ResourceType): boolean => group === '' && resource === 'namespaces'

/** A namespace counts as a member of itself. */
export function admissionNamespace({ type, name, namespace }: AdmissionAttributes): string {
  return isNamespaces(type) ? name : namespace
}
