import { existsSync, readFileSync } from 'node:fs'
import { decodeYaml } from '@crosstie/apiserver/yaml'
import { isObject, messageOf } from '@crosstie/kube'
import { didYouMean } from '../../options/suggest.js'
import { type Input, type Option, UsageError } from '../command.js'

/** The default configuration file. `--config` names another. */
export const CONFIG_FILE = 'crosstie.yaml'

/** Adds the options of a configuration file, whose keys are the names of options. The command line takes precedence. */
export function withConfig(
  { values, given }: Pick<Input, 'values' | 'given'>,
  options: Readonly<Record<string, Option>>,
): Input['values'] {
  const named = typeof values['config'] === 'string' ? values['config'] : undefined
  if (named !== undefined && !existsSync(named)) throw new UsageError(`there is no configuration ${named}`)
  const file = named ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  if (file === undefined) return values
  const merged: Record<string, Input['values'][string]> = { ...values }
  for (const [name, value] of Object.entries(read(file))) {
    const option = Object.hasOwn(options, name) && name !== 'config' ? options[name] : undefined
    if (!option) throw new UsageError(`${file}: there is no option '${name}'.${didYouMean(name, Object.keys(options))}`)
    if (!given.has(name)) merged[name] = checked(file, name, option, value)
  }
  return merged
}

function read(file: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    const decoded = decodeYaml(readFileSync(file, 'utf8'), { strict: true })
    if (decoded.strictErrors.length > 0) throw new Error(decoded.strictErrors.join('; '))
    value = decoded.value ?? {}
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`)
  }
  if (!isObject(value)) throw new UsageError(`${file}: it holds no options, such as providers: [sql]`)
  return value
}

/** Converts a value. Lists become values separated by commas. */
function checked(file: string, name: string, { type }: Option, value: unknown): string | boolean {
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value
    throw new UsageError(`${file}: ${name} is true or false, not '${value}'`)
  }
  if (Array.isArray(value)) return value.map(String).join(',')
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new UsageError(`${file}: ${name} is a text or a list of them`)
}
