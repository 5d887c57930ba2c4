import type { Json } from '@crosstie/kube'
import { Failure } from './failure.js'
import {
  existing,
  listed,
  PROJECT_NUMBER,
  projectOf,
  type Reply,
  type Request,
  reply,
  type Service,
  USER,
  unsupported,
  zoneOf,
} from './service.js'
import { installedVersion, upgradesOf } from './sql-versions.js'
import { type Item, isItem, merged, patched, withoutZeros } from './values.js'

const ROOT = 'https://sqladmin.googleapis.com/sql/v1beta4/'
const missing = () => new Failure(404, 'The Cloud SQL instance does not exist.', 'instanceDoesNotExist')

export const sql: Service = (request) => {
  switch (request.resource) {
    case 'instances':
      return instances(request)
    case 'operations':
      if (request.verb === 'list') return listed(request, { kind: 'sql#operationsList' })
      return reply(existing(request, () => new Failure(404, 'The operation does not exist.', 'operationDoesNotExist')))
    case 'users':
      return children(request, 'user', userOf)
    case 'databases':
      return children(request, 'database', databaseOf)
    default:
      throw unsupported(request)
  }
}

function instances(request: Request): Reply {
  switch (request.verb) {
    case 'get':
      return reply(existing(request, missing))
    case 'list':
      return listed(request, { kind: 'sql#instancesList' })
    case 'insert':
      return insert(request)
    case 'patch':
      return change(request, (item) => patched(item, request.body))
    case 'update':
      return change(request, (item) => replaced(item, request))
    case 'delete':
      return remove(request)
    case 'restart':
    case 'failover':
      return change({ ...request, key: parentOf(request.key), path: parentOf(request.path) }, (item) => item)
    default:
      throw unsupported(request)
  }
}

function insert(request: Request): Reply {
  const { state, path, body } = request
  const name = String(body['name'] ?? '')
  if (!/^[a-z]([-a-z0-9]{0,96}[a-z0-9])?$/.test(name)) throw invalid(`Invalid request: instance name (${name}).`)
  if (!isItem(body['settings']) || !body['settings']['tier']) {
    if (body['instanceType'] !== 'ON_PREMISES_INSTANCE') throw invalid('Invalid request: Missing parameter: tier.')
  }
  const target = `${path}/${name}`
  const key = `sqladmin:${target}`
  if (state.has(key)) throw new Failure(409, 'The Cloud SQL instance already exists.', 'instanceAlreadyExists')
  const item = completed(withDefaults(request, target, name), request)
  state.set(key, { ...item, state: 'PENDING_CREATE' })
  const admin = administratorOf(item)
  return started(request, 'CREATE', target, () => {
    state.set(key, item)
    if (admin) state.set(`${key}/users/${admin}`, userOf({ name: admin, host: '' }, item, state.fingerprint(name)))
  })
}

const invalid = (message: string) => new Failure(400, message, 'invalid')

function withDefaults(request: Request, target: string, name: string): Item {
  const { state, body } = request
  const project = projectOf(request)
  const region = String(body['region'] ?? 'us-central1')
  const { rootPassword: _, ...given } = body
  const fixed: Item = {
    backendType: 'SECOND_GEN',
    connectionName: `${project}:${region}:${name}`,
    createTime: state.time(),
    instanceType: 'CLOUD_SQL_INSTANCE',
    kind: 'sql#instance',
    project,
    region,
    satisfiesPzi: true,
    selfLink: ROOT + target,
    serverCaCert: certificate(state.time(), name),
    serviceAccountEmailAddress: `p${PROJECT_NUMBER}-abcdef@gcp-sa-cloud-sql.iam.gserviceaccount.com`,
    sqlNetworkArchitecture: 'NEW_NETWORK_ARCHITECTURE',
    databaseVersion: 'MYSQL_8_0',
    state: 'RUNNABLE',
    settings: defaultSettings(region, given),
  }
  return merged(fixed, given)
}

