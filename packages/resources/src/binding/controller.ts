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
 * Returns the controller of all claims of one kind, with the bindings of this process. Several instances can run
 * concurrently, in any number of processes.
 */
export function claimController(kind: ClaimKind, options: ClaimOptions): Controller {
  return controllerOfClaims(claimRuntimeFor(kind, options))
}

/** Returns the controller of claims for an existing runtime. */
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
      // A final reconciliation releases objects that are still reserved for the claim, and forgets them.
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

/** Returns the controller that deletes the members of deleted aggregates, for all kinds of this process. */
export function aggregateController(options: ClaimOptions): Controller {
  return controllerOfAggregates(bindingRuntimeFor(options))
}

/** Returns the controller of aggregates for an existing runtime. */
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

/** Enqueues the claim that a managed resource or an aggregate refers to, and the claims that wait for the object. */
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
        // An unknown aggregate belongs to another kind of claim, or to a claim whose first reconciliation is still
        // queued.
        const claim = runtime.bound.claimOf(aggregateRef.name)
        return claim ? [claim, ...waiting] : waiting
      }
      // A free object may be a missing member of an aggregate.
      return [...waiting, ...labelled(object), ...runtime.waiting.for(aggregateType.kind)]
    },
  }
}

/** Enqueues the claims that use a changed connection Secret, to copy new details and to revert foreign changes. */
function claimsOfConnection({ secretUsers, selfWrites }: ClaimRuntime): WatchedKind {
  return { type: secretType, concerns: (secret) => (selfWrites.take(secret) ? [] : secretUsers.of(secret)) }
}

function labelled({ metadata: { labels } }: KubeObject): readonly ObjectKey[] {
  const { [claimLabels.namespace]: namespace, [claimLabels.name]: name } = labels ?? {}
  return namespace && name ? [{ namespace, name }] : []
}

/** Enqueues all waiting claims, since each may wait for this class. Both are few. */
function waitingClaims(runtime: ClaimRuntime, type: ResourceType): WatchedKind {
  return { type, concerns: () => runtime.waiting.all() }
}
