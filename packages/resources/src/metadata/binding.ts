import { type GroupVersionKind, type KubeObject, type ObjectKey, parseApiVersion } from '@crosstie/kube'

/** The words that claims, classes, aggregates and what is offered to them say about each other. */

/** How far an offer and who asks for it have come together. */
export type Phase = 'Unbindable' | 'Unbound' | 'Bound' | 'Released'

export interface Reference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
}

export interface ClaimSpec {
  readonly classRef?: Reference
  readonly classSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly resourceRef?: Reference
  readonly writeConnectionSecretToRef?: { readonly name: string }
}

/** What may meet a claim: a managed resource, or an aggregate of them. */
export interface BindableSpec {
  readonly claimRef?: Reference
  readonly classRef?: Reference
  readonly aggregateRef?: Reference
  readonly reclaimPolicy?: 'Delete' | 'Retain'
  readonly writeConnectionSecretToRef?: { readonly name: string; readonly namespace: string }
  /** As aggregates spell it. */
  readonly writeConnectionSecretsToRef?: { readonly name: string; readonly namespace: string }
}

export const claimAnnotations = {
  defaultClass: 'resourceclass.crossplane.io/is-default-class',
  namePrefix: 'crossplane.io/external-name-prefix',
  nameSuffix: 'crossplane.io/external-name-suffix',
  secretPrefix: 'aggregation.crossplane.io/connection-secret-prefix',
  /**
   * On what was made for a claim that has not taken note of it yet. Nobody acts
   * on it until then: if the claim is gone by now, it is taken away unused.
   */
  provisioning: 'resourceclaim.crossplane.io/provisioning',
} as const

export const claimLabels = {
  namespace: 'resourceclaim.crossplane.io/namespace',
  name: 'resourceclaim.crossplane.io/name',
  uid: 'resourceclaim.crossplane.io/uid',
} as const

export const claimFinalizer = 'finalizer.resourceclaim.crossplane.io'
export const aggregateFinalizer = 'finalizer.aggregateresource.crossplane.io'

/** Owns what the control plane writes into the spec of a claim, so that those who apply claims do not fight over it. */
export const bindingManager = 'claim.crossplane.io/binding'

export const specOf = <T>(object: KubeObject): T => (object['spec'] ?? {}) as T

export const phaseOf = (object: KubeObject): Phase | undefined =>
  (object['status'] as { bindingPhase?: Phase } | undefined)?.bindingPhase

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

/** Does the reference name an object of this kind, in whatever version? */
export function refersTo(
  { apiVersion = '', kind }: Reference,
  type: Pick<GroupVersionKind, 'group' | 'kind'>,
): boolean {
  return kind === type.kind && parseApiVersion(apiVersion)?.group === type.group
}

export const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey => ({
  name: name!,
  ...(namespace ? { namespace } : {}),
})

/** `SQLServer default-sql-d82nd`: how people are told of an object. */
export const describeObject = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`

export const describeReference = ({ kind, namespace, name }: Reference): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`

const SHOWN = 5

/** The first few of what may be many, for people. */
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
