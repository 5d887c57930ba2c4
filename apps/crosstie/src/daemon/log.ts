import { createLog, type Level, type Log } from '@crosstie/controller'
import { systemClock } from '@crosstie/kube'
import { type Option, type OptionValues, UsageError } from '../options/options.js'

const levels: readonly string[] = ['debug', 'info', 'warn', 'error']

/** The options of the log. */
export const logOptions: Readonly<Record<string, Option>> = {
  'log-format': { type: 'string', value: 'FORMAT', help: 'text or json (default text on terminals, json elsewhere)' },
  'log-level': { type: 'string', value: 'LEVEL', help: levels.join(', '), default: 'info' },
}

/** Returns the log that the options define. Throws a usage error. */
export function logTo(write: (line: string) => void, values: OptionValues): Log {
  const format = String(values['log-format'] ?? (process.stderr.isTTY ? 'text' : 'json'))
  const level = String(values['log-level'])
  if (format !== 'text' && format !== 'json') throw new UsageError(`--log-format is text or json, not '${format}'`)
  if (!levels.includes(level)) throw new UsageError(`--log-level is one of ${levels.join(', ')}, not '${level}'`)
  return createLog({ format, level: level as Level, clock: systemClock, write })
}
