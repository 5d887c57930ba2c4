import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { UserInfo } from '../../access/user.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A write as admission sees it. Objects are in the version of the request. */
export interface AdmissionAttributes {
  readonly operation: Operation
  readonly type: ResourceType
  /** Empty for the resource itself. */
  readonly subresource: string
  /** Empty when the server has yet to generate it. */
  readonly name: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  /** The new state; undefined for a deletion. */
  readonly object: KubeObject | undefined
  /** The state before; undefined for a creation. */
  readonly oldObject: KubeObject | undefined
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with kind and apiVersion. */
  readonly options: Readonly<Record<string, unknown>> | undefined
  readonly dryRun: boolean
  readonly user: UserInfo
  /** Warnings for the client are added here. */
  readonly warnings: string[]
  /** Annotations for the audit event are added here, if anybody keeps one. */
  readonly annotations?: Map<string, string>
  readonly signal?: AbortSignal
}

/** What admission must know of the kinds that are served. */
export interface Kinds {
  /** Other addresses of the same objects: the other versions, and for events the other group. */
  equivalents(type: ResourceType): readonly ResourceType[]
  convert(object: KubeObject, to: ResourceType): Promise<KubeObject>
}

const EXEMPT = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
])

/** Whoever broke the cluster with a webhook or a policy must still be able to remove it. */
export function isExempt({ type }: AdmissionAttributes): boolean {
  return type.group === 'admissionregistration.k8s.io' && EXEMPT.has(type.kind)
}

const isNamespaces = ({ group, resource }: ResourceType): boolean => group === '' && resource === 'namespaces'

/** To admission, a namespace is in itself. */
export function admissionNamespace({ type, name, namespace }: AdmissionAttributes): string {
  return isNamespaces(type) ? name : namespace
}
