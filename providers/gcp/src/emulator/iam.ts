import { Failure } from './failure.js'
import { masked } from './lro.js'
import { existing, listed, projectOf, type Reply, type Request, reply, type Service, unsupported } from './service.js'
import { type Item, isItem, withoutZeros } from './values.js'

const missing = () => new Failure(404, 'Unknown service account', 'NOT_FOUND')
const DESCRIPTION_MAX = 256

export const iam: Service = (request) => {
  if (request.resource !== 'projects.serviceAccounts') throw unsupported(request)
  switch (request.verb) {
    case 'get':
      return reply(existing(request, missing))
    case 'list':
      return listed(request)
    case 'create':
      return create(request)
    case 'patch':
      return patch(request)
    case 'update':
      return replace(request)
    case 'delete':
      existing(request, missing)
      request.state.delete(request.key)
      return reply({})
    case 'enable':
    case 'disable':
      return setDisabled(request)
    case 'getIamPolicy':
      return reply(policyOf(request))
    case 'setIamPolicy':
      return setPolicy(request)
    default:
      throw unsupported(request)
  }
}

function create(request: Request): Reply {
  const { state, body, path } = request
  const id = String(body['accountId'] ?? '')
  if (!/^[a-z](?:[-a-z0-9]{4,28}[a-z0-9])$/.test(id)) {
    throw new Failure(
      400,
      'The account ID must have 6 to 30 lowercase letters, digits and hyphens.',
      'INVALID_ARGUMENT',
    )
  }
  const project = projectOf(request)
  const email = `${id}@${project}.iam.gserviceaccount.com`
  const key = `iam:${path}/${email}`
  if (state.has(key)) {
    throw new Failure(409, `Service account ${id} already exists within project projects/${project}.`, 'ALREADY_EXISTS')
  }
  const given = isItem(body['serviceAccount']) ? body['serviceAccount'] : {}
  checkDescription(given)
  const number = state.number()
  const item: Item = {
    ...given,
    email,
    etag: state.fingerprint(given),
    name: `${path}/${email}`,
    oauth2ClientId: number,
    projectId: project,
    uniqueId: number,
  }
  // IAM is eventually consistent: reads may miss a new account for a while.
  state.set(key, item, state.now() + state.consistencyMs)
  return reply(item)
}

function checkDescription({ description }: Item): void {
  if (String(description ?? '').length <= DESCRIPTION_MAX) return
  throw new Failure(400, `The description is longer than ${DESCRIPTION_MAX} bytes.`, 'INVALID_ARGUMENT')
}

function patch(request: Request): Reply {
  const { state, key, body } = request
  const item = existing(request, missing)
  const given = isItem(body['serviceAccount']) ? body['serviceAccount'] : {}
  const mask = body['updateMask']
  if (typeof mask !== 'string') throw new Failure(400, 'The update mask is required.', 'INVALID_ARGUMENT')
  const changes = masked(given, mask)
  checkDescription(changes)
  const { etag: _, ...rest } = withoutZeros({ ...item, ...changes }, new Set())
  state.set(key, { ...rest, etag: state.fingerprint(rest) })
  return reply({ ...changes, name: item['name'] })
}

function replace(request: Request): Reply {
  const { state, key, body } = request
  const item = existing(request, missing)
  const next = { ...item, displayName: body['displayName'], description: body['description'] }
  state.set(key, withoutZeros(next, new Set()))
  return reply(withoutZeros(next, new Set()))
}

function setDisabled(request: Request): Reply {
  const { state, key, verb } = request
  const { disabled: _, ...item } = existing(request, missing)
  state.set(key, verb === 'disable' ? { ...item, disabled: true } : item)
  return reply({})
}

function policyOf({ state, path }: Request): Item {
  return state.get(`iampolicy:${path}`) ?? { etag: 'ACAB' }
}

function setPolicy(request: Request): Reply {
  const { state, path, body } = request
  const policy = isItem(body['policy']) ? body['policy'] : {}
  const stored = { version: 1, ...policy, etag: state.fingerprint(policy) }
  state.set(`iampolicy:${path}`, stored)
  return reply(stored)
}
