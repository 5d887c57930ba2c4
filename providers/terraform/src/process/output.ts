/** One log message of a provider. */
export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
}

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const
const TAIL_LINES = 200
const LINE_MAX = 8_192

/**
 * Reads what a provider writes to stderr: log lines in JSON, and a stack trace when it crashes. Keeps the last lines that
 * are not log lines.
 */
export class ProviderOutput {
  #rest = ''
  #tail: string[] = []

  constructor(private readonly log: (line: LogLine) => void) {}

  write(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop()!.slice(-LINE_MAX)
    for (const line of lines) this.#line(line.slice(0, LINE_MAX))
  }

  /** The stack trace of a crash, if there was one: from the first line of the panic on. */
  crash(): string | undefined {
    const lines = [...this.#tail, this.#rest].filter((line) => line !== '')
    const start = lines.findIndex((line) => /^(panic:|fatal error:|runtime:|SIG[A-Z]+:)/.test(line))
    return start < 0 ? undefined : lines.slice(start).join('\n')
  }

  /** The last words that are not log lines, for a process that never served. */
  tail(): string {
    return [...this.#tail, this.#rest]
      .filter((line) => line !== '')
      .join('\n')
      .slice(-2_000)
  }

  #line(line: string): void {
    const parsed = parseLogLine(line)
    if (parsed) {
      this.log(parsed)
      return
    }
    this.#tail.push(line)
    // The beginning of a stack trace matters most; what came before the panic does not.
    if (this.#tail.length > TAIL_LINES && this.crash() === undefined) this.#tail.shift()
    if (this.#tail.length > 2 * TAIL_LINES) this.#tail.length = 2 * TAIL_LINES
  }
}

function parseLogLine(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(line) as Record<string, unknown>
    const level = levels.find((name) => name === parsed['@level'])
    const message = parsed['@message']
    // Other fields may hold values of resources, secrets among them, so only the message is kept.
    return level && typeof message === 'string' ? { level, message } : undefined
  } catch {
    return undefined
  }
}
