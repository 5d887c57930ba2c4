/** One option of a command. */
export interface Option {
  readonly type: 'string' | 'boolean'
  /** The one-letter form: `o` for `-o`. */
  readonly short?: string
  /** Repeatable; read it with `textsOf`. */
  readonly multiple?: boolean
  /** The placeholder in the help text, such as `DIR`. */
  readonly value?: string
  readonly help: string
  readonly default?: string | boolean
}

/** Parsed options by name. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** The command line is invalid. The message says why and which input is valid. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const COUNT_MAX = 86_400

/** Returns the value of a text option, or undefined when it is absent. */
export function textOf(values: OptionValues, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns all values of a repeatable option. */
export function textsOf(values: OptionValues, name: string): readonly string[] {
  const value = values[name]
  return Array.isArray(value) ? value : []
}

/** Returns the value of an integer option, or `preset` when it is absent. Throws `UsageError` outside 1 to 86,400. */
export function countOf(values: OptionValues, name: string, preset = Number.NaN): number {
  const number = values[name] === undefined ? preset : Number(values[name])
  if (Number.isInteger(number) && number >= 1 && number <= COUNT_MAX) return number
  throw new UsageError(`--${name} takes a whole number from 1, not '${values[name]}'`)
}
