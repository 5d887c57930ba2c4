import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, program } from '../oracle/binaries.js'
import type { Case } from './case.js'
import { capture } from './children.js'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string
  readonly env?: Record<string, string>
  /** Reduces what was printed to what the case is about, before it is compared. */
  readonly pick?: (ran: Ran) => unknown
}

/** Runs a real client against the target of the case. */
export class Command {
  readonly #home = mkdtempSync(join(tmpdir(), 'crosstie-client-'))

  constructor(
    readonly t: Case,
    readonly name: Program,
  ) {
    t.cleanup(() => rmSync(this.#home, { recursive: true, force: true }))
  }

  /** Runs to set the scene: throws when the client fails. */
  async must(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const ran = await this.quiet(args, options)
    if (ran.code !== 0) throw new Error(`${this.name} ${args.join(' ')}: ${ran.stderr}${ran.stdout}`)
    return ran
  }

  async quiet(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.#home,
      KUBECONFIG: this.t.target.kubeconfig,
      KUBECACHEDIR: join(this.#home, 'cache'),
      ...options.env,
    }
    return capture(await program(this.name), args, { env, input: options.input, timeoutMs: 120_000, cwd: this.#home })
  }

  /** Runs; exit code and output are part of what is compared. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const ran = await this.quiet(args, options)
    const value = options.pick
      ? options.pick(ran)
      : { code: ran.code, stdout: lines(ran.stdout), stderr: lines(ran.stderr) }
    this.t.see(`${this.name} ${args.join(' ')}`, value)
    return ran
  }
}

/** Text as lines without what differs from run to run: ages and column widths. */
export const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .replace(/\b\d+(s|m|h|ms)\b(\d+s)?/g, 'AGE')
        .replace(/ {2,}/g, '  ')
        .trimEnd(),
    )
    .filter((line) => line !== '')
