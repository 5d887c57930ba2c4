import { Failure } from './failure.js'
import { existing, listed, type Reply, type Request, reply } from './service.js'
import type { Item } from './values.js'

interface Started {
  readonly request: Request
  /** The full name of the resource. */
  readonly target: string
  readonly verb: string
  /** The type of the response, such as google.cloud.redis.v1.Instance. */
  readonly type: string
  /** Changes the state when the operation ends. Returns the resource, or undefined after a delete. */
  readonly finish: () => Item | undefined
}

/** Operations of the newer services: `{name, done, metadata, response}`. */
export function startLongRunning({ request, target, verb, type, finish }: Started): Reply {
  const { state, api } = request
  if (state.busy(`${api.name}:${target}`)) {
    throw new Failure(400, `Resource '${target}' has an operation in progress.`, 'FAILED_PRECONDITION')
  }
  const place = /projects\/[^/]+\/locations\/[^/]+/.exec(target)?.[0] ?? ''
  const name = `${place}/operations/operation-${state.number()}`
  const metadata = {
    '@type': `type.googleapis.com/google.cloud.${api.name}.${api.version}.OperationMetadata`,
    apiVersion: api.version,
    createTime: state.time(),
    target,
    verb,
  }
  const key = `${api.name}:${name}`
  return reply(
    state.begin(key, { done: false, metadata, name }, `${api.name}:${target}`, () => {
      const item = finish()
      const response = item
        ? { '@type': `type.googleapis.com/${type}`, ...item }
        : { '@type': 'type.googleapis.com/google.protobuf.Empty' }
      state.set(key, {
        done: true,
        metadata: { ...metadata, endTime: state.time() },
        name,
        response: response,
      })
    }),
  )
}

export function operations(request: Request): Reply {
  if (request.verb === 'list') return listed(request)
  const { path } = request
  return reply(existing(request, () => new Failure(404, `Operation '${path}' was not found`, 'NOT_FOUND')))
}

/** The fields of the body that a mask names, in camel case. */
export function masked(body: Item, mask: string | null): Item {
  if (!mask) return body
  const names = mask.split(',').map((path) =>
    path
      .trim()
      .split('.')[0]
      ?.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
  )
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)))
}
