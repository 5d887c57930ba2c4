import { channel } from 'node:diagnostics_channel'
import { setMaxListeners } from 'node:events'
import type { ConnectContext, CountChange, ProviderConfiguration } from '@crosstie/resources/provider'
import { type AwsCall, isRead } from './actions.js'
import { type CredentialsSource, credentialsOf, endpointFor, GLOBAL_REGION, specOf } from './config.js'
import { isLost, translate } from './errors.js'

/** Publishes every attempt of a call as an `AwsCall`, for metrics and tests. */
export const calls = channel('crosstie:aws:call')

type Next = (args: object) => Promise<unknown>

/** The common interface of all SDK clients. */
export interface AwsClient {
  readonly middlewareStack: { add(middleware: never, options: never): void }
  send(command: never, ...rest: never[]): unknown
  destroy(): void
}

type Service<C> = new (settings: never) => C

interface Kept {
  readonly revision: string
  readonly credentials: CredentialsSource
  readonly clients: Map<Service<unknown>, Map<string, AwsClient>>
}

const CONNECT_MS = 10_000
const REQUEST_MS = 60_000
const READ_ATTEMPTS = 3

const kept = new Map<string, Kept>()

// Users of Crosstie do not choose the version of the SDK, so its Node.js version warning is of no use to them.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

/** Returns the `connect` function of a kind. It returns a client of the service in the region of the object. */
export function connectTo<S extends Service<AwsClient>>(Client: S): (context: ConnectContext) => InstanceType<S> {
  return ({ managed, config, trackChanges, signal }) => {
    // One reconciliation runs many concurrent calls, and each adds a listener to its signal.
    setMaxListeners(0, signal)
    const { forProvider } = managed['spec'] as { forProvider?: { region?: string } }
    return counting(clientFor(Client, config, forProvider?.region), trackChanges()) as InstanceType<S>
  }
}

/** Returns a client for one reconciliation that counts the calls that change something. */
function counting<C extends AwsClient>(client: C, changing: CountChange): C {
  const send = (command: never, ...rest: never[]) => {
    if (!isRead({ operation: operationOf(classOf(command)) })) changing()
    return client.send(command, ...rest)
  }
  const counted: C = Object.create(client)
  return Object.assign(counted, { send })
}

const classOf = (command: object): string => command.constructor.name

/**
 * Returns the operation of a command class: `DescribeVpcs` for `DescribeVpcsCommand`. A bundler may append a
 * number.
 */
const operationOf = (commandName: string) => commandName.replace(/^_|Command\d*$/g, '')

/**
 * Returns a cached client of the service. The cache entry is valid until the ProviderConfig or its credentials
 * change. The region defaults to that of the ProviderConfig.
 */
export function clientFor<C extends AwsClient>(
  Client: Service<C>,
  config: ProviderConfiguration | undefined,
  wanted?: string,
): C {
  const region = wanted ?? specOf(config).region ?? GLOBAL_REGION
  const { clients, credentials } = keptFor(config)
  let byRegion = clients.get(Client)
  if (!byRegion) {
    byRegion = new Map()
    clients.set(Client, byRegion)
  }
  let client = byRegion.get(region) as C | undefined
  if (!client) {
    client = newClient(Client, config, credentials, region)
    byRegion.set(region, client)
  }
  return client
}

/** Returns the cached clients of a ProviderConfig by its uid. Calls of an older revision are not aborted. */
function keptFor(config: ProviderConfiguration | undefined): Kept {
  const uid = config?.revision.split('/')[0] ?? ''
  const revision = `${config?.revision} ${JSON.stringify(config?.spec)}`
  const held = kept.get(uid)
  if (held?.revision === revision) return held
  const fresh = { revision, credentials: credentialsOf(config), clients: new Map() }
  kept.set(uid, fresh)
  return fresh
}

function newClient<C extends AwsClient>(
  Client: Service<C>,
  config: ProviderConfiguration | undefined,
  credentials: CredentialsSource,
  region: string,
): C {
  const spec = specOf(config)
  const service = serviceOf(Client.name)
  const endpoint = endpointFor(spec, service)
  const settings = {
    region,
    credentials,
    ...(endpoint ? { endpoint } : {}),
    ...(service === 's3' ? { forcePathStyle: spec.s3UsePathStyle ?? endpoint !== undefined } : {}),
    ...(spec.useFIPSEndpoint ? { useFipsEndpoint: true } : {}),
    ...(spec.useDualstackEndpoint ? { useDualstackEndpoint: true } : {}),
    customUserAgent: 'crosstie',
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS, throwOnRequestTimeout: true },
    // The reconciler retries, not the SDK: retries in the SDK would hide throttling from the call budget, and would
    // create resources without an idempotency token twice.
    maxAttempts: 1,
  }
  const client = new Client(settings as never)
  const ours = { name: 'crosstie', step: 'initialize', priority: 'high' }
  client.middlewareStack.add(middleware(region) as never, ours as never)
  return client
}

/** Returns the service of a client class: `ec2` for `EC2Client`. A bundler may append a number. */
const serviceOf = (clientName: string) => clientName.replace(/Client\d*$/, '').toLowerCase()

/** Returns middleware that publishes each call, retries reads whose response was lost, and translates errors. */
function middleware(region: string) {
  return (next: Next, context: { readonly clientName?: string; readonly commandName?: string }): Next =>
    async (args) => {
      const operation = operationOf(context.commandName ?? '')
      const call: AwsCall = { service: serviceOf(context.clientName ?? ''), operation, region }
      for (let attempt = 1; ; attempt++) {
        if (calls.hasSubscribers) calls.publish(call)
        try {
          return await next(args)
        } catch (error) {
          const again = attempt < READ_ATTEMPTS && isRead(call) && isLost(error)
          const translated = translate(error, call)
          if (!again || (translated as Error).name === 'ThrottledError') throw translated
        }
      }
    }
}
