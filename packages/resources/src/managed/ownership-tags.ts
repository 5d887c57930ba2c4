import { getOwn, type KubeObject } from '@crosstie/kube'
import type { ManagedKind } from '../definition/define.js'
import type { Present } from '../external/external.js'
import { leaveAlone } from './difference.js'
import { externalTags, isDeleted, tagKey, tagsIn } from './meta.js'
import { ownershipOf } from './ownership.js'
import { managedSpecOf, type Turn, type Values } from './turn.js'

type Tags = Readonly<Record<string, string>>

/** The tags that say which object an external resource belongs to (MR13). The tag with the uid is not among them: only `create` sets it. */
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
 * The values that the external resource should have: those of the spec, and the ownership tags of a resource that this
 * object did not create. `create` sets them on all others. Only objects that may update set tags (MR13).
 */
export function withOwnershipTags(turn: Turn, observed: Present, forProvider: Values): Values {
  const { kind } = turn.kit
  if (!kind.tags || !turn.policies.may.update || isDeleted(turn.managed)) return forProvider
  if (ownershipOf(kind, turn.managed, observed) === 'own') return forProvider
  const missing = missingTags(turn, observed.atProvider, kind.tags.field)
  if (Object.keys(missing).length === 0) return forProvider
  const { field } = kind.tags
  return { ...forProvider, [field]: { ...missing, ...tagsIn(forProvider, field) } }
}

/**
 * The ownership tags that the resource lacks and that `ignoreChanges` does not exclude. A resource with tags of another
 * object or control plane keeps them: two owners would overwrite each other's tags forever (INI4).
 */
function missingTags({ kit, managed, spec }: Turn, atProvider: Values, field: string): Tags {
  const wanted = ownershipTags(kit.kind, managed)
  const held = tagsIn(atProvider, field)
  if (Object.entries(wanted).some(([key, value]) => (getOwn(held, key) ?? value) !== value)) return {}
  const missing = Object.fromEntries(Object.entries(wanted).filter(([key]) => getOwn(held, key) === undefined))
  const ignored = kit.features.ignoreChanges ? (spec.ignoreChanges ?? []) : []
  const left = tagsIn(leaveAlone({ [field]: missing }, ignored, atProvider), field)
  return Object.fromEntries(Object.entries(missing).filter(([key]) => getOwn(left, key) !== undefined))
}
