import type { KubeObject } from '@crosstie/kube'
import type { Present } from '../../definition/external.js'
import type { ManagedKind } from '../../definition/managed.js'
import { annotationOf, annotations, createHistoryOf, tagKey, tagsIn } from '../../metadata/metadata.js'
import type { Reconciliation } from '../reconciliation.js'
import { effectiveName } from './identity.js'

/** Whether an object may manage an external resource that it did not create. */
export type AdoptionPolicy = 'Deny' | 'Allow' | 'AllowAndDelete'

interface AdoptionSpec {
  readonly adoptionPolicy?: AdoptionPolicy
  readonly classRef?: { readonly name?: string }
}

/**
 * Objects that a class provisioned for a claim only create, unless the class permits more (XN3, CLM7). Operators, who
 * write managed resources themselves, adopt by writing one.
 */
export function adoptionPolicyOf({ adoptionPolicy, classRef }: AdoptionSpec): AdoptionPolicy {
  return adoptionPolicy ?? (classRef ? 'Deny' : 'AllowAndDelete')
}

/** Did a claim have a say in the external name? */
export const isProvisionedByClass = ({ classRef }: AdoptionSpec): boolean => classRef !== undefined

/** Why a claim must not use this external name: the provider or the control plane needs it. */
export function forbiddenName({ runtime, spec, externalName }: Reconciliation, client: unknown): string | undefined {
  if (!isProvisionedByClass(spec) || externalName === '') return undefined
  const because = runtime.kind.forbiddenName?.({ client, externalName })
  return (
    because && `external name "${externalName}" cannot be used: ${because}. Use another external name in a new claim`
  )
}

/** The tag that tells the resources of this control plane, and of each of its objects, from all others. */
export const uidTag = 'crosstie-uid'

/** The uid in the ownership tag of an observed resource; undefined without such a tag. */
export function taggedUid({ tags }: Pick<ManagedKind, 'tags'>, { atProvider }: Present): string | undefined {
  if (!tags) return undefined
  return tagsIn(atProvider, tags.field)[tagKey(uidTag, tags.keys)] || undefined
}

/**
 * Did this object create the external resource that has its name, as far as its own record says? `maybe`: a create was
 * begun and its end was not recorded.
 */
export function recordedCreate(
  kind: Pick<ManagedKind, 'naming' | 'idempotentCreate'>,
  object: KubeObject,
): 'yes' | 'maybe' | 'no' {
  // Kinds whose create may be repeated record only that one was begun.
  if (kind.idempotentCreate) return annotationOf(object, annotations.creating) === '' ? 'no' : 'yes'
  const { pending, succeeded, failed, attempted, incomplete } = createHistoryOf(object)
  if (succeeded !== undefined && !attempted) return 'yes'
  if (kind.naming === 'user-chosen') return incomplete ? 'maybe' : 'no'
  // The intent removed a name that a claim had chosen, so the provider gave the one that is there now.
  const begun = (pending ?? succeeded ?? failed) !== undefined
  return begun && effectiveName(kind, object) !== '' ? 'yes' : 'no'
}

/** Whose an existing external resource is, as far as one can prove. */
export type Ownership = 'own' | 'not proven'

/**
 * Proof is the ownership tag, or the durable record of a create that succeeded, or of one that was begun and whose end
 * is unknown. In the last case the tag must not contradict, where `create` sets tags.
 */
export function ownershipOf(
  kind: Pick<ManagedKind, 'naming' | 'idempotentCreate' | 'tags'>,
  object: KubeObject,
  observed: Present,
): Ownership {
  const uid = taggedUid(kind, observed)
  if (uid !== undefined && uid === object.metadata.uid) return 'own'
  const created = recordedCreate(kind, object)
  if (created === 'yes') return 'own'
  const mustBeTagged = kind.tags !== undefined && !kind.tags.setAfterCreate
  return created === 'maybe' && uid === undefined && !mustBeTagged ? 'own' : 'not proven'
}

/** Exists, was not created by this object, and may not be adopted by it. */
export function isForeign({ runtime: { kind }, managed, spec }: Reconciliation, observed: Present): boolean {
  return adoptionPolicyOf(spec) === 'Deny' && !kind.nameless && ownershipOf(kind, managed, observed) !== 'own'
}

/** Was not created by this object, which may manage it and must leave it behind. */
export function isAdopted({ runtime: { kind }, managed, spec }: Reconciliation, observed: Present): boolean {
  return adoptionPolicyOf(spec) !== 'AllowAndDelete' && ownershipOf(kind, managed, observed) !== 'own'
}

export function describeForeign({ runtime, managed, externalName }: Reconciliation): string {
  const { kind } = runtime.kind.type
  return (
    `external name "${externalName}" is taken: the resource exists and ${kind} ${managed.metadata.name} did not create it. ` +
    `Nothing is changed. Use another external name in a new claim; to adopt the resource, an infrastructure operator ` +
    `sets spec.adoptionPolicy of this ${kind} to Allow`
  )
}
