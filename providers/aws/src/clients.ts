import { channel } from 'node:diagnostics_channel'
import { setMaxListeners } from 'node:events'
import type { ConnectContext, CountChange, ProviderConfiguration } from '@crosstie/resources/provider'
import { type AwsCall, isRead } from './actions.js'
import { type CredentialsSource, credentialsOf, endpointFor, GLOBAL_REGION, specOf } from './config.js'
import { isLost, translate } from './errors.js'

/** Publishes every attempt of a call as an AwsCall, for measurements and tests. */
export const calls = channel('crosstie:aws:call')

type Next = (args: object) => Promise<unknown>

/** The common part of all clients of the SDK. */
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

// People who run Crosstie do not choose the SDK's version: its advice is ours to follow.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

/** For `connect` of a kind: a client of the service, in the region of the object. */
export function connectTo<S extends Service<AwsClient>>(Client: S): (context: ConnectContext) => InstanceType<S> {
  return ({ managed, config, trackChanges, signal }) => {
    // One reconcile makes many calls at once, and each of them listens to its signal.
    setMaxListeners(0, signal)
    const { forProvider } = managed['spec'] as { forProvider?: { region?: string } }
    return counting(clientFor(Client, config, forProvider?.region), trackChanges()) as InstanceType<S>
  }
}

/** The client for one reconciliation: it counts the requests that change something. */
function counting<C extends AwsClient>(client: C, changing: CountChange): C {
  const send = (command: never, ...rest: never[]) => {
    if (!isRead({ operation: operationOf(classOf(command)) })) changing()
    return client.send(command, ...rest)
  }
  const counted: C = Object.create(client)
  return Object.assign(counted, { send })
}

const classOf = (command: object): string => command.constructor.name

/** `DescribeVpcsCommand` is the command of `DescribeVpcs`; a bundler may have put a number behind it. */
const operationOf = (commandName: string) => commandName.replace(/^_|Command\d*$/g, '')

/**
 * A client of the service, kept as long as the ProviderConfig and what it leads
 * to stay as they are. Without a region, the one of the ProviderConfig.
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

/** Returns the cached clients of a ProviderConfig by its uid. Calls of an older revision end on their own. */
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
    // Repeating is the reconciler's business: the SDK would hide throttling from
    // the budget, and would make what has no token twice.
    maxAttempts: 1,
  }
  const client = new Client(settings as never)
  const ours = { name: 'crosstie', step: 'initialize', priority: 'high' }
  client.middlewareStack.add(middleware(region) as never, ours as never)
  return client
}

/** `EC2Client` is the client of `ec2`; a bundler may have put a number behind it. */
const serviceOf = (clientName: string) => clientName.replace(/Client\d*$/, '').toLowerCase()

/** Around each call: tells of it, repeats reads whose answer was lost, and makes errors readable. */
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
