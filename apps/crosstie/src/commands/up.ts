import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { startServer, writeKubeconfig } from '@crosstie/apiserver'
import { parseGoDuration } from '@crosstie/kube'
import { parseAddress } from '../address.js'
import { type Command, EXIT_OK, UsageError } from '../command.js'
import { logOptions, logTo } from '../controllers-log.js'
import { serveMetrics } from '../controllers-metrics.js'
import { featureOptions, featuresOf } from '../features.js'
import { providerOptions, providersOf } from '../providers.js'

export const up: Command = {
  name: 'up',
  usage: 'crosstie up [--data-dir DIR] [--listen HOST:PORT] [--kubeconfig FILE]',
  summary: 'Start the control plane with its own Kubernetes API, in the foreground.',
  options: {
    'data-dir': { type: 'string', value: 'DIR', help: 'Where everything is kept', default: '.crosstie' },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Where to serve; port 0 takes a free one',
      default: '127.0.0.1:6443',
    },
    kubeconfig: { type: 'string', value: 'FILE', help: 'Where to write the kubeconfig (default DIR/kubeconfig)' },
    'token-auth-file': { type: 'string', value: 'FILE', help: 'Accept the bearer tokens in this file' },
    'audit-log': { type: 'string', value: 'FILE', help: 'Write an audit log of all writes' },
    'encryption-key-file': {
      type: 'string',
      value: 'FILE',
      help: 'Keys that Secrets are encrypted with (default DIR/keys.json)',
    },
    'event-ttl': { type: 'string', value: 'DURATION', help: 'How long events are kept', default: '1h' },
    metrics: { type: 'string', value: 'HOST:PORT', help: 'Serve /metrics without TLS and login there too' },
    ...providerOptions,
    ...featureOptions,
    ...logOptions,
  },
  async run({ values, signal, out, err }) {
    for (const flag of MEMORY_BEFORE_SPEED) setFlagsFromString(flag)
    const dataDir = resolve(String(values['data-dir']))
    const log = logTo(err, values)
    const { host, port } = parseAddress(String(values['listen']))
    const text = (name: string) => (typeof values[name] === 'string' ? String(values[name]) : undefined)
    await using server = await startServer({
      dataDir,
      host,
      port,
      tokenFile: text('token-auth-file'),
      auditLog: text('audit-log'),
      keyFile: text('encryption-key-file'),
      eventTtlMs: millisecondsOf('--event-ttl', String(values['event-ttl'])),
      log: (message) => err(message),
    })
    const kubeconfig = resolve(text('kubeconfig') ?? join(dataDir, 'kubeconfig'))
    await writeKubeconfig(kubeconfig, server.adminAccess())
    out(`ready: ${server.url} (kubeconfig ${kubeconfig})`)
    // Requests are answered from here on; the controllers are read in and started beside that.
    const [{ ControlPlane }, { loadRegistry }] = await Promise.all([
      import('../controllers.js'),
      import('../registry.js'),
    ])
    await using _controllers = new ControlPlane({
      registry: await loadRegistry(providersOf(values)),
      client: server.client(),
      metrics: server.metrics,
      log,
      features: featuresOf(values),
    })
    const at = text('metrics')
    await using _metrics = at === undefined ? undefined : await serveMetrics(server.metrics, parseAddress(at))
    if (!signal.aborted) await once(signal, 'abort')
    err('stopping')
    return EXIT_OK
  },
}

/**
 * V8 makes room for new objects, and puts off collecting old ones, as if there
 * were nothing else on the machine. A third less memory with 10,000 objects is
 * worth a tenth of the CPU.
 */
const MEMORY_BEFORE_SPEED = ['--semi-space-growth-factor=1', '--heap-growing-percent=40']

const NANOSECONDS_PER_MILLISECOND = 1_000_000n

function millisecondsOf(option: string, text: string): number {
  const duration = parseGoDuration(text)
  if (duration === undefined || duration < NANOSECONDS_PER_MILLISECOND) {
    throw new UsageError(`${option} takes a duration such as 90s, 30m or 1h, not '${text}'`)
  }
  return Number(duration / NANOSECONDS_PER_MILLISECOND)
}
