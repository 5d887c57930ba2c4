import { forbidden, type KubeObject, notFound, StatusError } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'

/** Throws 404 when the namespace of a new object does not exist, and 403 when it is under deletion. */
export function checkNamespaceOpen(engine: Engine, { served, namespace }: WriteRequest, object: KubeObject): void {
  if (!served.definition.namespaced) return
  const stored = engine.store.tip(`//namespaces/${namespace}`)
  if (!stored) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  if (!stored.object.metadata.deletionTimestamp) return
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const { message, details } = forbidden(served.type, object.metadata.name ?? '', why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  throw new StatusError(403, 'Forbidden', message, { details: { ...details, causes: [cause] } })
}

const immortal = new Set(['default', 'kube-system', 'kube-public'])

/** Throws 403 for a deletion of a system namespace. */
export function checkNamespaceDeletable({ served, name }: { served: WriteRequest['served']; name: string }): void {
  if (served.type.group === '' && served.type.resource === 'namespaces' && immortal.has(name)) {
    throw forbidden(served.type, name, 'this namespace may not be deleted')
  }
}
