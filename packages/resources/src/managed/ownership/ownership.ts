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
 * Returns the adoption policy. Objects that a class provisioned for a claim only create, unless the class permits
 * more (XN3, CLM7). Operators write managed resources themselves and thereby permit adoption.
 */
export function adoptionPolicyOf({ adoptionPolicy, classRef }: AdoptionSpec): AdoptionPolicy {
  return adoptionPolicy ?? (classRef ? 'Deny' : 'AllowAndDelete')
}

/** Reports whether a claim may have chosen the external name. */
export const isProvisionedByClass = ({ classRef }: AdoptionSpec): boolean => classRef !== undefined

/** Returns why a claim must not use this external name; undefined if it may. */
export function forbiddenName({ runtime, spec, externalName }: Reconciliation, client: unknown): string | undefined {
  if (!isProvisionedByClass(spec) || externalName === '') return undefined
  const because = runtime.kind.forbiddenName?.({ client, externalName })
  return (
    because && `external name "${externalName}" cannot be used: ${because}. Use another external name in a new claim`
  )
}

/** The tag with the uid of the owner. It identifies the resources of this control plane and of each of its objects. */
export const uidTag = 'crosstie-uid'

/** Returns the uid in the ownership tag of an observed resource; undefined without such a tag. */
export function taggedUid({ tags }: Pick<ManagedKind, 'tags'>, { atProvider }: Present): string | undefined {
  if (!tags) return undefined
  return tagsIn(atProvider, tags.field)[tagKey(uidTag, tags.keys)] || undefined
}

/**
 * Returns whether this object created the external resource that has its name, according to its annotations.
 * `maybe` means that a create was started and its result was not recorded.
 */
export function recordedCreate(
  kind: Pick<ManagedKind, 'naming' | 'idempotentCreate'>,
  object: KubeObject,
): 'yes' | 'maybe' | 'no' {
  // Kinds with an idempotent create record only that a create was started.
  if (kind.idempotentCreate) return annotationOf(object, annotations.creating) === '' ? 'no' : 'yes'
  const { pending, succeeded, failed, attempted, incomplete } = createHistoryOf(object)
  if (succeeded !== undefined && !attempted) return 'yes'
  if (kind.naming === 'user-chosen') return incomplete ? 'maybe' : 'no'
  // The intent removed a name that a claim had chosen, so the provider assigned the current one.
  const begun = (pending ?? succeeded ?? failed) !== undefined
  return begun && effectiveName(kind, object) !== '' ? 'yes' : 'no'
}

/** The ownership of an existing external resource, as far as it can be proven. */
export type Ownership = 'own' | 'not proven'

/**
 * Returns whether the object provably owns the resource. Proof is the ownership tag, or the durable record of a create
 * that succeeded or whose result is unknown. In the last case, the resource must not have an ownership tag, and the
 * kind must not set tags during the create.
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

/** Reports whether the resource was not created by this object and may not be adopted by it. */
export function isForeign({ runtime: { kind }, managed, spec }: Reconciliation, observed: Present): boolean {
  return adoptionPolicyOf(spec) === 'Deny' && !kind.nameless && ownershipOf(kind, managed, observed) !== 'own'
}

/** Reports whether the resource was not created by this object, which may manage but not delete it. */
export function isAdopted({ runtime: { kind }, managed, spec }: Reconciliation, observed: Present): boolean {
  return adoptionPolicyOf(spec) !== 'AllowAndDelete' && ownershipOf(kind, managed, observed) !== 'own'
}

/** Returns the message for a resource that this object may not adopt. */
export function describeForeign({ runtime, managed, externalName }: Reconciliation): string {
  const { kind } = runtime.kind.type
  return (
    `external name "${externalName}" is taken: the resource exists and ${kind} ${managed.metadata.name} did not create it. ` +
    `Nothing is changed. Use another external name in a new claim; to adopt the resource, an infrastructure operator ` +
    `sets spec.adoptionPolicy of this ${kind} to Allow`
  )
}
