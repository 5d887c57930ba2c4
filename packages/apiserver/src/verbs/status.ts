import type { KubeObject } from '@crosstie/kube'
import type { WriteRequest } from '../serving/request.js'

/**
 * The status subresource of custom resources. Where a kind has one, `/status` changes nothing but status, the main endpoint
 * changes everything else, and a create ignores status. Built-in kinds do the same in their `prepare`.
 */
export function isolateStatus({ served, subresource }: WriteRequest, object: KubeObject, live: KubeObject): KubeObject {
  if (!served.definition.strategy.isolatesStatus || !served.version.subresources.status) return object
  if (subresource === 'status') {
    const { resourceVersion, managedFields } = object.metadata
    const metadata = { ...live.metadata, resourceVersion, managedFields }
    return withStatus({ ...live, metadata }, object['status'])
  }
  return withStatus(object, live['status'])
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  if (status !== undefined) return { ...object, status }
  return dropStatus(object)
}

/** Returns a new object without the status that its creator sent, where status has an endpoint of its own. */
export function withoutStatus({ served }: Pick<WriteRequest, 'served'>, object: KubeObject): KubeObject {
  if (!served.version.subresources.status || !('status' in object)) return object
  if (!served.definition.strategy.isolatesStatus) return object
  return dropStatus(object)
}

function dropStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object
  return rest as KubeObject
}
