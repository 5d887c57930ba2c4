import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { clientCertificate } from '../protocol/certificate.js'
import { Channel } from '../protocol/channel.js'
import { handshakeEnvironment, parseHandshake } from '../protocol/handshake.js'
import { ProviderClient } from '../protocol/provider-client.js'
import { providerEnvironment } from './environment.js'
import { type LogLine, ProviderOutput } from './output.js'

export interface LaunchOptions {
  /** The provider binary. */
  readonly path: string
  /** Variables beside those that every provider gets. */
  readonly environment?: Readonly<Record<string, string>>
  readonly surroundings?: Readonly<Record<string, string | undefined>>
  /** Go's soft limit for the heap, in bytes. */
  readonly memoryLimit?: number
  readonly log?: (line: LogLine) => void
  readonly startMs?: number
}

const START_MS = 60_000
const SHUTDOWN_MS = 2_000

/**
 * Replaces itself by the provider and leaves a guard behind. The guard reads a pipe that only we hold: when we die, however,
 * the pipe closes and the guard kills the provider and what it started. A line on the pipe lets the guard go.
 */
const guarded = 'p=$$; (read -r _ <&3 || kill -9 -$p) >/dev/null 2>&1 & exec "$0" "$@" 3<&- </dev/null'

/** Why a provider process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The stack trace, when it crashed. */
  readonly crash: string | undefined
}

/** A running provider. */
export interface ProviderProcess extends AsyncDisposable {
  readonly pid: number
  readonly protocol: 5 | 6
  readonly client: ProviderClient
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>
  /** Undefined while it runs. */
  readonly exit: Exit | undefined
  /** Resident memory in bytes; undefined where the platform does not say. */
  memory(): Promise<number | undefined>
  /** Asks the process to exit, and kills it when it does not. */
  stop(): Promise<void>
}

/** Starts a provider binary and connects to it. Throws with the process's own words when it does not serve. */
export async function launchProvider(options: LaunchOptions): Promise<ProviderProcess> {
  const own = clientCertificate()
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-tf-'))
  await chmod(folder, 0o700)
  const output = new ProviderOutput(options.log ?? (() => {}))
  const child = spawn('/bin/sh', ['-c', guarded, options.path], {
    cwd: folder,
    env: {
      ...providerEnvironment(options.surroundings ?? process.env, folder, options.environment),
      ...(options.memoryLimit ? { GOMEMLIMIT: String(options.memoryLimit) } : {}),
      ...handshakeEnvironment(own.certificate),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A process group of its own: signals from a terminal do not reach it, and what it starts ends with it.
    detached: true,
  })
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => output.write(chunk))
  // The guard's end may be closed before ours.
  child.stdio[3]!.on('error', () => {})
  const running = new Running(child, folder, output)
  try {
    const line = await firstLine(child, running, output, options.startMs ?? START_MS)
    const handshake = parseHandshake(line)
    return running.serving(handshake.protocol, new Channel(handshake, own))
  } catch (error) {
    await running.stop()
    throw new Error(`cannot start the provider ${options.path}: ${(error as Error).message}`, { cause: error })
  }
}

function firstLine(child: ChildProcess, running: Running, output: ProviderOutput, startMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`it printed no handshake within ${startMs / 1000} s`)), startMs)
    const lines = createInterface({ input: child.stdout! })
    lines.once('line', (line) => {
      clearTimeout(timer)
      resolve(line)
      // Whatever else it prints is read and dropped, or its pipe would fill.
      lines.on('line', () => {})
    })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    void running.exited.then(({ code, signal }) => {
      clearTimeout(timer)
      reject(new Error(`it ended with ${signal ?? `code ${code}`}: ${output.tail()}`))
    })
  })
}

class Running implements ProviderProcess {
  readonly exited: Promise<Exit>
  exit: Exit | undefined
  #channel: Channel | undefined
  #client: ProviderClient | undefined
  #protocol: 5 | 6 = 5
  #stopping: Promise<void> | undefined

  constructor(
    private readonly child: ChildProcess,
    folder: string,
    output: ProviderOutput,
  ) {
    this.exited = new Promise((resolve) => {
      const ended = (code: number | null, signal: NodeJS.Signals | null) => {
        if (this.exit) return
        this.exit = { code, signal, crash: output.crash() }
        this.#channel?.close()
        void rm(folder, { recursive: true, force: true }).catch(() => {})
        resolve(this.exit)
      }
      child.once('exit', () => {
        this.#releaseGuard()
        this.#killGroup()
      })
      // All output has been read then, and the guard has closed its pipe.
      child.once('close', ended)
      child.once('error', () => child.pid === undefined && ended(null, null))
    })
  }

  serving(protocol: 5 | 6, channel: Channel): this {
    this.#protocol = protocol
    this.#channel = channel
    this.#client = new ProviderClient(channel)
    return this
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  get protocol(): 5 | 6 {
    return this.#protocol
  }

  get client(): ProviderClient {
    if (!this.#client) throw new Error('the provider does not serve yet')
    return this.#client
  }

  async memory(): Promise<number | undefined> {
    try {
      const pages = (await readFile(`/proc/${this.pid}/statm`, 'utf8')).split(' ')[1]
      return Number(pages) * 4096
    } catch {
      return undefined
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #stop(): Promise<void> {
    if (this.exit) return
    const kill = setTimeout(() => this.#killGroup(), this.#channel ? SHUTDOWN_MS : 0)
    void this.#channel?.shutdown()
    await this.exited
    clearTimeout(kill)
  }

  #killGroup(): void {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL')
    } catch (error) {
      if ((error as { code?: string }).code !== 'ESRCH') throw error
    }
  }

  /** The provider is gone: the guard must not kill another process that got its number. */
  #releaseGuard(): void {
    const pipe = this.child.stdio[3] as NodeJS.WritableStream | null | undefined
    pipe?.end('gone\n')
  }
}