function defaultSettings(region: string, body: Item): Item & Json {
  const settings = isItem(body['settings']) ? body['settings'] : {}
  const preference = isItem(settings['locationPreference']) ? settings['locationPreference'] : {}
  const isPostgres = String(body['databaseVersion']).startsWith('POSTGRES')
  return {
    activationPolicy: 'ALWAYS',
    authorizedGaeApplications: [],
    availabilityType: 'ZONAL',
    backupConfiguration: {
      backupRetentionSettings: { retainedBackups: 7, retentionUnit: 'COUNT' },
      enabled: false,
      kind: 'sql#backupConfiguration',
      startTime: '12:00',
      transactionLogRetentionDays: 7,
      transactionalLogStorageState: 'TRANSACTIONAL_LOG_STORAGE_STATE_UNSPECIFIED',
    },
    connectorEnforcement: 'NOT_REQUIRED',
    dataDiskSizeGb: '10',
    dataDiskType: 'PD_SSD',
    deletionProtectionEnabled: false,
    edition: isPostgres && /_(16|17|18)$/.test(String(body['databaseVersion'])) ? 'ENTERPRISE_PLUS' : 'ENTERPRISE',
    ipConfiguration: {
      authorizedNetworks: [],
      ipv4Enabled: true,
      requireSsl: false,
      sslMode: 'ALLOW_UNENCRYPTED_AND_ENCRYPTED',
    },
    kind: 'sql#settings',
    locationPreference: { kind: 'sql#locationPreference', ...(preference['zone'] ? {} : { zone: zoneOf(region) }) },
    pricingPlan: 'PER_USE',
    replicationType: 'SYNCHRONOUS',
    settingsVersion: '1',
    storageAutoResize: true,
    storageAutoResizeLimit: '0',
  }
}

const certificate = (time: string, instance: string) => ({
  cert: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
  certSerialNumber: '0',
  commonName: 'common-name',
  createTime: time,
  expirationTime: time,
  instance,
  kind: 'sql#sslCert',
  sha1Fingerprint: '12345678',
})

/** Values that follow from others. */
function completed(item: Item, { state }: Request): Item {
  const version = String(item['databaseVersion'])
  const isPostgres = version.startsWith('POSTGRES')
  const { version: patch, maintenance } = installedVersion(version)
  const settings = isItem(item['settings']) ? item['settings'] : {}
  const preference = isItem(settings['locationPreference']) ? settings['locationPreference'] : {}
  const ip = isItem(settings['ipConfiguration']) ? settings['ipConfiguration'] : {}
  const addresses = [
    ...(ip['ipv4Enabled'] === false ? [] : [{ ipAddress: '10.10.10.10', type: 'PRIMARY' }]),
    ...(ip['ipv4Enabled'] !== false && isPostgres ? [{ ipAddress: '10.10.10.11', type: 'OUTGOING' }] : []),
    ...(ip['privateNetwork'] ? [{ ipAddress: '10.10.10.12', type: 'PRIVATE' }] : []),
  ]
  const { rootPassword: _, etag: __, skipPrecheck: ___, ...rest } = item
  const next: Item = {
    ...rest,
    databaseInstalledVersion: patch,
    maintenanceVersion: maintenance,
    gceZone: preference['zone'] ?? zoneOf(String(item['region'])),
    geminiConfig: geminiOf(isPostgres),
    ipAddresses: addresses,
  }
  const upgrades = upgradesOf(version)
  if (upgrades.length > 0) next['upgradableDatabaseVersions'] = upgrades
  else delete next['upgradableDatabaseVersions']
  return { ...next, etag: state.fingerprint(next) }
}

function geminiOf(isPostgres: boolean): Json {
  const common = { activeQueryEnabled: false, entitled: false, indexAdvisorEnabled: false }
  if (!isPostgres) return { ...common, flagRecommenderEnabled: true }
  return { ...common, googleVacuumMgmtEnabled: false, oomSessionCancelEnabled: false }
}

/** An update replaces the settings, and the defaults apply again. */
function replaced(item: Item, { body }: Request): Item {
  const settings = isItem(body['settings']) ? body['settings'] : {}
  const held = isItem(item['settings']) ? item['settings'] : {}
  const defaults = merged(defaultSettings(String(item['region']), { ...item, ...body }), {
    settingsVersion: held['settingsVersion'],
  })
  return { ...item, ...body, settings: merged(defaults, settings) }
}

function change(request: Request, apply: (item: Item) => Item): Reply {
  const { state, key, path, body } = request
  const item = existing(request, missing)
  const settings = isItem(item['settings']) ? item['settings'] : {}
  const given = isItem(body['settings']) ? body['settings']['settingsVersion'] : undefined
  if (given !== undefined && given !== settings['settingsVersion']) {
    throw new Failure(412, 'Condition does not match.', 'staleData')
  }
  if (body['region'] !== undefined && body['region'] !== item['region'])
    throw invalid('The region of an instance cannot be changed.')
  const next = completed(apply(item), request)
  const nextSettings = isItem(next['settings']) ? next['settings'] : {}
  const version = String(Number(settings['settingsVersion'] ?? 0) + 1)
  return started(request, 'UPDATE', path, () =>
    state.set(key, { ...next, settings: { ...nextSettings, settingsVersion: version }, state: 'RUNNABLE' }),
  )
}

function remove(request: Request): Reply {
  const { state, key, path } = request
  const item = existing(request, missing)
  const settings = isItem(item['settings']) ? item['settings'] : {}
  if (settings['deletionProtectionEnabled'] === true) {
    throw new Failure(
      400,
      'The instance is protected. Please disable the deletion protection and try again.',
      'invalid',
    )
  }
  const begun = started(request, 'DELETE', path, () => state.delete(key))
  state.set(key, { ...item, state: 'PENDING_DELETE' })
  return begun
}

