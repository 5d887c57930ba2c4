import type { KubeObject } from '@crosstie/kube'
import { decode } from '../decode/decode.js'
import type { Engine } from '../serving/engine.js'
import type { Body, Outcome, WriteRequest } from '../serving/request.js'
import { sameAsUrl } from './names.js'
import { withoutDuplicateOwners } from './owners.js'
import { checkRevision, checkUid } from './preconditions.js'
import { write } from './write-path.js'

/** PUT: replaces an object, or its status. Creates a missing object of the kinds whose strategy says `createOnUpdate`. */
export async function update(engine: Engine, request: WriteRequest, body: Body): Promise<Outcome> {
  const { unconditionalUpdate, createOnUpdate } = request.served.definition.strategy
  return await write(engine, request, {
    target: createOnUpdate && !request.subresource ? 'either' : 'existing',
    decode: () => withoutDuplicateOwners(request, sameAsUrl(request, decode(request, body)), false),
    propose(object: KubeObject, live: KubeObject | undefined) {
      if (live) {
        checkUid(request, object, live)
        checkRevision(request, object, live, unconditionalUpdate)
      }
      return { object }
    },
  })
}
