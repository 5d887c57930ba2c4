import { Failure } from './failure.js'
import {
  existing,
  listed,
  PROJECT_NUMBER,
  type Reply,
  type Request,
  reply,
  type Service,
  unsupported,
} from './service.js'
import { type Item, isItem, merged, patched } from './values.js'

const ROOT = 'https://www.googleapis.com/storage/v1/'
const missing = () => new Failure(404, 'The specified bucket does not exist.', 'notFound')
const multiRegions = new Set(['US', 'EU', 'ASIA'])

export const storage: Service = (request) => {
  if (request.resource === 'objects') return objects(request)
  if (request.resource !== 'buckets') throw unsupported(request)
  switch (request.verb) {
    case 'get':
      return reply(projected(request, existing(request, missing)))
    case 'list':
      return list(request)
    case 'insert':
      return insert(request)
    case 'patch':
      return change(request, patched, 'full')
    case 'update':
      return change(request, (item, body) => ({ ...readOnly(item), ...withDefaults(body) }), 'full')
    case 'delete':
      return remove(request)
    case 'getIamPolicy':
      return reply(policyOf(request))
    case 'setIamPolicy':
      return setPolicy(request)
    default:
      throw unsupported(request)
  }
}

function list(request: Request): Reply {
  const project = request.query.get('project')
  const { body } = listed({ ...request, key: 'storage:b' }, { kind: 'storage#buckets' })
  const items = Array.isArray(body?.['items']) ? body['items'].filter(isItem) : []
  const own = items.filter((item) => item['_project'] === project).map((item) => projected(request, item))
  const { items: _, ...rest } = body ?? {}
  return reply({ ...rest, ...(own.length > 0 ? { items: own } : {}) })
}

function insert(request: Request): Reply {
  const { state, body, query } = request
  const name = String(body['name'])
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(name)) {
    throw new Failure(400, `Invalid bucket name: '${name}'`, 'invalid')
  }
  const key = `storage:b/${name}`
  if (state.has(key)) {
    const text = 'Your previous request to create the named bucket succeeded and you already own it.'
    throw new Failure(409, text, 'conflict')
  }
  const location = String(body['location'] ?? 'US').toUpperCase()
  const time = state.time()
  const item: Item = {
    ...withDefaults(body),
    generation: String(state.now()),
    id: name,
    kind: 'storage#bucket',
    location,
    locationType: multiRegions.has(location)
      ? 'multi-region'
      : /^[A-Z]+\d+$/.test(location) && !location.includes('-')
        ? 'dual-region'
        : 'region',
    metageneration: '1',
    name,
    projectNumber: PROJECT_NUMBER,
    selfLink: `${ROOT}b/${name}`,
    timeCreated: time,
    updated: time,
    _project: query.get('project') ?? '',
  }
  if (item['locationType'] === 'region') delete item['rpo']
  state.set(key, finished(item, request))
  return reply(projected(request, finished(item, request), 'noAcl'))
}

function withDefaults(body: Item): Item {
  const uniform = isItem(body['iamConfiguration']) ? body['iamConfiguration']['uniformBucketLevelAccess'] : undefined
  const enabled = isItem(uniform) && uniform['enabled'] === true
  const defaults: Item = {
    iamConfiguration: {
      bucketPolicyOnly: { enabled },
      publicAccessPrevention: 'inherited',
      uniformBucketLevelAccess: { enabled },
    },
    rpo: 'DEFAULT',
    softDeletePolicy: { retentionDurationSeconds: '604800' },
    storageClass: 'STANDARD',
  }
  return merged(defaults, body)
}

/** Values that follow from others. Empty collections are not shown. */
function finished(item: Item, { state }: Request): Item {
  const { softDeletePolicy: soft, iamConfiguration: iam, retentionPolicy: retention, etag: _, ...others } = item
  const shown = Object.entries(others).filter(([name, value]) => !isEmptyCollection(name, value))
  const rest: Item = {
    ...Object.fromEntries(shown),
    ...(isItem(soft) ? { softDeletePolicy: softDelete(soft, state.time()) } : {}),
    ...(isItem(iam)
      ? { iamConfiguration: { ...iam, bucketPolicyOnly: iam['uniformBucketLevelAccess'] ?? { enabled: false } } }
      : {}),
    ...(isItem(retention) ? { retentionPolicy: { effectiveTime: state.time(), ...retention } } : {}),
  }
  return { ...rest, etag: state.fingerprint(rest) }
}

