import { getOwn, type KubeObject } from '@crosstie/kube'
import type { Present } from '../../definition/external.js'
import type { ManagedKind } from '../../definition/managed.js'
import { externalTags, isDeleted, tagKey, tagsIn } from '../../metadata/metadata.js'
import { leaveAlone } from '../observe/difference.js'
import { managedSpecOf, type Reconciliation, type Values } from '../reconciliation.js'
import { ownershipOf } from './ownership.js'

type Tags = Readonly<Record<string, string>>

/**
 * Returns the tags that name the owner of an external resource (MR13), without the uid tag, which only `create`
 * sets.
 */
export function ownershipTags(kind: Pick<ManagedKind, 'tags' | 'type'>, object: KubeObject): Tags {
  if (!kind.tags) return {}
  const provider = managedSpecOf(object).providerConfigRef?.name
  const all = {
    ...externalTags(object, kind.type.group),
    ...(provider ? { 'crossplane-provider': provider } : {}),
  }
  const { keys } = kind.tags
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [tagKey(key, keys), value]))
}

/**
 * Returns the desired values of the external resource: those of the spec, and the ownership tags if this object did
 * not create the resource. `create` sets them on all others. Only objects that may update set tags (MR13).
 */
export function withOwnershipTags(reconciliation: Reconciliation, observed: Present, forProvider: Values): Values {
  const { kind } = reconciliation.runtime
  if (!kind.tags || !reconciliation.policies.may.update || isDeleted(reconciliation.managed)) return forProvider
  if (ownershipOf(kind, reconciliation.managed, observed) === 'own') return forProvider
  const missing = missingTags(reconciliation, observed.atProvider, kind.tags.field)
  if (Object.keys(missing).length === 0) return forProvider
  const { field } = kind.tags
  return { ...forProvider, [field]: { ...missing, ...tagsIn(forProvider, field) } }
}

/**
 * Returns the ownership tags that the resource lacks and that `ignoreChanges` does not exclude. A resource with
 * tags of another object or control plane keeps them: two owners would overwrite each other's tags forever (INI4).
 */
function missingTags({ runtime, managed, spec }: Reconciliation, atProvider: Values, field: string): Tags {
  const wanted = ownershipTags(runtime.kind, managed)
  const held = tagsIn(atProvider, field)
  if (Object.entries(wanted).some(([key, value]) => (getOwn(held, key) ?? value) !== value)) return {}
  const missing = Object.fromEntries(Object.entries(wanted).filter(([key]) => getOwn(held, key) === undefined))
  const ignored = runtime.features.ignoreChanges ? (spec.ignoreChanges ?? []) : []
  const left = tagsIn(leaveAlone({ [field]: missing }, ignored, atProvider), field)
  return Object.fromEntries(Object.entries(missing).filter(([key]) => getOwn(left, key) !== undefined))
}
