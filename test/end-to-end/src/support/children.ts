import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A process that is still running this long after a stop signal is stuck. */
const STOP_MS = 120_000

/** A child process and its output. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  output = ''
  errors = ''
  #exited = false

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env, cwd?: string) {
    this.#process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...(cwd ? { cwd } : {}) })
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
    })
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
    this.#process.on('exit', () => {
      this.#exited = true
    })
  }

  get pid(): number {
    return this.#process.pid!
  }

  get exited(): boolean {
    return this.#exited
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  /** Waits until the errors or the output after `since` match. Returns undefined if the process exits before. */
  async says(words: RegExp, withinMs = 180_000, since = 0): Promise<RegExpExecArray | undefined> {
    const deadline = Date.now() + withinMs
    for (;;) {
      const found = words.exec(this.output.slice(since)) ?? words.exec(this.errors)
      if (found) return found
      if (this.#exited) return undefined
      if (Date.now() > deadline) throw new Error(`it never said ${words}: ${this.output}${this.errors}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#exited) return
    const gone = once(this.#process, 'exit')
    this.#process.kill(signal)
    const late = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS)
    const [, ended] = await gone
    clearTimeout(late)
    if (ended === 'SIGKILL' && signal !== 'SIGKILL') throw new Error(`it did not stop: ${this.output}${this.errors}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
