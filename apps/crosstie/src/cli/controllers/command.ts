import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import {
  DEFAULT_LEASE_TIMINGS,
  findAccess,
  HttpClient,
  LeaseLock,
  type Log,
  runElection,
  Shards,
} from '@crosstie/controller'
import { type Client, groupResource, Metrics, steadyClock } from '@crosstie/kube'
import type { ConversionService, ManagedKind } from '@crosstie/resources'
import { parseAddress } from '../../daemon/address.js'
import { ControlPlane } from '../../daemon/control-plane.js'
import { convertedKinds, startConversions } from '../../daemon/conversions.js'
import { featureOptions, featuresOf } from '../../daemon/features.js'
import { serveMetrics } from '../../daemon/health.js'
import { logOptions, logTo } from '../../daemon/log.js'
import { callsOption, providerOptions, providersOf, settingsOf, terraformOptions } from '../../daemon/providers.js'
import { unreadyUntilServed } from '../../daemon/readiness.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Command, countOf, EXIT_OK } from '../command.js'

const NAME = 'crosstie-controllers'
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'
/** Calls in progress must end within this time after leadership is lost, before another process starts. */
const HANDOVER_MS = 3_000

/** The command `crosstie controllers`. */
export const controllers: Command = {
  name: 'controllers',
  usage: 'crosstie controllers [--kubeconfig FILE] [--context NAME] [--shards N]',
  summary: 'Run the controllers for an existing Kubernetes API, in the foreground.',
  options: {
    kubeconfig: {
      type: 'string',
      value: 'FILE',
      help: 'The kubeconfig of the API (default $KUBECONFIG, or the service account of the pod)',
    },
    context: { type: 'string', value: 'NAME', help: 'The context of the kubeconfig (default its current one)' },
    namespace: { type: 'string', value: 'NAME', help: "The namespace of the leases (default the pod's, or default)" },
    shards: { type: 'string', value: 'N', help: 'Divide the objects among all processes into N parts', default: '1' },
    standalone: { type: 'boolean', help: 'Run without a lease: no other process runs' },
    'skip-definitions': { type: 'boolean', help: 'Do not install CustomResourceDefinitions' },
    metrics: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Serve /metrics, /livez and /readyz at this address (default off)',
    },
    conversions: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Where to convert versions of kinds, if they have several; the API server must reach it (default nowhere)',
    },
    'conversion-service': {
      type: 'string',
      value: 'NAME:PORT',
      help: 'The Service in --namespace by which the API server reaches it',
    },
    'poll-seconds': {
      type: 'string',
      value: 'N',
      help: 'The poll interval of resources that are in sync',
      default: '60',
    },
    'calls-per-second': callsOption,
    ...providerOptions,
    ...terraformOptions,
    ...featureOptions,
    ...logOptions,
  },
  words: 0,
  async run({ values, signal, out, err }) {
    const log = logTo(err, values)
    const text = (name: string) => (typeof values[name] === 'string' ? String(values[name]) : undefined)
    const shards = countOf(values, 'shards')
    const pollSeconds = countOf(values, 'poll-seconds')
    const callsPerSecond = countOf(values, 'calls-per-second')
    const file = text('kubeconfig')
    const access = await findAccess({ ...(file ? { file: resolve(file) } : {}), context: text('context') })
    using client = new HttpClient(access, { log })
    const metrics = new Metrics()
    const features = featuresOf(values)
    const registry = await loadRegistry(providersOf(values))
    const at = text('metrics')
    const unready = unreadyUntilServed(client, registry)
    await using _metrics =
      at === undefined ? undefined : await serveMetrics(metrics, parseAddress(at, '--metrics'), unready)

    const namespace = text('namespace') ?? ownNamespace()
    const converting = text('conversions')
    const place = { client, namespace, service: serviceOf(text('conversion-service'), namespace) }
    if (converting === undefined) warnOfVersions(registry.kinds, log)
    await using conversions =
      converting === undefined
        ? undefined
        : await startConversions(
            registry.kinds,
            { ...place, address: parseAddress(converting, '--conversions') },
            signal,
          )
    const plane = {
      registry,
      client,
      metrics,
      log,
      watchList: true,
      cached: true,
      features,
      namespace,
      settings: settingsOf(values),
    } as const
    const skipDefinitions = values['skip-definitions'] === true
    const options = { ...plane, pollSeconds, callsPerSecond, skipDefinitions, conversion: conversions?.endpoint }
    const group = { client, log, namespace, identity: identity() }
    out(`starting: controllers on ${access.server}`)
    if (values['standalone']) await standAlone(options, signal)
    else if (shards > 1) await takePart(options, { ...group, count: shards }, signal)
    else await leadWhenElected(options, group, signal)
    log.info('stopping')
    return EXIT_OK
  },
}

function serviceOf(text: string | undefined, namespace: string): ConversionService | undefined {
  if (text === undefined) return undefined
  const { host: name, port } = parseAddress(text, '--conversion-service')
  return { namespace, name, port }
}

function warnOfVersions(kinds: readonly ManagedKind[], log: Log): void {
  const names = convertedKinds(kinds).map(({ type }) => groupResource(type))
  if (names.length === 0) return
  log.warn('older versions of kinds are not served: name --conversions HOST:PORT, where the API server reaches this', {
    kinds: names,
  })
}

type Options = ConstructorParameters<typeof ControlPlane>[0]

interface Group {
  readonly client: Client
  readonly log: Log
  readonly namespace: string
  readonly identity: string
}

async function standAlone(options: Options, signal: AbortSignal): Promise<void> {
  await using _plane = new ControlPlane(options)
  if (!signal.aborted) await once(signal, 'abort')
}

async function leadWhenElected(options: Options, group: Group, signal: AbortSignal): Promise<void> {
  const lock = new LeaseLock({ ...group, clock: steadyClock, name: NAME, durationMs: DEFAULT_LEASE_TIMINGS.durationMs })
  const lead = async (leading: AbortSignal) => {
    const plane = new ControlPlane(options)
    if (!leading.aborted) await once(leading, 'abort')
    await plane.stop(HANDOVER_MS)
  }
  await runElection({ lock, lead, log: group.log }, signal)
}

async function takePart(options: Options, group: Group & { count: number }, signal: AbortSignal): Promise<void> {
  const share = new Shards({ ...group, name: NAME })
  await using _plane = new ControlPlane({ ...options, share })
  await share.run(signal)
}

/** Returns an identity that is unique among all processes. */
function identity(): string {
  return `${hostname()}_${process.pid}_${Date.now().toString(36)}`
}

function ownNamespace(): string {
  return existsSync(NAMESPACE_FILE) ? readFileSync(NAMESPACE_FILE, 'utf8').trim() : 'default'
}
