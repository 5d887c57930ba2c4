import { type ParseArgsConfig, parseArgs } from 'node:util'
import { isNotFound, messageOf, parseLabelSelector } from '@crosstie/kube'
import { type Option, type OptionValues, textOf, UsageError } from '../options/options.js'
import { closest, didYouMean } from '../options/suggest.js'
import { adviceFor, isUnreachable } from './shared/advice.js'
import { Progress } from './shared/progress.js'
import { hasColours, type Paint, paintFor, safeForTerminal } from './shared/terminal.js'

export { countOf, type Option, type OptionValues, textOf, textsOf, UsageError } from '../options/options.js'

/** One thing that the command line can do. */
export interface Command {
  readonly name: string
  /** `crosstie up [--data-dir DIR]`: what stands behind `Usage:`. */
  readonly usage: string
  readonly summary: string
  /** What one sentence cannot tell. */
  readonly details?: string
  /** Command lines that people can take as they are, with what they do. */
  readonly examples?: readonly Example[]
  readonly options: Readonly<Record<string, Option>>
  /** What the exit codes mean here, where they mean more than in general. */
  readonly exits?: Readonly<Record<number, string>>
  /** How many words it takes at most, beside options; any number if it does not say. */
  readonly words?: number
  /** What its words are, for completion. */
  readonly completes?: 'kinds' | 'objects' | 'files' | 'commands' | readonly string[]
  run(input: Input): Promise<number>
}

export interface Example {
  readonly does: string
  readonly line: string
}

export interface Input {
  readonly values: OptionValues
  readonly words: readonly string[]
  /** The options that stand on the command line; the others have their defaults. */
  readonly given: ReadonlySet<string>
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  /** Lines for stdout. */
  readonly out: (line: string) => void
  /** Lines for stderr. */
  readonly err: (line: string) => void
  /** Colours, if stdout is a terminal. */
  readonly paint: Paint
  /** What is being waited for, if stderr is a terminal. */
  readonly progress: Progress
}

/** What was waited for did not come to be in the time that was given. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

export const EXIT_OK = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2
export const EXIT_NOT_FOUND = 3
export const EXIT_TIMEOUT = 4
export const EXIT_UNREACHABLE = 5
export const EXIT_CHANGES = 6
export const EXIT_INTERRUPTED = 130

/** What they mean in general; commands may say more. */
export const exitCodes: Readonly<Record<number, string>> = {
  [EXIT_OK]: 'done',
  [EXIT_FAILED]: 'failed, or what was looked at is not as it should be',
  [EXIT_USAGE]: 'the command line was not understood; nothing was done',
  [EXIT_NOT_FOUND]: 'the object is not there',
  [EXIT_TIMEOUT]: 'what was waited for did not happen in time',
  [EXIT_UNREACHABLE]: 'the server cannot be reached',
  [EXIT_CHANGES]: 'there is something to change: asked with plan or drift',
  [EXIT_INTERRUPTED]: 'interrupted',
}

/** Programs get data as it is, as from kubectl; people get it made safe for their terminal. */
const PROGRAM_FORMAT = /^(json|yaml|jsonpath|env|uri)\b/

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
    const paint = paintFor(hasColours(stdout))
    return await command.run({ values, words: positionals, given, signal, out, err, paint, progress })
  } catch (error) {
    progress.stop()
    if (signal.aborted) return EXIT_INTERRUPTED
    const { red } = paintFor(hasColours(stderr))
    err(`${red('error:')} crosstie ${command.name}: ${messageOf(error)}`)
    const advice = adviceFor(error)
    if (advice) err(advice)
    if (error instanceof UsageError) err(`Run 'crosstie ${command.name} --help' to see how it is used.`)
    return exitOf(error)
  } finally {
    progress.stop()
  }
}

/** What is not understood is not passed over: `up sql` is not `up --providers sql`. */
function checkWords({ words: most = Number.POSITIVE_INFINITY }: Command, words: readonly string[]): void {
  const extra = words[most]
  if (extra !== undefined) {
    throw new UsageError(`'${extra}' is more than it takes: ${most === 0 ? 'options only' : `one word at most`}`)
  }
}

/** Every command that has `-l` means the same by it. */
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

/** What Node says about an option, shorter and with what was meant. */
function complaint(message: string, { options }: Command): string {
  const unknown = /^Unknown option '(-+)([^']+)'/.exec(message)
  if (!unknown) return message
  const [, dashes, name = ''] = unknown
  const meant = dashes === '--' ? closest(name, Object.keys(options)) : undefined
  return `there is no option ${dashes}${name}.${didYouMean(`--${name}`, meant ? [`--${meant}`] : [])}`
}

/** `--flag=false` and `--flag=true`, as Go programs have it, beside `--no-flag` and `--flag`. */
function spelled(arg: string, options: ParseArgsConfig['options']): string {
  const [, name = '', value] = /^--([^=]+)=(true|false)$/.exec(arg) ?? []
  if (options?.[name]?.type !== 'boolean') return arg
  return value === 'true' ? `--${name}` : `--no-${name}`
}

const HELP_COLUMN = 32

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
