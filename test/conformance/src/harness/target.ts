import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { startOracle } from '../oracle/oracle.js'
import { supervise } from './children.js'
import { type Credentials, Http } from './http.js'

/** The server under test. */
export interface Target {
  readonly name: string
  readonly url: string
  readonly kubeconfig: string
  /** A client with the credentials of the administrator. */
  readonly admin: Http
  readonly pids: Readonly<Record<string, number>>
  stop(): Promise<void>
}

const command = join(dirname(fileURLToPath(import.meta.url)), '../../../../apps/crosstie/bin/crosstie.js')

/**
 * Opens the server that CONFORMANCE_TARGET names: `embedded` (the default) and `oracle` are started here and
 * stopped by `stop`. Any other value is the kubeconfig of a running server.
 */
export async function openTarget(choice = process.env['CONFORMANCE_TARGET'] ?? 'embedded'): Promise<Target> {
  if (choice === 'embedded') return startEmbedded()
  if (choice === 'oracle') {
    const oracle = await startOracle()
    await oracle.settled()
    return targetOf('oracle', oracle.kubeconfig, oracle.stop, oracle.pids)
  }
  return targetOf(choice, choice, async () => {})
}

/** Starts `crosstie up` on a new data directory and waits until it serves. */
export async function startEmbedded(options: { dataDir?: string; args?: readonly string[] } = {}): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), 'crosstie-embedded-'))
  const kubeconfig = join(dir, 'kubeconfig')
  const flags = [
    '--data-dir',
    options.dataDir ?? join(dir, 'data'),
    '--listen',
    '127.0.0.1:0',
    '--kubeconfig',
    kubeconfig,
    // The suite compares the API server. Other providers would start servers.
    '--providers',
    'nop',
  ]
  const child = spawn(process.execPath, [command, 'up', ...flags, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const running = supervise(child)
  const stop = async () => {
    await running.stop()
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    await saysReady(child)
  } catch (error) {
    await stop()
    throw error
  }
  return targetOf('embedded', kubeconfig, stop, { crosstie: running.pid })
}

async function saysReady(child: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = (errors + text).slice(-4_000)
  })
  const lines = createInterface({ input: child.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => line.startsWith('ready:') && resolve())
    child.on('exit', (code) => reject(new Error(`crosstie up ended with ${code}: ${errors}`)))
  })
}

function targetOf(
  name: string,
  kubeconfig: string,
  stop: () => Promise<void>,
  pids: Record<string, number> = {},
): Target {
  const { url, credentials } = readKubeconfig(kubeconfig)
  const admin = new Http(url, credentials)
  const close = async () => {
    admin.close()
    await stop()
  }
  return { name, url, kubeconfig, admin, pids, stop: close }
}

/** Reads the first cluster and user of a kubeconfig, YAML or JSON, with embedded credentials. */
function readKubeconfig(file: string): { url: string; credentials: Credentials } {
  const text = readFileSync(file, 'utf8')
  const field = (name: string) => new RegExp(`\\b${name}"?:\\s*["']?([^\\s"',]+)`).exec(text)?.[1]
  const data = (name: string) => {
    const value = field(name)
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8')
  }
  const url = field('server')
  if (!url) throw new Error(`${file} names no server`)
  const ca = data('certificate-authority-data')
  const cert = data('client-certificate-data')
  return { url: url.replace(/\/$/, ''), credentials: { ca, cert, key: data('client-key-data'), token: field('token') } }
}
