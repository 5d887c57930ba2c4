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
import { callsOption, isReachable, providerOptions, providersOf } from '../../daemon/providers.js'
import { loadRegistry, type ProviderRegistry, providerNames } from '../../daemon/registry.js'
import { type Command, countOf, EXIT_OK, type Input, textOf, UsageError } from '../command.js'
import { durationOf } from '../shared/duration.js'
import { CONFIG_FILE, withConfig } from './config.js'
import { type Example, findExample } from './examples.js'
import { showLive } from './live.js'
import { factLine, nextSteps, shortPath } from './report.js'

const POLL_SECONDS = 60
/** Whoever tries things out wants to see them put right soon. */
const EXAMPLE_POLL_SECONDS = 10

export const up: Command = {
  name: 'up',
  usage: 'crosstie up [--example NAME] [--providers NAMES] [--data-dir DIR] [--listen HOST:PORT]',
  summary: 'Start the control plane with its own Kubernetes API, in the foreground.',
  details: `Starts the API server, the controllers and what providers bring of their own (sql: a PostgreSQL).
Prints 'ready:' with the address once requests are answered. Options may stand in ${CONFIG_FILE},
by their names: 'providers: [sql, nop]'. What is on the command line wins.`,
  examples: [
    { does: 'See a claim become a real database', line: 'crosstie up --example private-database' },
    { does: 'Only what you need', line: 'crosstie up --providers sql' },
    { does: 'Try a cloud without an account', line: 'crosstie up --emulators azure --example private-mysql' },
  ],
  options: {
    example: { type: 'string', value: 'NAME', help: 'Apply an example (or a folder) and follow it until it is ready' },
    'data-dir': { type: 'string', value: 'DIR', help: 'Where everything is kept', default: '.crosstie' },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      help: `Where to serve; port 0 takes a free one (default ${USUAL}, or a free port when that is taken)`,
    },
    kubeconfig: { type: 'string', value: 'FILE', help: 'Where to write the kubeconfig (default DIR/kubeconfig)' },
    config: { type: 'string', value: 'FILE', help: `Where these options may stand too (default ${CONFIG_FILE})` },
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
      help: 'Keys that Secrets are encrypted with (default DIR/keys.json)',
    },
    'event-ttl': { type: 'string', value: 'DURATION', help: 'How long events are kept', default: '1h' },
    'poll-seconds': {
      type: 'string',
      value: 'N',
      help: 'How often settled resources are looked at (default 60; 10 with --example)',
    },
    'calls-per-second': callsOption,
    metrics: { type: 'string', value: 'HOST:PORT', help: 'Serve /metrics without TLS and login there too' },
    verbose: { type: 'boolean', short: 'v', help: 'Show the log on a terminal too, not only what goes wrong' },
    emulators: emulatorsOption,
    ...providerOptions,
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
    const emulators = emulatorsOf(values)
    const names = chosenProviders(values, emulators)
    const pollSeconds = countOf(values, 'poll-seconds', example ? EXAMPLE_POLL_SECONDS : POLL_SECONDS)
    const callsPerSecond = countOf(values, 'calls-per-second')
    // What others wrote may not load: that is told before anything is started.
    if (names.some((name) => !providerNames.includes(name))) await loadRegistry(names)
    const place = await chooseAddress(textOf(values, 'listen'))
    const start = (port: number) =>
      startServer({ ...serverOptions(values), dataDir, host: place.host, port, log: log.warn })
    await using server = await start(place.port).catch((error) => {
      // Somebody was faster than us, between looking and listening.
      if (textOf(values, 'listen') !== undefined || !isTakenError(error)) throw error
      return start(0)
    })
    const kubeconfig = resolve(textOf(values, 'kubeconfig') ?? join(dataDir, 'kubeconfig'))
    await writeKubeconfig(kubeconfig, server.adminAccess())
    out(`ready: ${server.url} (kubeconfig ${kubeconfig})`)
    // Requests are answered from here on; the controllers are read in and started beside that.
    const fact = (label: string, text: string) => out(factLine(input, label, text))
    if (place.moved) fact('port', `${USUAL} is in use by another program, so a free one was taken`)
    await using _emulators = await Emulators.start(emulators, (name, line) => fact(`${name} emulator`, line))
    const { ControlPlane } = await import('../../daemon/control-plane.js')
    const registry = await loadRegistry(names)
    const client = server.client()
    await using conversions = await convert(registry, client, signal)
    // Stopped after the controllers, who may still be at work on what providers started.
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
    })
    fact('data', shortPath(dataDir))
    const useful = registry.providers.filter(({ kinds }) => kinds.length > 0).map(({ name }) => name)
    const absent = leftOut(values, emulators)
    const without = absent.length > 0 ? paint.dim(` (no credentials found: ${absent.join(', ')})`) : ''
    fact('providers', `${useful.join(', ')}${without}`)
    const settled = started.begin(registry.providers, {
      client,
      dataDir: join(dataDir, 'providers'),
      served: controllers.served,
      log,
      told: fact,
      signal,
    })
    await using _metrics = metricsAt && (await serveMetrics(server.metrics, metricsAt))
    await progress.during('bringing the kinds to the server', () => Promise.race([controllers.served, aborted(signal)]))
    fact('kinds', `${registry.kinds.length} managed, ${registry.claims.length} to be claimed`)
    await progress.during('starting what providers bring', () => Promise.race([settled, aborted(signal)]))
    if (example && !signal.aborted) await follow(input, example, kubeconfig)
    if (!signal.aborted) for (const line of nextSteps(kubeconfig, example?.steps ?? [], input)) out(line)
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

/** Few kinds have versions that must be converted; the others need not wait for what does it to be read in. */
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

/** Read before anything is started, as all that may be wrong. */
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

/** On a terminal people see what happens; the log is for those who ask for it, except what goes wrong. */
const quiet = (values: Input['values']): boolean =>
  process.stderr.isTTY === true && !values['verbose'] && values['log-level'] === 'info'

/** Clouds that the user did not name and has no credentials for: there is nothing to manage, and their code is not loaded. */
const leftOut = (values: Input['values'], emulators: readonly string[]): readonly string[] =>
  values['providers'] === undefined
    ? providersOf(values).filter((name) => !emulators.includes(name) && !isReachable(name))
    : []

const chosenProviders = (values: Input['values'], emulators: readonly string[]): readonly string[] => {
  const out = leftOut(values, emulators)
  return [...new Set([...providersOf(values), ...emulators])].filter((name) => !out.includes(name))
}

/** What an example cannot do is told; the control plane goes on, so that somebody can look. */
async function follow(input: Input, example: Example, kubeconfig: string): Promise<void> {
  const { runExample } = await import('./example.js')
  try {
    await runExample({ ...input, values: { kubeconfig } }, example)
  } catch (error) {
    if (!input.signal.aborted) input.err(`${input.paint.red('error:')} example ${example.name}: ${messageOf(error)}`)
  }
}
