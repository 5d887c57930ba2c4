import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../engine.js'
import type { WriteRequest } from './request.js'

/** The object in the version that it is kept in. */
export async function toStorage(engine: Engine, request: WriteRequest, object: KubeObject): Promise<KubeObject> {
  const { served } = request
  if (served.isStorage) return object
  const { definition } = served
  if (definition.sharedWith) return definition.sharedWith.toShared(object)
  const storage = engine.registry.storage(definition)
  if (!definition.convert) return { ...object, apiVersion: storage.apiVersion }
  const [converted] = await definition.convert([object], definition.storage, request.signal?.())
  return { ...converted! }
}
