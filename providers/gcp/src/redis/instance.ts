import { s } from '@crosstie/resources/provider'
import { namedOperations } from '../client/operations.js'
import { network } from '../compute/network.js'
import { redis_v1 as api } from '../discovery/redis-v1.generated.js'
import { defineGoogle, readyWhen, type Step } from '../kind.js'
import { apiLabels, labelsField } from '../schema/labels.js'
import { link } from '../schema/links.js'

const prefix = 'projects.locations.instances'

/** Fields that have a method of their own: a change of the version is an upgrade. */
const upgraded = ['redisVersion']

export const instance = defineGoogle({
  api,
  schema: 'Instance',
  group: 'redis',
  kind: 'Instance',
  doc: 'A Redis server that Google runs (Memorystore). Its connection Secret has `endpoint` and `port`, `readEndpoint` and `readEndpointPort` with read replicas, `password` with authEnabled and `serverCA` with transit encryption.',
  overlay: {
    leftOut: {
      name: 'the external name',
      suspensionReasons: 'reported only',
      availableMaintenanceVersions: 'reported only',
    },
    immutable: [
      'alternativeLocationId',
      'connectMode',
      'customerManagedKey',
      'locationId',
      'reservedIpRange',
      'tags',
      'tier',
      'transitEncryptionMode',
    ],
    unreported: ['tags'],
    open: ['maintenanceVersion', 'redisVersion'],
    required: ['memorySizeGb'],
    declared: {
      authorizedNetwork: link({
        doc: 'The network from which it can be reached. Absent: the network default.',
        to: () => network.type,
        immutable: true,
      }),
    },
  },
  fields: {
    location: s.identifier(s.string({ doc: 'Region, such as europe-west1.' })),
    labels: labelsField(),
  },
  labels: apiLabels('labels'),
  operations: namedOperations,
  methods: {
    get: `${prefix}.get`,
    create: `${prefix}.create`,
    delete: `${prefix}.delete`,
    list: `${prefix}.list`,
    items: 'instances',
  },
  permissions: {
    Observe: ['redis.instances.get', 'redis.instances.list', 'redis.instances.getAuthString', 'redis.operations.get'],
    Create: ['redis.instances.create', 'redis.operations.get'],
    Update: ['redis.instances.get', 'redis.instances.update', 'redis.instances.upgrade', 'redis.operations.get'],
    Delete: ['redis.instances.get', 'redis.instances.delete', 'redis.operations.get'],
  },
  place: ({ project }, name, { location }) => ({ name: `projects/${project}/locations/${location}/instances/${name}` }),
  parent: ({ project }, { location }) => ({ parent: `projects/${project}/locations/${location}` }),
  create: ({ project }, name, body, { forProvider: { location } }) => ({
    method: `${prefix}.create`,
    params: { parent: `projects/${project}/locations/${location}`, instanceId: name },
    body: { tier: 'BASIC', ...body, ...networkPath(body) },
  }),
  update({ client: { project }, name, forProvider: { location }, changed }) {
    const params = { name: `projects/${project}/locations/${location}/instances/${name}` }
    const { redisVersion, ...rest } = changed
    const mask = Object.keys(rest).filter((field) => !upgraded.includes(field))
    const steps: Step[] = []
    if (mask.length > 0) {
      steps.push({ method: `${prefix}.patch`, params: { ...params, updateMask: mask.join(',') }, body: rest })
    }
    if (redisVersion !== undefined) steps.push({ method: `${prefix}.upgrade`, params, body: { redisVersion } })
    return steps
  },
  location: ({ location }) => String(location),
  nameOf: ({ name }) => String(name).split('/').at(-1) ?? '',
  ready: ({ state, statusMessage }) =>
    readyWhen(['READY', 'UPDATING', 'MAINTENANCE'].includes(String(state)), state, statusMessage),
  connection: ({ host, port, readEndpoint, readEndpointPort, serverCaCerts }) => ({
    endpoint: textOf(host),
    port: textOf(port),
    readEndpoint: textOf(readEndpoint),
    readEndpointPort: textOf(readEndpointPort),
    serverCA: certificatesOf(serverCaCerts),
  }),
  async secrets(client, { authEnabled, name, state }, signal) {
    if (authEnabled !== true || state !== 'READY') return {}
    const { authString } = await client.call(`${prefix}.getAuthString`, { name: String(name) }, signal)
    return { password: textOf(authString) }
  },
})

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

/** The API takes the path of a network without host and version. */
function networkPath({ authorizedNetwork }: Readonly<Record<string, unknown>>) {
  if (typeof authorizedNetwork !== 'string') return {}
  return { authorizedNetwork: authorizedNetwork.replace(/^.*?(?=projects\/)/, '') }
}

function certificatesOf(certificates: unknown): string | undefined {
  if (!Array.isArray(certificates)) return undefined
  const texts = certificates.flatMap((each: { cert?: unknown }) => (typeof each.cert === 'string' ? [each.cert] : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}