function softDelete({ effectiveTime, ...policy }: Item, time: string): Item {
  return policy['retentionDurationSeconds'] === '0' ? policy : { ...policy, effectiveTime: effectiveTime ?? time }
}

function isEmptyCollection(name: string, value: unknown): boolean {
  const items = name === 'lifecycle' && isItem(value) ? value['rule'] : value
  return ['labels', 'cors', 'lifecycle'].includes(name) && Object.keys(Object(items)).length === 0
}

const readOnly = (item: Item): Item =>
  Object.fromEntries(
    [
      'generation',
      'id',
      'kind',
      'location',
      'locationType',
      'metageneration',
      'name',
      'projectNumber',
      'selfLink',
      'timeCreated',
      '_project',
    ].map((name) => [name, item[name]]),
  )

/** Fields that a change must not touch. */
const fixed = ['location', 'name', 'hierarchicalNamespace', 'customPlacementConfig']

function change(request: Request, apply: (item: Item, body: Item) => Item, projection: string): Reply {
  const { state, key, body, query } = request
  const item = existing(request, missing)
  const match = query.get('ifMetagenerationMatch')
  if (match !== null && match !== item['metageneration']) {
    throw new Failure(412, 'At least one of the pre-conditions you specified did not hold.', 'conditionNotMet')
  }
  for (const name of fixed) {
    const given = body[name]
    if (given !== undefined && JSON.stringify(given).toUpperCase() !== JSON.stringify(item[name]).toUpperCase()) {
      throw new Failure(400, `The ${name} of a bucket cannot be changed.`, 'invalid')
    }
  }
  const metageneration = String(Number(item['metageneration']) + 1)
  const next = finished({ ...apply(item, body), metageneration, updated: state.time() }, request)
  state.set(key, next)
  return reply(projected(request, next, projection))
}

/** Access control lists are part of a full projection, and not used with uniform access. */
function projected({ query }: Request, item: Item, usual = 'noAcl'): Item {
  const { _project, ...shown } = item
  const projection = query.get('projection') ?? usual
  const iam = item['iamConfiguration']
  const uniform =
    isItem(iam) && isItem(iam['uniformBucketLevelAccess']) && iam['uniformBucketLevelAccess']['enabled'] === true
  if (projection !== 'full' || uniform) return shown
  return { ...shown, ...accessOf(String(item['name']), String(item['etag'])) }
}

function accessOf(bucket: string, etag: string): Item {
  const teams = [
    ['owners', 'OWNER'],
    ['editors', 'OWNER'],
    ['viewers', 'READER'],
  ] as const
  const acl = teams.map(([team, role]) => {
    const entity = `project-${team}-${PROJECT_NUMBER}`
    return {
      bucket,
      entity,
      etag,
      id: `${bucket}/${entity}`,
      kind: 'storage#bucketAccessControl',
      projectTeam: { projectNumber: PROJECT_NUMBER, team },
      role,
      selfLink: `${ROOT}b/${bucket}/acl/${entity}`,
    }
  })
  const defaultObjectAcl = teams.map(([team, role]) => ({
    entity: `project-${team}-${PROJECT_NUMBER}`,
    etag,
    kind: 'storage#objectAccessControl',
    projectTeam: { projectNumber: PROJECT_NUMBER, team },
    role,
  }))
  return { acl, defaultObjectAcl, owner: { entity: `project-owners-${PROJECT_NUMBER}` } }
}

function remove(request: Request): Reply {
  existing(request, missing)
  request.state.delete(request.key)
  return { status: 204, body: undefined }
}

/** The emulator stores no objects. */
function objects(request: Request): Reply {
  if (request.verb !== 'list') throw unsupported(request)
  existing({ ...request, key: request.key.replace(/\/o$/, '') }, missing)
  return reply({ kind: 'storage#objects' })
}

function policyOf({ state, path, key }: Request): Item {
  if (!state.get(key.replace(/\/iam$/, ''))) throw missing()
  return (
    state.get(`iampolicy:${path}`) ?? {
      kind: 'storage#policy',
      resourceId: path,
      version: 1,
      etag: 'CAE=',
      bindings: [],
    }
  )
}

function setPolicy(request: Request): Reply {
  const policy = { ...policyOf(request), ...request.body, etag: request.state.fingerprint(request.body) }
  request.state.set(`iampolicy:${request.path}`, policy)
  return reply(policy)
}
