import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { startServer, writeKubeconfig } from '@crosstie/apiserver'
import { type Client, messageOf } from '@crosstie/kube'
import { type Address, parseAddress } from '../../daemon/address.js'
import type { Conversions } from '../../daemon/conversions.js'
import { Emulators, emulatorsOf, emulatorsOption } from '../../daemon/emulators.js'
import { featureOptions, featuresOf } from '../../daemon/features.js'
import { serveMetrics } from '../../daemon/health.js'
import { chooseAddress, isTakenError, USUAL } from '../../daemon/listen.js'
import { logOptions, logTo } from '../../daemon/log.js'
import { keepMemorySmall } from '../../daemon/memory.js'
import { ProviderStarts } from '../../daemon/provider-starts.js'
import {
  callsOption,
  isReachable,
  providerOptions,
  providersOf,
  settingsOf,
  terraformOptions,
} from '../../daemon/providers.js'
import { loadRegistry, type ProviderRegistry, providerNames } from '../../daemon/registry.js'
import { type Command, countOf, EXIT_OK, type Input, textOf, UsageError } from '../command.js'
import { durationOf } from '../shared/duration.js'
import { CONFIG_FILE, withConfig } from './config.js'
import { type Example, findExample } from './examples.js'
import { showLive } from './live.js'
import { factLine, nextSteps, shortPath } from './report.js'

const POLL_SECONDS = 60
/** The poll interval with an example, so that corrections are visible soon. */
const EXAMPLE_POLL_SECONDS = 10

/** The command `crosstie up`. */
export const up: Command = {
  name: 'up',
  usage: 'crosstie up [--example NAME] [--providers NAMES] [--data-dir DIR] [--listen HOST:PORT]',
  summary: 'Start the control plane with its own Kubernetes API, in the foreground.',
  details: `Starts the API server, the controllers and the services of providers (sql: a PostgreSQL).\nPrints 'ready:' with the address when requests are served. Options can be set in ${CONFIG_FILE},\nby their names: 'providers: [sql, nop]'. The command line takes precedence.`,
  examples: [
    { does: 'Create a database from a claim', line: 'crosstie up --example private-database' },
    { does: 'Only some providers', line: 'crosstie up --providers sql' },
    { does: 'Try a cloud without an account', line: 'crosstie up --emulators azure --example private-mysql' },
  ],
  options: {
    example: { type: 'string', value: 'NAME', help: 'Apply an example (or a folder) and follow it until it is ready' },
    'data-dir': { type: 'string', value: 'DIR', help: 'The data directory', default: '.crosstie' },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      help: `The address to serve at; port 0 selects a free one (default ${USUAL}, or a free port if it is in use)`,
    },
    kubeconfig: { type: 'string', value: 'FILE', help: 'The path of the kubeconfig to write (default DIR/kubeconfig)' },
    config: { type: 'string', value: 'FILE', help: `A file with these options (default ${CONFIG_FILE})` },
    'token-auth-file': { type: 'string', value: 'FILE', help: 'Accept the bearer tokens in this file' },
    'audit-log': { type: 'string', value: 'FILE', help: 'Write an audit log of all writes' },
    'audit-log-maxsize': { type: 'string', value: 'MB', help: 'Rotate the audit log at this size (default 100)' },
    'audit-log-maxbackup': { type: 'string', value: 'N', help: 'Keep N rotated audit logs; 0 keeps all (default 10)' },
    'audit-log-maxage': {
      type: 'string',
      value: 'DAYS',
      help: 'Remove rotated audit logs that are older; 0 keeps them (default 0)',
    },
    'encryption-key-file': {
      type: 'string',
      value: 'FILE',
      help: 'The keys that encrypt Secrets (default DIR/keys.json)',
    },
    'event-ttl': { type: 'string', value: 'DURATION', help: 'How long events are kept', default: '1h' },
    'poll-seconds': {
      type: 'string',
      value: 'N',
      help: 'The poll interval of resources that are in sync (default 60; 10 with --example)',
    },
    'calls-per-second': callsOption,
    metrics: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Also serve /metrics at this address, without TLS and authentication',
    },
    verbose: { type: 'boolean', short: 'v', help: 'Show the whole log on a terminal, not only warnings and errors' },
    emulators: emulatorsOption,
    ...providerOptions,
    ...terraformOptions,
    ...featureOptions,
    ...logOptions,
  },
  words: 0,
  async run(given) {
    keepMemorySmall()
    const input: Input = { ...given, values: withConfig(given, up.options) }
    const { values, signal, out, err, paint, progress } = input
    const example = exampleOf(values)
    const dataDir = resolve(String(values['data-dir']))
    const log = logTo(err, quiet(values) ? { ...values, 'log-level': 'warn' } : values)
    const metricsAt = metricsAddress(values)
    const settings = settingsOf(values)
    const emulators = emulatorsOf(values)
    const names = chosenProviders(values, emulators)
    const pollSeconds = countOf(values, 'poll-seconds', example ? EXAMPLE_POLL_SECONDS : POLL_SECONDS)
    const callsPerSecond = countOf(values, 'calls-per-second')
    // A provider that cannot be loaded is reported before anything is started.
    if (names.some((name) => !providerNames.includes(name))) await loadRegistry(names)
    const place = await chooseAddress(textOf(values, 'listen'))
    const start = (port: number) =>
      startServer({ ...serverOptions(values), dataDir, host: place.host, port, log: log.warn })
    await using server = await start(place.port).catch((error) => {
      // Another process took the port between the check and the listen.
      if (textOf(values, 'listen') !== undefined || !isTakenError(error)) throw error
      return start(0)
    })
    const kubeconfig = resolve(textOf(values, 'kubeconfig') ?? join(dataDir, 'kubeconfig'))
    await writeKubeconfig(kubeconfig, server.adminAccess())
    const fact = (label: string, text: string) => out(factLine(input, label, text))
    // The API answers from here on. Kinds, controllers and what providers start come next.
    fact('api', server.url)
    if (place.moved) fact('port', `${USUAL} is in use by another program, so a free one was taken`)
    await using _emulators = await Emulators.start(emulators, (name, line) => fact('emulator', `${name}: ${line}`))
    const { ControlPlane } = await import('../../daemon/control-plane.js')
    const registry = await loadRegistry(names)
    const client = server.client()
    await using conversions = await convert(registry, client, signal)
    // Stopped after the controllers, which may still use what providers started.
    await using started = new ProviderStarts()
    await using controllers = new ControlPlane({
      registry,
      client,
      metrics: server.metrics,
      log,
      features: featuresOf(values),
      conversion: conversions?.endpoint,
      pollSeconds,
      callsPerSecond,
      settings,
    })
    fact('data', shortPath(dataDir))
    const useful = registry.providers.filter(({ kinds, run }) => kinds.length > 0 || run).map(({ name }) => name)
    const absent = leftOut(values, emulators)
    const without = absent.length > 0 ? paint.dim(` (no credentials found: ${absent.join(', ')})`) : ''
    fact('providers', `${useful.join(', ')}${without}`)
    const begun = started.begin(registry.providers, {
      client,
      dataDir: join(dataDir, 'providers'),
      served: controllers.served,
      log,
      report: fact,
      signal,
    })
    await using _metrics = metricsAt && (await serveMetrics(server.metrics, metricsAt))
    await progress.during('bringing the kinds to the server', () => Promise.race([controllers.served, aborted(signal)]))
    fact('kinds', `${registry.kinds.length} managed, ${registry.claims.length} to be claimed`)
    await progress.during('starting what providers bring', () => Promise.race([begun, aborted(signal)]))
    if (!signal.aborted) await welcome(input, server.url, kubeconfig, example)
    using _live = showLive(progress, paint, () => controllers.managed())
    await aborted(signal)
    progress.stop()
    if (progress.shows) err('stopping')
    else log.info('stopping')
    return EXIT_OK
  },
}

