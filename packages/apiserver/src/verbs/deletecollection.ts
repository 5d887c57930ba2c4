import { isNotFound } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { WriteRequest } from '../serving/request.js'
import type { View } from '../serving/served.js'
import { type DeleteOptions, remove } from './delete.js'
import { type Listing, type ListParameters, list } from './list.js'

const AT_ONCE = 16

/** DELETE of a collection: deletes each selected object. */
export async function removeAll(
  engine: Engine,
  request: WriteRequest,
  parameters: ListParameters,
  options: DeleteOptions,
): Promise<Listing> {
  const listing = await list(engine, request, parameters)
  const removed: View[] = []
  const queue = listing.views.values()
  const work = async () => {
    for (const view of queue) {
      const { namespace = '', name = '' } = view.object.metadata
      try {
        const deletion = await remove(engine, { ...request, namespace, name }, options, '')
        removed.push('waits' in deletion ? deletion.waits : deletion.gone)
      } catch (error) {
        if (!isNotFound(error)) throw error // Another client deleted it.
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { ...listing, views: removed }
}
