import type { Controller, WatchedKind } from '@crosstie/controller'
import { conditionsOf, groupResource, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { secretType } from '../connection/publish.js'
import type { ManagedKind } from '../definition/define.js'
import { reservationType } from '../reservation/define.js'
import { type Kit, kitFor, type ManagedOptions, type Next } from './kit.js'
import { desiredStateChanged, isDeleted } from './meta.js'
import { reconcile } from './reconcile.js'
import { waitingForOwner, waitingForReservation } from './reservation.js'

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
  return controllerOf(kitFor(kind, options))
}

export function controllerOf(kit: Kit): ManagedController {
  const { kind } = kit
  return {
    name: groupResource(kind.type),
    kind,
    type: kind.type,
    watches: [
      ...referenceTargets(kit).map((type) => whoWaitFor(kit, type)),
      ...whoReadSecrets(kit),
      { type: reservationType, concerns: (reservation) => waitingForReservation(kit, reservation) },
      { type: kind.type, concerns: (owner) => waitingForOwner(kit, owner) },
    ],
    begin: (wake) => kit.followers.begin(wake),
    async reconcile(key, signal) {
      try {
        const next = await reconcile(kit, key, signal)
        kit.metrics.reconciled(kind, next.after === 'backoff' || next.after === 'turn' ? 'waiting' : 'settled')
        return next
      } catch (error) {
        kit.metrics.reconciled(kind, 'failed')
        throw error
      }
    },
    wakes(before, after) {
      if (before && kit.ownWrites.take(after)) return false
      return !before || isDeleted(before) !== isDeleted(after) || desiredStateChanged(before, after)
    },
    gone: ({ metadata }) => kit.memory.drop(metadata.uid ?? ''),
    inSync(object) {
      const conditions = conditionsOf(object)
      const is = (type: string) =>
        conditions.some((condition) => condition.type === type && condition.status === 'True')
      return is('Ready') && is('Synced') && !isDeleted(object)
    },
  }
}

/** The kinds that fields of this one refer to, each once. */
function referenceTargets({ referenceFields }: Kit): readonly ResourceType[] {
  const targets = referenceFields.map(({ node }) => node.reference!.to())
  return [...new Map(targets.map((type) => [groupResource(type), type])).values()]
}

/** What could not be resolved may resolve when what it refers to, or may choose, changes. */
function whoWaitFor(kit: Kit, type: ResourceType): WatchedKind {
  const awaiting = function* (object: KubeObject) {
    for (const { key, awaits } of kit.memory.unresolved()) if (awaits(object)) yield key
  }
  return { type, concerns: awaiting }
}

/** A value that changed in a Secret is for the provider to know. */
function whoReadSecrets({ sensitiveFields, secretUsers }: Kit): readonly WatchedKind[] {
  return sensitiveFields.length > 0 ? [{ type: secretType, concerns: (secret) => secretUsers.of(secret) }] : []
}
