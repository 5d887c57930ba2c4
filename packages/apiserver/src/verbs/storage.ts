import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../engine.js'
import type { Served } from '../serving/served.js'

/** The object in the version that it is kept in. */
export async function toStorage(
  engine: Engine,
  served: Served,
  object: KubeObject,
  signal?: AbortSignal,
): Promise<KubeObject> {
  if (served.isStorage) return object
  const { definition } = served
  if (definition.sharedWith) return definition.sharedWith.toShared(object)
  const storage = engine.registry.storage(definition)
  if (!definition.convert) return storage.fit({ ...object, apiVersion: storage.apiVersion })
  const [converted] = await definition.convert([object], definition.storage, signal)
  return storage.fit(converted!)
}
