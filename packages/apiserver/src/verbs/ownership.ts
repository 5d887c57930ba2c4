import { pauseOf } from '../serving/pace.js'
import { resetFieldsOf } from '../serving/request.js'
import type { WriteOperation } from './write-operation.js'

/** Records in managedFields which fields the write changed. Server-side apply has done so already. */
export function trackOwnership(operation: WriteOperation): void | Promise<void> {
  const { engine, request, live, object, proposal } = operation
  if (proposal.ownershipTracked) return
  const { served, subresource, fieldManager } = request
  const tracked = served.fields.trackUpdate({
    live,
    updated: object,
    manager: fieldManager,
    version: served.apiVersion,
    subresource: live ? subresource : undefined,
    now: engine.clock.now(),
    resetFields: resetFieldsOf(request),
    pause: pauseOf(request),
  })
  if (tracked instanceof Promise) {
    return tracked.then((ready) => {
      operation.object = ready
    })
  }
  operation.object = tracked
}
