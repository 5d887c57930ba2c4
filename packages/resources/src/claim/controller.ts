import type { Controller, WatchedKind } from '@crosstie/controller'
import { groupResource, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { aggregateClassType, aggregateType } from '../aggregate/define.js'
import { reconcileAggregate } from '../aggregate/delete.js'
import { secretType } from '../connection/publish.js'
import type { ClaimKind } from './define.js'
import { type ClaimKit, type ClaimOptions, claimKitFor, kitFor } from './kit.js'
import { reconcileClaim } from './reconcile.js'
import { noteOffer } from './tidy.js'
import { claimLabels, type OfferSpec, refersTo, specOf } from './words.js'

/**
 * Looks after all claims of one kind, with the combinations that are
 * registered here. Any number may run at once, in as many processes.
 */
export function claimController(kind: ClaimKind, options: ClaimOptions): Controller {
  const kit = claimKitFor(kind, options)
  const managed = [...new Set(kit.bindings.map((binding) => binding.managed))]
  return {
    name: groupResource(kind.type),
    type: kind.type,
    reconcile: (key, signal) => reconcileClaim(kit, key, signal),
    wakes: (before, after) => !(before && kit.ownWrites.take(after)),
    inSync: (claim) => {
      const status = claim['status'] as
        | { bindingPhase?: string; conditions?: { type: string; status: string }[] }
        | undefined
      return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    },
    watches: [
      ...managed.map(({ type }) => whoseOffer(kit, type)),
      whoseOffer(kit, aggregateType),
      ...managed.map(({ classType }) => whoWaits(kit, classType)),
      whoWaits(kit, aggregateClassType),
      whoseConnection(kit),
    ],
  }
}

/** Takes deleted aggregates apart, with all kinds that are registered here. */
export function aggregateController(options: ClaimOptions): Controller {
  const kit = kitFor(options)
  const managed = [...new Set(kit.bindings.map((binding) => binding.managed))]
  const aggregateOf = (object: KubeObject): readonly ObjectKey[] => {
    const { aggregateRef } = specOf<OfferSpec>(object)
    return object.metadata.deletionTimestamp && aggregateRef?.name ? [{ name: aggregateRef.name }] : []
  }
  return {
    name: groupResource(aggregateType),
    type: aggregateType,
    reconcile: (key, signal) => reconcileAggregate(kit, key, signal),
    wakes: (_, after) => after.metadata.deletionTimestamp !== undefined && !kit.ownWrites.take(after),
    watches: managed.map(({ type }) => ({ type, concerns: aggregateOf })),
  }
}

/** The claim that a managed resource or an aggregate is for, and those that wait for it. */
function whoseOffer(kit: ClaimKit, type: ResourceType): WatchedKind {
  return {
    type,
    concerns(object) {
      const { claimRef, aggregateRef } = specOf<OfferSpec>(object)
      const waiting = waitFor(kit, `${object.kind}/${object.metadata.name}`)
      if (claimRef?.name && claimRef.namespace) {
        if (!refersTo(claimRef, kit.kind.type)) return waiting
        const key = { namespace: claimRef.namespace, name: claimRef.name }
        noteOffer(kit, key, type, object)
        return [key, ...waiting]
      }
      if (aggregateRef?.name) {
        // An aggregate that is not known is another kind's, or its claim was not looked at yet and will be.
        const claim = kit.claimOf.get(aggregateRef.name)
        return claim ? [claim, ...waiting] : waiting
      }
      // A free one may be the part that an aggregate was lacking.
      return [...waiting, ...labelled(object), ...waitFor(kit, aggregateType.kind)]
    },
  }
}

/** Connection details go on to the claim as soon as they change; what was written over is put right. */
function whoseConnection({ secretUsers, ownWrites }: ClaimKit): WatchedKind {
  return { type: secretType, concerns: (secret) => (ownWrites.take(secret) ? [] : secretUsers.of(secret)) }
}

function waitFor(kit: ClaimKit, what: string): ObjectKey[] {
  if (kit.waiting.size === 0) return []
  return [...kit.waiting.values()].filter((each) => each.what.startsWith(what)).map(({ key }) => key)
}

function labelled({ metadata: { labels } }: KubeObject): readonly ObjectKey[] {
  const { [claimLabels.namespace]: namespace, [claimLabels.name]: name } = labels ?? {}
  return namespace && name ? [{ namespace, name }] : []
}

/** Whoever waits may do so for a class; there are few of either. */
function whoWaits(kit: ClaimKit, type: ResourceType): WatchedKind {
  return { type, concerns: () => [...kit.waiting.values()].map(({ key }) => key) }
}
