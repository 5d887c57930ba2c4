import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ProviderConfiguration } from '@crosstie/resources/provider'

/** The version of moto, an AWS emulator from PyPI whose server runs on loopback. */
const VERSION = '5.2.5'
const root = process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache', 'crosstie')
const folder = join(root, `moto-${VERSION}`)
const python = join(folder, 'bin', 'python')
const run = promisify(execFile)

/** Options of a moto server. */
export interface MotoOptions {
  /** The number of unchecked calls. Every later call needs an access key of IAM and a policy that permits it. */
  readonly callsBeforeAuthorization?: number
}

/** Returns the reason why moto is not available, or undefined. Installs it if it is missing. */
export async function motoMissing(): Promise<string | undefined> {
  try {
    await install()
    return undefined
  } catch (error) {
    const why = (error as Error).message.split('\n').filter(Boolean).at(-1)
    return `moto ${VERSION} cannot be installed (python3 with venv and PyPI are needed): ${why}`
  }
}

async function install(): Promise<void> {
  if (existsSync(python)) return
  await mkdir(root, { recursive: true })
  await using _lock = await lock(`${folder}.lock`)
  if (existsSync(python)) return
  // Installed in a temporary folder and renamed, so that no process sees an incomplete installation.
  const building = join(root, `moto-${VERSION}.${process.pid}`)
  await rm(building, { recursive: true, force: true })
  try {
    await run('python3', ['-m', 'venv', building])
    const packages = [`moto[server]==${VERSION}`]
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    await run(join(building, 'bin', 'python'), pip, { maxBuffer: 1 << 24 })
    await rename(building, folder)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

const STALE_MS = 30_000

/** Locks a folder. A lock that was not touched for a long time is stale. */
async function lock(path: string): Promise<AsyncDisposable> {
  for (;;) {
    try {
      await mkdir(path)
      break
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      const touched = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      )
      if (Date.now() - touched > STALE_MS) await rm(path, { recursive: true, force: true })
      else await wait(500)
    }
  }
  const alive = setInterval(() => utimes(path, new Date(), new Date()).catch(() => {}), STALE_MS / 10)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(alive)
      await rm(path, { recursive: true, force: true })
    },
  }
}

// The server exits with its parent process, which closes its standard input.
const PROGRAM = `
import os, sys, threading
from moto.server import main
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
main(["-H", "127.0.0.1", "-p", "0"])
`

const START_MS = 120_000

/** A moto server that starts empty and leaves nothing behind. */
export class Moto implements AsyncDisposable {
  static async start(options: MotoOptions = {}): Promise<Moto> {
    await install()
    const env = {
      ...process.env,
      PYTHONUNBUFFERED: '1',
      MOTO_ACCOUNT_ID: '123456789012',
      MOTO_IAM_LOAD_MANAGED_POLICIES: 'true',
    }
    const unchecked = options.callsBeforeAuthorization
    if (unchecked !== undefined) Object.assign(env, { INITIAL_NO_AUTH_ACTION_COUNT: String(unchecked) })
    const child = spawn(python, ['-c', PROGRAM], { stdio: ['pipe', 'ignore', 'pipe'], env })
    // A test that does not stop the server must still exit.
    child.unref()
    try {
      return new Moto(child, await urlOf(child))
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** Returns a ProviderConfig for this server. */
  config(spec: Readonly<Record<string, unknown>> = {}): ProviderConfiguration {
    return motoConfig(this.url, spec)
  }

  /** Returns an SDK client for checks. Its calls are not counted. */
  client<C>(Client: new (settings: never) => C, region = 'eu-west-1'): C {
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'not-checked-by-moto' }
    return new Client({ region, endpoint: this.url, credentials, forcePathStyle: true } as never)
  }

  /** Removes all resources. */
  async reset(): Promise<void> {
    await fetch(`${this.url}/moto-api/reset`, { method: 'POST' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.ref()
    const gone = once(this.child, 'exit')
    // Keeps this process alive until the server has exited.
    this.child.ref()
    this.child.kill('SIGKILL')
    await gone
  }
}

/** Returns a ProviderConfig for an emulator at the URL. */
export function motoConfig(url: string, spec: Readonly<Record<string, unknown>> = {}): ProviderConfiguration {
  return {
    name: 'default',
    revision: `${randomUUID()}/1/0`,
    spec: { credentials: { source: 'Secret' }, endpoint: { url }, ...spec } as ProviderConfiguration['spec'],
    credentials: '[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = not-checked-by-moto\n',
  }
}

/** Reads the URL of the server from its standard error. */
async function urlOf(child: ChildProcess): Promise<string> {
  let told = ''
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`moto did not start: ${told}`)), START_MS)
    timer.unref()
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (told.length < 10_000) told += text
      const url = /Running on (http:\/\/[\d.]+:\d+)/.exec(told)?.[1]
      if (url) resolve(url)
    })
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`moto ended with ${code}: ${told}`)))
  })
}
