import type { KubeObject } from '@crosstie/kube'
import { decode } from '../decode/decode.js'
import type { Engine } from '../serving/engine.js'
import type { Body, Outcome, WriteRequest } from '../serving/request.js'
import { named } from './names.js'
import { withoutDuplicateOwners } from './owners.js'
import { reviewStages, stages, write } from './write-path.js'

/** POST: stores a new object, or answers a review such as SubjectAccessReview. */
export async function create(engine: Engine, request: WriteRequest, body: Body): Promise<Outcome> {
  const isReview = request.served.definition.strategy.answer !== undefined
  return await write(
    engine,
    request,
    {
      target: 'new',
      decode: () => withoutDuplicateOwners(request, decode(request, body), false),
      propose: (decoded: KubeObject) => ({
        object: isReview ? withNamespace(request, decoded) : named(request, decoded),
      }),
    },
    isReview ? reviewStages : stages,
  )
}

/** A review has no name, but its namespace matters. */
function withNamespace({ namespace }: WriteRequest, object: KubeObject): KubeObject {
  return namespace === '' ? object : { ...object, metadata: { ...object.metadata, namespace } }
}
