import type { Controller, WatchedKind } from '@crosstie/controller'
import { groupResource, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import { aggregateClassType, aggregateType } from '../definition/aggregate.js'
import type { ClaimKind } from '../definition/claim.js'
import { type BindableSpec, claimLabels, keyOf, refersTo, specOf } from '../metadata/binding.js'
import { reconcileAggregate } from './delete-aggregate.js'
import { reconcileClaim } from './reconcile.js'
import { hasBindables, rememberBindable } from './release-unclaimed.js'
import {
  type BindingRuntime,
  bindingRuntimeFor,
  type ClaimOptions,
  type ClaimRuntime,
  claimRuntimeFor,
} from './runtime.js'

/**
 * Looks after all claims of one kind, with the combinations that are
 * registered here. Any number may run at once, in as many processes.
 */
export function claimController(kind: ClaimKind, options: ClaimOptions): Controller {
  return controllerOfClaims(claimRuntimeFor(kind, options))
}

export function controllerOfClaims(runtime: ClaimRuntime): Controller {
  const { kind } = runtime
  let wake: (key: ObjectKey) => void = () => {}
  const managed = [...new Set(runtime.bindings.map((binding) => binding.managed))]
  return {
    name: groupResource(kind.type),
    type: kind.type,
    reconcile: (key, signal) => reconcileClaim(runtime, key, signal),
    wakes: (before, after) => !(before && runtime.selfWrites.take(after)),
    begin(enqueue) {
      wake = enqueue
      return () => {
        wake = () => {}
      }
    },
    gone(claim) {
      runtime.memory.drop(claim.metadata.uid ?? '')
      // A last reconciliation releases objects that are still reserved for the claim, and forgets them.
      if (hasBindables(runtime, keyOf(claim))) wake(keyOf(claim))
    },
    inSync: (claim) => {
      const status = claim['status'] as
        | { bindingPhase?: string; conditions?: { type: string; status: string }[] }
        | undefined
      return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    },
    watches: [
      ...managed.map(({ type }) => claimsOfBindable(runtime, type)),
      claimsOfBindable(runtime, aggregateType),
      ...managed.map(({ classType }) => waitingClaims(runtime, classType)),
      waitingClaims(runtime, aggregateClassType),
      claimsOfConnection(runtime),
    ],
  }
}

/** Takes deleted aggregates apart, with all kinds that are registered here. */
export function aggregateController(options: ClaimOptions): Controller {
  return controllerOfAggregates(bindingRuntimeFor(options))
}

export function controllerOfAggregates(runtime: BindingRuntime): Controller {
  const managed = [...new Set(runtime.bindings.map((binding) => binding.managed))]
  const aggregateOf = (object: KubeObject): readonly ObjectKey[] => {
    const { aggregateRef } = specOf<BindableSpec>(object)
    return object.metadata.deletionTimestamp && aggregateRef?.name ? [{ name: aggregateRef.name }] : []
  }
  return {
    name: groupResource(aggregateType),
    type: aggregateType,
    reconcile: (key, signal) => reconcileAggregate(runtime, key, signal),
    wakes: (_, after) => after.metadata.deletionTimestamp !== undefined && !runtime.selfWrites.take(after),
    gone: ({ metadata }) => runtime.aggregates.drop(metadata.uid ?? ''),
    watches: managed.map(({ type }) => ({ type, concerns: aggregateOf })),
  }
}

/** The claim that a managed resource or an aggregate is for, and those that wait for it. */
function claimsOfBindable(runtime: ClaimRuntime, type: ResourceType): WatchedKind {
  return {
    type,
    concerns(object) {
      const { claimRef, aggregateRef } = specOf<BindableSpec>(object)
      const waiting = runtime.waiting.for(`${object.kind}/${object.metadata.name}`)
      if (claimRef?.name && claimRef.namespace) {
        if (!refersTo(claimRef, runtime.kind.type)) return waiting
        const key = { namespace: claimRef.namespace, name: claimRef.name }
        rememberBindable(runtime, key, type, object)
        return [key, ...waiting]
      }
      if (aggregateRef?.name) {
        // An aggregate that is not known is another kind's, or its claim was not looked at yet and will be.
        const claim = runtime.bound.claimOf(aggregateRef.name)
        return claim ? [claim, ...waiting] : waiting
      }
      // A free one may be the part that an aggregate was lacking.
      return [...waiting, ...labelled(object), ...runtime.waiting.for(aggregateType.kind)]
    },
  }
}

/** Connection details go on to the claim as soon as they change; what was written over is put right. */
function claimsOfConnection({ secretUsers, selfWrites }: ClaimRuntime): WatchedKind {
  return { type: secretType, concerns: (secret) => (selfWrites.take(secret) ? [] : secretUsers.of(secret)) }
}

function labelled({ metadata: { labels } }: KubeObject): readonly ObjectKey[] {
  const { [claimLabels.namespace]: namespace, [claimLabels.name]: name } = labels ?? {}
  return namespace && name ? [{ namespace, name }] : []
}

/** Whoever waits may do so for a class; there are few of either. */
function waitingClaims(runtime: ClaimRuntime, type: ResourceType): WatchedKind {
  return { type, concerns: () => runtime.waiting.all() }
}
