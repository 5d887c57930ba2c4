import { notFound } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { Request } from '../serving/request.js'
import type { View } from '../serving/served.js'
import { checkNotInFuture, parseRevision } from './revision.js'

/** GET of one object. Synchronous unless a webhook converts it. Throws 404. */
export function get(engine: Engine, request: Request, resourceVersion = ''): View | Promise<View> {
  const { served, namespace, name } = request
  checkNotInFuture(engine, parseRevision(resourceVersion))
  const stored = engine.store.get(served.key(namespace, name))
  if (!stored) throw notFound(served.type, name)
  return served.fresh(stored)
}
