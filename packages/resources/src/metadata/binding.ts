import { type GroupVersionKind, type KubeObject, type ObjectKey, parseApiVersion } from '@crosstie/kube'

/** Metadata and spec fields that claims, classes, aggregates and bindable resources use to refer to each other. */

/** The binding phase of a claim or of a bindable resource. */
export type Phase = 'Unbindable' | 'Unbound' | 'Bound' | 'Released'

/** A reference to an object. All fields are optional. */
export interface Reference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
}

/** The spec fields that all claims share. */
export interface ClaimSpec {
  readonly classRef?: Reference
  readonly classSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly resourceRef?: Reference
  readonly writeConnectionSecretToRef?: { readonly name: string }
}

/** The spec fields that a claim can bind to: those of a managed resource or an aggregate. */
export interface BindableSpec {
  readonly claimRef?: Reference
  readonly classRef?: Reference
  readonly aggregateRef?: Reference
  readonly reclaimPolicy?: 'Delete' | 'Retain'
  readonly writeConnectionSecretToRef?: { readonly name: string; readonly namespace: string }
  /** The spelling that aggregates use. */
  readonly writeConnectionSecretsToRef?: { readonly name: string; readonly namespace: string }
}

/** Annotations of claims, classes and resources that are provisioned for claims. */
export const claimAnnotations = {
  defaultClass: 'resourceclass.crossplane.io/is-default-class',
  namePrefix: 'crossplane.io/external-name-prefix',
  nameSuffix: 'crossplane.io/external-name-suffix',
  secretPrefix: 'aggregation.crossplane.io/connection-secret-prefix',
  /**
   * Marks a resource that was provisioned for a claim and that the claim does not reference yet. Controllers ignore
   * it until then. If the claim no longer exists, the resource is deleted unused.
   */
  provisioning: 'resourceclaim.crossplane.io/provisioning',
} as const

/** Labels that identify the claim of a resource. */
export const claimLabels = {
  namespace: 'resourceclaim.crossplane.io/namespace',
  name: 'resourceclaim.crossplane.io/name',
  uid: 'resourceclaim.crossplane.io/uid',
} as const

/** The finalizer of claims. */
export const claimFinalizer = 'finalizer.resourceclaim.crossplane.io'
/** The finalizer of aggregates. */
export const aggregateFinalizer = 'finalizer.aggregateresource.crossplane.io'

/**
 * The field manager of fields that the control plane writes into the spec of a claim. It prevents conflicts with
 * users who apply claims.
 */
export const bindingManager = 'claim.crossplane.io/binding'

/** Returns the spec of an object; empty if it does not have one. */
export const specOf = <T>(object: KubeObject): T => (object['spec'] ?? {}) as T

/** Returns the binding phase of an object, if it has one. */
export const phaseOf = (object: KubeObject): Phase | undefined =>
  (object['status'] as { bindingPhase?: Phase } | undefined)?.bindingPhase

/** Returns a reference to the object. */
export function referenceTo(object: KubeObject): Reference & { readonly name: string } {
  const { name, namespace, uid } = object.metadata
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace ? { namespace } : {}),
    name: name!,
    ...(uid ? { uid } : {}),
  }
}

/** Reports whether the reference names an object of this kind, in any version. */
export function refersTo(
  { apiVersion = '', kind }: Reference,
  type: Pick<GroupVersionKind, 'group' | 'kind'>,
): boolean {
  return kind === type.kind && parseApiVersion(apiVersion)?.group === type.group
}

/** Returns the key of the object. */
export const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey => ({
  name: name!,
  ...(namespace ? { namespace } : {}),
})

/** Formats an object for messages, for example `SQLServer default-sql-d82nd`. */
export const describeObject = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`

/** Formats a reference for messages. */
export const describeReference = ({ kind, namespace, name }: Reference): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`

const SHOWN = 5

/** Joins the first five names for messages, with the number of further names. */
export function firstOf(names: readonly string[]): string {
  const more = names.length - SHOWN
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ')
}

/** An entry in the status of an aggregate: one member and its binding phase. */
export interface Entry extends Reference {
  readonly bindingPhase?: Phase
}

/** Returns the members that the status of an aggregate lists. */
export const entriesOf = (aggregate: KubeObject): readonly Entry[] =>
  (aggregate['status'] as { aggregatedResources?: readonly Entry[] } | undefined)?.aggregatedResources ?? []
