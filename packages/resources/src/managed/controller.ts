import type { Controller, Next, WatchedKind } from '@crosstie/controller'
import { conditionsOf, groupResource, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import type { ManagedKind } from '../definition/managed.js'
import { reservationType } from '../definition/reservation.js'
import { desiredStateChanged, isDeleted } from '../metadata/metadata.js'
import { waitingForOwner, waitingForReservation } from './ownership/reservation.js'
import { reconcile } from './reconcile.js'
import { type KindRuntime, kindRuntimeFor, type ManagedOptions } from './runtime.js'

/** Keeps the external resources of one kind in step with their objects. A loop wakes it; it wakes nobody. */
export interface ManagedController extends Controller {
  readonly kind: ManagedKind
  /**
   * One reconcile. Never run it twice at once for the same object. Throws only
   * when the object cannot be read or its status not be written: back off then.
   */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Next>
  /** Is this change of an object a reason to reconcile at once? Our own writes are not. */
  wakes(before: KubeObject | undefined, after: KubeObject): boolean
  /** Ready and in step when it was last reported on. */
  inSync(object: KubeObject): boolean
}

export function managedController(kind: ManagedKind, options: ManagedOptions): ManagedController {
  return controllerOf(kindRuntimeFor(kind, options))
}

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

/** The kinds that fields of this one refer to, each once. */
function referenceTargets({ referenceFields }: KindRuntime): readonly ResourceType[] {
  const targets = referenceFields.map(({ node }) => node.reference!.to())
  return [...new Map(targets.map((type) => [groupResource(type), type])).values()]
}

/** What could not be resolved may resolve when what it refers to, or may choose, changes. */
function waitingForReference(runtime: KindRuntime, type: ResourceType): WatchedKind {
  const awaiting = function* (object: KubeObject) {
    for (const { unresolved } of runtime.memory.states()) if (unresolved?.awaits(object)) yield unresolved.key
  }
  return { type, concerns: awaiting }
}

/** A value that changed in a Secret is for the provider to know. */
function readersOfSecrets({ sensitiveFields, secretUsers }: KindRuntime): readonly WatchedKind[] {
  return sensitiveFields.length > 0 ? [{ type: secretType, concerns: (secret) => secretUsers.of(secret) }] : []
}
