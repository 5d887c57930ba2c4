import type { Controller, Next, WatchedKind } from '@crosstie/controller'
import { conditionsOf, groupResource, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import type { ManagedKind } from '../definition/managed.js'
import { reservationType } from '../definition/reservation.js'
import { desiredStateChanged, isDeleted } from '../metadata/metadata.js'
import { waitingForOwner, waitingForReservation } from './ownership/reservation.js'
import { reconcile } from './reconcile.js'
import { type KindRuntime, kindRuntimeFor, type ManagedOptions } from './runtime.js'

/** Keeps the external resources of one kind in sync with their objects. A control loop calls it. */
export interface ManagedController extends Controller {
  readonly kind: ManagedKind
  /**
   * Reconciles one object. Do not run it concurrently for the same object. Throws only if the object cannot be read
   * or its status cannot be written; the caller then backs off.
   */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Next>
  /** Reports whether a change of an object requires an immediate reconcile. Writes of this controller do not. */
  wakes(before: KubeObject | undefined, after: KubeObject): boolean
  /** Reports whether the object was ready and in sync when its status was last written. */
  inSync(object: KubeObject): boolean
}

/** Returns a controller for a managed kind. */
export function managedController(kind: ManagedKind, options: ManagedOptions): ManagedController {
  return controllerOf(kindRuntimeFor(kind, options))
}

/** Returns a controller that uses an existing runtime. */
export function controllerOf(runtime: KindRuntime): ManagedController {
  const { kind } = runtime
  return {
    name: groupResource(kind.type),
    kind,
    type: kind.type,
    watches: [
      ...referenceTargets(runtime).map((type) => waitingForReference(runtime, type)),
      ...readersOfSecrets(runtime),
      { type: reservationType, concerns: (reservation) => waitingForReservation(runtime, reservation) },
      { type: kind.type, concerns: (owner) => waitingForOwner(runtime, owner) },
    ],
    begin: (wake) => runtime.subscriptions.begin(wake),
    async reconcile(key, signal) {
      try {
        const next = await reconcile(runtime, key, signal)
        runtime.metrics.reconciled(kind, next.after === 'backoff' || next.after === 'turn' ? 'waiting' : 'settled')
        return next
      } catch (error) {
        runtime.metrics.reconciled(kind, 'failed')
        throw error
      }
    },
    wakes(before, after) {
      if (before && runtime.selfWrites.take(after)) return false
      return !before || isDeleted(before) !== isDeleted(after) || desiredStateChanged(before, after)
    },
    gone: ({ metadata }) => runtime.memory.drop(metadata.uid ?? ''),
    inSync(object) {
      const conditions = conditionsOf(object)
      const is = (type: string) =>
        conditions.some((condition) => condition.type === type && condition.status === 'True')
      return is('Ready') && is('Synced') && !isDeleted(object)
    },
  }
}

/** Returns the kinds that fields of this kind refer to, without duplicates. */
function referenceTargets({ referenceFields }: KindRuntime): readonly ResourceType[] {
  const targets = referenceFields.map(({ node }) => node.reference!.to())
  return [...new Map(targets.map((type) => [groupResource(type), type])).values()]
}

/** Wakes objects with unresolved references when a possible target changes. */
function waitingForReference(runtime: KindRuntime, type: ResourceType): WatchedKind {
  const awaiting = function* (object: KubeObject) {
    for (const { unresolved } of runtime.memory.states()) if (unresolved?.awaits(object)) yield unresolved.key
  }
  return { type, concerns: awaiting }
}

/** Wakes objects when a Secret that they read changes, because the provider needs the new value. */
function readersOfSecrets({ sensitiveFields, secretUsers }: KindRuntime): readonly WatchedKind[] {
  return sensitiveFields.length > 0 ? [{ type: secretType, concerns: (secret) => secretUsers.of(secret) }] : []
}
