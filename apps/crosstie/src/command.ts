import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from '@crosstie/kube'

/** One thing that the command line can do. */
export interface Command {
  readonly name: string
  /** `crosstie up [--data-dir DIR]`: what stands behind `Usage:`. */
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  run(input: Input): Promise<number>
}

export interface Option {
  readonly type: 'string' | 'boolean'
  /** A letter for it: `o` for `-o`. */
  readonly short?: string
  /** It may be given several times: read it with `textsOf`. */
  readonly multiple?: boolean
  /** What the value is, such as `DIR`. */
  readonly value?: string
  readonly help: string
  readonly default?: string | boolean
}

export interface Input {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  readonly words: readonly string[]
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/** What was typed cannot be understood; the message says why and what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const EXIT_OK = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

/** The value of an option that takes a text, if it was given. */
export function textOf(values: Input['values'], name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** All values of an option that may be given several times. */
export function textsOf(values: Input['values'], name: string): readonly string[] {
  const value = values[name]
  return Array.isArray(value) ? value : []
}

export async function runCommand(command: Command, args: readonly string[], signal: AbortSignal): Promise<number> {
  const err = (line: string) => process.stderr.write(`${line}\n`)
  const out = (line: string) => process.stdout.write(`${line}\n`)
  try {
    const { values, positionals } = parse(command, args)
    if (values['help']) {
      out(helpFor(command))
      return EXIT_OK
    }
    return await command.run({ values, words: positionals, signal, out, err })
  } catch (error) {
    err(`crosstie ${command.name}: ${messageOf(error)}`)
    if (!(error instanceof UsageError)) return EXIT_FAILED
    err(`Run 'crosstie ${command.name} --help' to see how it is used.`)
    return EXIT_USAGE
  }
}

function parse(command: Command, args: readonly string[]) {
  const options: ParseArgsConfig['options'] = { help: { type: 'boolean', short: 'h' } }
  for (const [name, { type, short, multiple, default: value }] of Object.entries(command.options)) {
    options[name] = {
      type,
      ...(short ? { short } : {}),
      ...(multiple ? { multiple } : {}),
      ...(value === undefined ? {} : { default: value }),
    }
  }
  try {
    const given = args.map((arg) => spelled(arg, options))
    const { values, positionals } = parseArgs({
      args: given,
      options,
      allowPositionals: true,
      allowNegative: true,
      strict: true,
    })
    return { values: values as Input['values'], positionals }
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** `--flag=false` and `--flag=true`, as Go programs have it, beside `--no-flag` and `--flag`. */
function spelled(arg: string, options: ParseArgsConfig['options']): string {
  const [, name = '', value] = /^--([^=]+)=(true|false)$/.exec(arg) ?? []
  if (options?.[name]?.type !== 'boolean') return arg
  return value === 'true' ? `--${name}` : `--no-${name}`
}

export function helpFor({ usage, summary, options }: Command): string {
  const rows = Object.entries(options).map(([name, { short, value, help, default: preset }]) => {
    const left = `  ${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`
    const suffix = preset === undefined || preset === false || preset === '' ? '' : ` (default ${preset})`
    return `${left.padEnd(30)} ${help}${suffix}`
  })
  return [`Usage: ${usage}`, '', summary, ...(rows.length > 0 ? ['', 'Options:', ...rows] : [])].join('\n')
}
