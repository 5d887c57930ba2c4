import { Failure } from './failure.js'
import { masked } from './lro.js'
import { existing, lastOf, listed, type Reply, type Request, reply, type Service, unsupported } from './service.js'
import { type Item, isItem, merged, patched } from './values.js'

/** Cloud KMS and Pub/Sub, as far as clusters and their tests need them: their changes take effect at once. */

export const pubsub: Service = (request) => {
  const { path, key, verb, state, body } = request
  const missing = () => new Failure(404, `Resource not found (resource=${lastOf(path)}).`, 'NOT_FOUND')
  switch (verb) {
    case 'get':
      return reply(existing(request, missing))
    case 'list':
      return listed(request)
    case 'create': {
      if (state.has(key))
        throw new Failure(409, `Resource already exists in the project (resource=${lastOf(path)}).`, 'ALREADY_EXISTS')
      const item = { ...body, name: path }
      state.set(key, item)
      return reply(item)
    }
    case 'patch': {
      const inner = body['topic'] ?? body['subscription']
      const changes = masked(isItem(inner) ? inner : {}, String(body['updateMask'] ?? ''))
      const item = patched(existing(request, missing), changes)
      state.set(key, item)
      return reply(item)
    }
    case 'delete':
      existing(request, missing)
      state.delete(key)
      return reply({})
    default:
      throw unsupported(request)
  }
}

const kinds: Readonly<Record<string, string>> = {
  keyRings: 'KeyRing',
  cryptoKeys: 'CryptoKey',
  cryptoKeyVersions: 'CryptoKeyVersion',
}

export const kms: Service = (request) => {
  const { path, verb, state, key, query, body } = request
  const kind = kinds[path.split('/').at(-2) ?? ''] ?? 'Resource'
  const missing = () => new Failure(404, `${kind} ${path} not found.`, 'NOT_FOUND')
  switch (verb) {
    case 'get':
      return reply(existing(request, missing))
    case 'list':
      return reply({ ...listed(request).body, totalSize: state.children(key).length })
    case 'create':
      return createKey(request)
    case 'patch': {
      const item = merged(existing(request, missing), masked(body, query.get('updateMask')))
      state.set(key, item)
      return reply(item)
    }
    case 'destroy': {
      const item = { ...existing(request, missing), state: 'DESTROY_SCHEDULED', destroyTime: state.time() }
      state.set(key, item)
      return reply(item)
    }
    default:
      throw unsupported(request)
  }
}

function createKey(request: Request): Reply {
  const { path, state, query, body } = request
  const collection = lastOf(path)
  const id = query.get('keyRingId') ?? query.get('cryptoKeyId') ?? String(state.children(request.key).length + 1)
  const name = `${path}/${id}`
  const key = `cloudkms:${name}`
  if (state.has(key))
    throw new Failure(409, `${kinds[collection] ?? 'Resource'} ${name} already exists.`, 'ALREADY_EXISTS')
  const base: Item = { ...body, createTime: state.time(), name }
  if (collection !== 'cryptoKeys') {
    state.set(key, base)
    return reply(base)
  }
  const template = {
    algorithm: 'GOOGLE_SYMMETRIC_ENCRYPTION',
    protectionLevel: 'SOFTWARE',
    ...Object(body['versionTemplate']),
  }
  const time = state.time()
  const version: Item = {
    ...template,
    createTime: time,
    generateTime: time,
    name: `${name}/cryptoKeyVersions/1`,
    state: 'ENABLED',
  }
  const skip = query.get('skipInitialVersionCreation') === 'true'
  const item: Item = {
    ...base,
    destroyScheduledDuration: body['destroyScheduledDuration'] ?? '2592000s',
    versionTemplate: template,
    ...(skip ? {} : { primary: version }),
  }
  state.set(key, item)
  if (!skip) state.set(`${key}/cryptoKeyVersions/1`, version)
  return reply(item)
}
