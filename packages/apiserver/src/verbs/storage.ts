import type { KubeObject } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import { type Outcome, unstored, type WriteRequest } from '../serving/request.js'

/** Returns the object in the storage version. */
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

/** Removes nulls that the schema does not allow. Applied objects are validated with them and stored without them. */
export function withoutNulls({ served }: WriteRequest, object: KubeObject): KubeObject {
  return served.definition.strategy.validatesBySchema ? served.schema.dropNulls(object) : object
}

/**
 * Returns the outcome of a dry run: the object as if it had been written and read again. It gets the defaults of
 * the storage version and of status, which the writer could not send.
 */
export async function dryRunOutcome(
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
