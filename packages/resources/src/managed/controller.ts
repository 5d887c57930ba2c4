import type { KubeObject, ObjectKey, ResourceType } from '@crosstie/kube'
import type { ManagedKind } from '../definition/define.js'
import { kitFor, type ManagedOptions, type Next } from './kit.js'
import { desiredStateChanged, isDeleted } from './meta.js'
import { reconcile } from './reconcile.js'

/** Keeps the external resources of one kind in step with their objects. A loop wakes it; it wakes nobody. */
export interface ManagedController {
  readonly kind: ManagedKind
  /** The objects to watch. */
  readonly type: ResourceType
  /**
   * One reconcile. Never run it twice at once for the same object. Throws only
   * when the object cannot be read or its status not be written: back off then.
   */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Next>
  /** Is this change of an object a reason to reconcile at once? Our own writes are not. */
  wakes(before: KubeObject | undefined, after: KubeObject): boolean
}

export function managedController(kind: ManagedKind, options: ManagedOptions): ManagedController {
  const kit = kitFor(kind, options)
  return {
    kind,
    type: kind.type,
    async reconcile(key, signal) {
      try {
        const next = await reconcile(kit, key, signal)
        kit.metrics.reconciled(kind, next.after === 'backoff' ? 'waiting' : 'settled')
        return next
      } catch (error) {
        kit.metrics.reconciled(kind, 'failed')
        throw error
      }
    },
    wakes(before, after) {
      return !before || isDeleted(before) !== isDeleted(after) || desiredStateChanged(before, after)
    },
  }
}