const serverOptions = (values: Input['values']) => ({
  tokenFile: textOf(values, 'token-auth-file'),
  auditLog: textOf(values, 'audit-log'),
  auditRotation: auditRotation(values),
  keyFile: textOf(values, 'encryption-key-file'),
  eventTtlMs: durationOf('--event-ttl', String(values['event-ttl'])),
})

function auditRotation(values: Input['values']) {
  const count = (name: string) => {
    const text = textOf(values, name)
    if (text === undefined) return undefined
    if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number, not '${text}'`)
    return Number(text)
  }
  const megabytes = count('audit-log-maxsize')
  return {
    maxBytes: megabytes === undefined || megabytes === 0 ? undefined : megabytes * 1024 * 1024,
    maxBackups: count('audit-log-maxbackup'),
    maxAgeDays: count('audit-log-maxage'),
  }
}

/** Starts conversions. Few kinds need them; the others do not wait for the code to be loaded. */
async function convert(
  { kinds }: ProviderRegistry,
  client: Client,
  signal: AbortSignal,
): Promise<Conversions | undefined> {
  if (!kinds.some((kind) => kind.convert)) return undefined
  const { startConversions } = await import('../../daemon/conversions.js')
  const address = { host: '127.0.0.1', port: 0 }
  return await startConversions(kinds, { client, namespace: 'kube-system', address }, signal)
}

/** Parsed before anything is started, so that errors are reported early. */
const metricsAddress = (values: Input['values']): Address | undefined => {
  const text = textOf(values, 'metrics')
  return text === undefined ? undefined : parseAddress(text, '--metrics')
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

const exampleOf = (values: Input['values']): Example | undefined => {
  const name = textOf(values, 'example')
  return name === undefined ? undefined : findExample(name)
}

/** Reports whether to hide the log: on a terminal only warnings and errors are shown. */
const quiet = (values: Input['values']): boolean =>
  process.stderr.isTTY === true && !values['verbose'] && values['log-level'] === 'info'

/** Returns the clouds that the user did not name and has no credentials for. Their code is not loaded. */
const leftOut = (values: Input['values'], emulators: readonly string[]): readonly string[] =>
  values['providers'] === undefined
    ? providersOf(values).filter((name) => !emulators.includes(name) && !isReachable(name))
    : []

const chosenProviders = (values: Input['values'], emulators: readonly string[]): readonly string[] => {
  const out = leftOut(values, emulators)
  return [...new Set([...providersOf(values), ...emulators])].filter((name) => !out.includes(name))
}

/** Says that everything is ready, runs the example, and shows what to do next. */
async function welcome(input: Input, url: string, kubeconfig: string, example: Example | undefined): Promise<void> {
  const { out, signal } = input
  out(`ready: ${url} (kubeconfig ${kubeconfig})`)
  if (example) await follow(input, example, kubeconfig)
  if (!signal.aborted) for (const line of nextSteps(kubeconfig, example?.steps ?? [], input)) out(line)
}

/** Follows an example. A failure is printed, and the control plane continues, so that users can inspect it. */
async function follow(input: Input, example: Example, kubeconfig: string): Promise<void> {
  const { runExample } = await import('./example.js')
  try {
    await runExample({ ...input, values: { kubeconfig } }, example)
  } catch (error) {
    if (!input.signal.aborted) input.err(`${input.paint.red('error:')} example ${example.name}: ${messageOf(error)}`)
  }
}
