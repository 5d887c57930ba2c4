import { type ParseArgsConfig, parseArgs } from 'node:util'
import { isNotFound, messageOf, parseLabelSelector } from '@crosstie/kube'
import { type Option, type OptionValues, textOf, UsageError } from '../options/options.js'
import { closest, didYouMean } from '../options/suggest.js'
import { adviceFor, isUnreachable } from './shared/advice.js'
import { Progress } from './shared/progress.js'
import { hasColors, type Paint, paintFor, safeForTerminal } from './shared/terminal.js'

export { countOf, type Option, type OptionValues, textOf, textsOf, UsageError } from '../options/options.js'

/** A command of the command line. */
export interface Command {
  readonly name: string
  /** The usage line after `Usage:`, such as `crosstie up [--data-dir DIR]`. */
  readonly usage: string
  readonly summary: string
  /** More text below the summary. */
  readonly details?: string
  /** Command lines with descriptions. */
  readonly examples?: readonly Example[]
  readonly options: Readonly<Record<string, Option>>
  /** Exit codes with a special meaning for this command. */
  readonly exits?: Readonly<Record<number, string>>
  /** The maximum number of positional arguments. Absent: not limited. */
  readonly words?: number
  /** The kind of positional arguments, for completion. */
  readonly completes?: 'kinds' | 'objects' | 'files' | 'commands' | readonly string[]
  run(input: Input): Promise<number>
}

/** A command line with a description. */
export interface Example {
  readonly does: string
  readonly line: string
}

/** The parsed command line and the environment of a command. */
export interface Input {
  readonly values: OptionValues
  readonly words: readonly string[]
  /** The options that were set on the command line. The others have their defaults. */
  readonly given: ReadonlySet<string>
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  /** Prints a line to stdout. */
  readonly out: (line: string) => void
  /** Prints a line to stderr. */
  readonly err: (line: string) => void
  /** Colors, if stdout is a terminal. */
  readonly paint: Paint
  /** Shows progress, if stderr is a terminal. */
  readonly progress: Progress
}

/** A condition was not met within the timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** The command succeeded. */
export const EXIT_OK = 0
/** The command failed. */
export const EXIT_FAILED = 1
/** The command line is not valid. */
export const EXIT_USAGE = 2
/** The object does not exist. */
export const EXIT_NOT_FOUND = 3
/** The timeout expired. */
export const EXIT_TIMEOUT = 4
/** The server cannot be reached. */
export const EXIT_UNREACHABLE = 5
/** A plan or drift has changes. */
export const EXIT_CHANGES = 6
/** The command was interrupted. */
export const EXIT_INTERRUPTED = 130

/** The general meaning of exit codes. */
export const exitCodes: Readonly<Record<number, string>> = {
  [EXIT_OK]: 'done',
  [EXIT_FAILED]: 'failed, or the checked condition does not hold',
  [EXIT_USAGE]: 'the command line is not valid; nothing was done',
  [EXIT_NOT_FOUND]: 'the object does not exist',
  [EXIT_TIMEOUT]: 'the condition was not met within the timeout',
  [EXIT_UNREACHABLE]: 'the server cannot be reached',
  [EXIT_CHANGES]: 'plan or drift found changes',
  [EXIT_INTERRUPTED]: 'interrupted',
}

/** Formats for programs, which print data unchanged. Output for people is escaped for terminals. */
const PROGRAM_FORMAT = /^(json|yaml|jsonpath|env|uri)\b/

/** Parses the arguments and runs a command. Returns the exit code and does not throw. */
export async function runCommand(command: Command, args: readonly string[], signal: AbortSignal): Promise<number> {
  const { stdout, stderr } = process
  const progress = new Progress(stderr, stderr.isTTY === true && process.env['TERM'] !== 'dumb')
  let forPrograms = false
  const line = (sink: NodeJS.WriteStream) => (text: string) => {
    progress.hide()
    sink.write(`${forPrograms && sink === stdout ? text : safeForTerminal(text)}\n`)
  }
  const out = line(stdout)
  const err = line(stderr)
  try {
    const { values, positionals, given } = parse(command, args)
    if (values['help']) {
      out(helpFor(command))
      return EXIT_OK
    }
    forPrograms = PROGRAM_FORMAT.test(textOf(values, 'output') ?? '')
    checkWords(command, positionals)
    checkSelector(values)
    const paint = paintFor(hasColors(stdout))
    return await command.run({ values, words: positionals, given, signal, out, err, paint, progress })
  } catch (error) {
    progress.stop()
    if (signal.aborted) return EXIT_INTERRUPTED
    const { red } = paintFor(hasColors(stderr))
    err(`${red('error:')} crosstie ${command.name}: ${messageOf(error)}`)
    const advice = adviceFor(error)
    if (advice) err(advice)
    if (error instanceof UsageError) err(`Run 'crosstie ${command.name} --help' for usage.`)
    return exitOf(error)
  } finally {
    progress.stop()
  }
}

