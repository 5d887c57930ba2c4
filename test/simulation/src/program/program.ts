import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readKubeconfig } from '@crosstie/apiserver'
import { Api } from './api.js'

/** The path of the `crosstie` program. */
export const CROSSTIE = fileURLToPath(new URL('../../../../apps/crosstie/bin/crosstie.js', import.meta.url))
const READY_MS = 180_000
/** A process that is still running this long after a stop signal is stuck. */
const STOP_MS = 120_000

/** `crosstie up` as users run it, in a separate process. */
export class Program {
  readonly #process: ChildProcess
  readonly #dataDir: string
  readonly #exit: Promise<unknown>
  #output = ''
  errors = ''

  /** The last part of the command must be `crosstie up` on the data directory. */
  constructor(dataDir: string, command: readonly string[] = [process.execPath, ...upArguments(dataDir)]) {
    this.#dataDir = dataDir
    const [program = '', ...args] = command
    this.#process = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#exit = once(this.#process, 'exit')
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
    })
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
  }

  get pid(): number {
    return this.#process.pid!
  }

  /** Waits for the ready line of the given start, and connects with the kubeconfig that the program wrote. */
  async ready(root = '', start = 1): Promise<Api> {
    const deadline = Date.now() + READY_MS
    const lines = () => this.#output.match(/^ready:.*$/gm) ?? []
    while (lines().length < start) {
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`it ended before it was ready: ${this.#output}${this.errors}`)
      }
      if (Date.now() > deadline) throw new Error(`it never was ready: ${this.#output}${this.errors}`)
      await pause(2)
    }
    const file = join(root, this.#dataDir, 'kubeconfig')
    assert.equal(fs.statSync(file).mode & 0o777, 0o600, 'only its owner reads the kubeconfig')
    const access = readKubeconfig(fs.readFileSync(file, 'utf8'))
    assert.ok(lines().at(-1)!.includes(access.server), 'the kubeconfig leads to where the ready line says')
    return new Api(access)
  }

  /** Kills the process without a shutdown, like a power failure. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exit
    assert.equal(this.#process.signalCode, 'SIGKILL', `it ended by itself: ${this.errors}`)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill('SIGTERM')
    const late = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS)
    await this.#exit
    clearTimeout(late)
    assert.notEqual(this.#process.signalCode, 'SIGKILL', `it did not stop: ${this.errors}`)
  }
}

/** Returns the arguments of `crosstie up`. */
export function upArguments(dataDir: string): string[] {
  return [CROSSTIE, 'up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--providers', 'nop']
}

/** Resolves after the delay. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
