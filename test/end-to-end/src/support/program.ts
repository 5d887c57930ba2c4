import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './children.js'

/** The path of the `crosstie` program. */
export const crosstie = fileURLToPath(new URL('../../../../apps/crosstie/bin/crosstie.js', import.meta.url))

/** Returns the path of a file in the checkout. */
export const fileOf = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/** The output and the exit code of a command. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Options of a command. */
export interface RunOptions {
  /** The standard input. */
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/**
 * The program as users run it: commands against the Kubernetes API of a kubeconfig. `Program.up()` starts a control
 * plane first.
 */
export class Program implements AsyncDisposable {
  readonly kubeconfig: string
  readonly #env: NodeJS.ProcessEnv
  readonly #dispose: () => Promise<void>
  /** The control plane, if it was started here. */
  readonly plane: Child | undefined
  /** A temporary folder, which is deleted at the end. */
  readonly folder: string

  private constructor(folder: string, kubeconfig: string, plane: Child | undefined) {
    this.folder = folder
    this.kubeconfig = kubeconfig
    this.plane = plane
    this.#env = environment(kubeconfig)
    this.#dispose = async () => {
      await plane?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Starts `crosstie up` in an empty folder, on a free port, and waits until it serves. */
  static async up(...options: readonly string[]): Promise<Program> {
    return await Program.open(async () => {}, ...options)
  }

  /** Like `up`, with a data directory that `prepare` may fill first. */
  static async open(prepare: (dataDir: string) => Promise<void>, ...options: readonly string[]): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), 'crosstie-program-'))
    const dataDir = join(folder, 'data')
    await prepare(dataDir)
    const args = [crosstie, 'up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', ...options]
    const plane = new Child(process.execPath, args, environment(''))
    const ready = await plane.says(/^ready: /m, 120_000)
    if (!ready) throw new Error(`crosstie up ended: ${plane.output}${plane.errors}`)
    return new Program(folder, join(dataDir, 'kubeconfig'), plane)
  }

  /** Uses an existing API. */
  static async on(kubeconfig: string): Promise<Program> {
    return new Program(await mkdtemp(join(tmpdir(), 'crosstie-program-')), kubeconfig, undefined)
  }

  /** Runs a command until it exits, with any exit code. */
  async run(args: readonly string[], { input, env = {}, cwd = this.folder }: RunOptions = {}): Promise<Ran> {
    const child = spawn(process.execPath, [crosstie, ...args], { env: { ...this.#env, ...env }, cwd })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    // A command that exits without reading its standard input breaks the pipe.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status) => resolve(status ?? -1))
    })
    return { code, out, err }
  }

  /** Runs a command whose output pipe is closed before the command writes. */
  async runUnread(args: readonly string[]): Promise<Ran> {
    const child = spawn(process.execPath, [crosstie, ...args], { env: this.#env, cwd: this.folder })
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.stdout.destroy()
    child.stdin.end()
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status) => resolve(status ?? -1))
    })
    return { code, out: '', err }
  }

  /** Runs a command that must succeed, and returns its output. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(args)
    if (code !== 0) throw new Error(`crosstie ${args.join(' ')} ended with ${code}: ${out}${err}`)
    return out
  }

  /** Starts a command that keeps running, such as a watch. */
  start(...args: readonly string[]): Child {
    return new Child(process.execPath, [crosstie, ...args], this.#env)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose()
  }
}

/** An environment without settings of the user who runs the tests: no colors, no cloud, no other cluster. */
function environment(kubeconfig: string): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, KUBECONFIG: __, ...env } = process.env
  return { ...env, NO_COLOR: '1', ...(kubeconfig ? { KUBECONFIG: kubeconfig } : {}) }
}