/** Rejects surplus arguments: `up sql` is not `up --providers sql`. */
function checkWords({ words: most = Number.POSITIVE_INFINITY }: Command, words: readonly string[]): void {
  const extra = words[most]
  if (extra !== undefined) {
    throw new UsageError(`'${extra}' is more than it takes: ${most === 0 ? 'options only' : `one word at most`}`)
  }
}

/** Validates `-l`, which has the same meaning in every command. */
function checkSelector(values: OptionValues): void {
  const selector = textOf(values, 'selector')
  if (selector === undefined) return
  try {
    parseLabelSelector(selector)
  } catch (error) {
    throw new UsageError(`-l takes labels such as app=shop,tier!=web, not '${selector}': ${messageOf(error)}`)
  }
}

function exitOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_USAGE
  if (error instanceof TimeoutError) return EXIT_TIMEOUT
  if (isUnreachable(error)) return EXIT_UNREACHABLE
  return isNotFound(error) ? EXIT_NOT_FOUND : EXIT_FAILED
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
    const { values, positionals, tokens } = parseArgs({
      args: given,
      options,
      allowPositionals: true,
      allowNegative: true,
      strict: true,
      tokens: true,
    })
    const names = tokens.flatMap((token) => (token.kind === 'option' ? token.name.replace(/^no-/, '') : []))
    return { values: values as OptionValues, positionals, given: new Set(names) }
  } catch (error) {
    throw new UsageError(complaint(messageOf(error), command))
  }
}

/** Shortens Node's message about an option and adds a suggestion. */
function complaint(message: string, { options }: Command): string {
  const unknown = /^Unknown option '(-+)([^']+)'/.exec(message)
  if (!unknown) return message
  const [, dashes, name = ''] = unknown
  const meant = dashes === '--' ? closest(name, Object.keys(options)) : undefined
  return `unknown option ${dashes}${name}.${didYouMean(`--${name}`, meant ? [`--${meant}`] : [])}`
}

/** Accepts `--flag=false` and `--flag=true`, as Go programs do, besides `--no-flag` and `--flag`. */
function spelled(arg: string, options: ParseArgsConfig['options']): string {
  const [, name = '', value] = /^--([^=]+)=(true|false)$/.exec(arg) ?? []
  if (options?.[name]?.type !== 'boolean') return arg
  return value === 'true' ? `--${name}` : `--no-${name}`
}

const HELP_COLUMN = 32

/** Returns the text of `--help`. */
export function helpFor({ usage, summary, details, examples = [], options, exits }: Command): string {
  const section = (title: string, lines: readonly string[]) => (lines.length > 0 ? ['', title, ...lines] : [])
  return [
    `Usage: ${usage}`,
    '',
    summary,
    ...(details ? ['', details] : []),
    ...section(
      'Examples:',
      examples.flatMap(({ does, line }) => [`  # ${does}`, `  ${line}`]),
    ),
    ...section('Options:', Object.entries(options).map(optionLine)),
    ...section(
      'Exit codes:',
      Object.entries(exits ?? {}).map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`),
    ),
  ].join('\n')
}

function optionLine([name, { short, value, help, default: preset }]: readonly [string, Option]): string {
  const spelling = preset === true ? `--[no-]${name}` : `--${name}`
  const left = `  ${short ? `-${short}, ` : '    '}${spelling}${value ? ` ${value}` : ''}`
  const suffix = typeof preset === 'string' && preset !== '' ? ` (default ${preset})` : ''
  const gap = left.length < HELP_COLUMN ? ' '.repeat(HELP_COLUMN - left.length) : `\n${' '.repeat(HELP_COLUMN)}`
  return `${left}${gap} ${help}${suffix}`
}