/** Starts an operation. An instance accepts one at a time. */
function started(request: Request, type: string, target: string, finish: () => void, isDone = false): Reply {
  const { state } = request
  const project = projectOf(request)
  if (state.busy(`sqladmin:${target}`)) {
    throw new Failure(409, 'Operation failed because another operation was already in progress.', 'operationInProgress')
  }
  const name = `op-${state.number()}`
  const key = `sqladmin:projects/${project}/operations/${name}`
  const operation: Item = {
    insertTime: state.time(),
    kind: 'sql#operation',
    name,
    operationType: type,
    selfLink: `${ROOT}projects/${project}/operations/${name}`,
    status: 'PENDING',
    targetId: /instances\/([^/]+)/.exec(target)?.[1] ?? '',
    targetLink: ROOT + (/.*?instances\/[^/]+/.exec(target)?.[0] ?? target),
    targetProject: project,
    user: USER,
  }
  const ended = () => ({ ...operation, startTime: state.time(), endTime: state.time(), status: 'DONE' })
  if (isDone) {
    finish()
    state.set(key, ended())
    return reply(ended())
  }
  return reply(
    state.begin(key, operation, `sqladmin:${target}`, () => {
      finish()
      state.set(key, ended())
    }),
  )
}

const parentOf = (path: string): string => path.replace(/\/[^/]+$/, '')

function administratorOf({ databaseVersion, instanceType }: Item): string | undefined {
  if (instanceType === 'READ_REPLICA_INSTANCE') return undefined
  const version = String(databaseVersion)
  return version.startsWith('POSTGRES') ? 'postgres' : version.startsWith('SQLSERVER') ? 'sqlserver' : 'root'
}

function userOf(body: Item, instance: Item, etag: string): Item {
  const { password: _, ...given } = body
  return {
    iamStatus: 'IAM_STATUS_UNSPECIFIED',
    host: '',
    ...given,
    etag,
    instance: instance['name'],
    kind: 'sql#user',
    passwordPolicy: { status: {} },
    project: instance['project'],
  }
}

function databaseOf(body: Item, instance: Item, etag: string): Item {
  const link = `${String(instance['selfLink'])}/databases/${String(body['name'])}`
  const isPostgres = String(instance['databaseVersion']).startsWith('POSTGRES')
  const defaults = isPostgres
    ? { charset: 'UTF8', collation: 'en_US.UTF8' }
    : { charset: 'utf8mb4', collation: 'utf8mb4_0900_ai_ci' }
  return {
    ...defaults,
    ...body,
    etag,
    instance: instance['name'],
    kind: 'sql#database',
    project: instance['project'],
    selfLink: link,
  }
}

/** Users and databases of an instance: their changes are done when the request is answered. */
function children(
  request: Request,
  kind: 'user' | 'database',
  make: (body: Item, instance: Item, etag: string) => Item,
): Reply {
  const { state, verb, path, query, body, key } = request
  const parent = /.*?instances\/[^/]+/.exec(path)?.[0] ?? ''
  const instance = state.get(`sqladmin:${parent}`)
  if (!instance) throw missing()
  const collection = `sqladmin:${parent}/${kind}s`
  const own = query.get('name')
  const child = own === null ? key : `${collection}/${own}`
  const absent = () => new Failure(404, `The ${kind} does not exist.`, `${kind}DoesNotExist`)
  const name = kind.toUpperCase()
  switch (verb) {
    case 'list':
      return listed({ ...request, key: collection }, { kind: `sql#${kind}sList` })
    case 'get':
      return reply(existing({ ...request, key: child }, absent))
    case 'insert':
      if (state.has(`${collection}/${String(body['name'])}`))
        throw new Failure(409, `The ${kind} already exists.`, `${kind}AlreadyExists`)
      return started(
        request,
        `CREATE_${name}`,
        `${parent}/${kind}s`,
        () => state.set(`${collection}/${String(body['name'])}`, make(body, instance, state.fingerprint(body))),
        true,
      )
    case 'delete':
      existing({ ...request, key: child }, absent)
      return started(request, `DELETE_${name}`, `${parent}/${kind}s`, () => state.delete(child), true)
    case 'update':
    case 'patch':
      return started(
        request,
        `UPDATE_${name}`,
        `${parent}/${kind}s`,
        () => {
          const held = existing({ ...request, key: child }, absent)
          state.set(
            child,
            make(withoutZeros({ ...held, ...body }, new Set(['host'])), instance, state.fingerprint(body)),
          )
        },
        true,
      )
    default:
      throw unsupported(request)
  }
}
