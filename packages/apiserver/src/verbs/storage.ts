import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { type Outcome, unstored, type WriteRequest } from '../serving/request.js'

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

/** What was applied was judged with its nulls; those that the schema does not allow are not stored. */
export function withoutNulls({ served }: WriteRequest, object: KubeObject): KubeObject {
  return served.definition.strategy.validatesBySchema ? served.schema.dropNulls(object) : object
}

/**
 * What a dry run comes to: the object as if it had been written and read again. On the way it gets the defaults of the
 * stored version, and those of the status, which the writer could not send.
 */
export async function imagined(
  engine: Engine,
  request: WriteRequest,
  object: KubeObject,
  created = false,
): Promise<Outcome> {
  const { served } = request
  if (served.isStorage && !served.definition.strategy.shapesOnRead) return unstored(object, created)
  const kept = await toStorage(engine, request, object)
  const view = await served.view({ key: '', revision: 0, object: kept, bytes: new Uint8Array() })
  return unstored(view.object, created)
}
