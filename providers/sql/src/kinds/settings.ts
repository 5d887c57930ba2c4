import { s } from '@crosstie/resources/provider'
import { sameSetting, setting } from '../server/quote.js'

interface Parameter {
  readonly name: string
  readonly value: string
}

/** The field for configuration parameters of sessions, of a role or a database. */
export const configurationParameters = (doc: string) =>
  s.optional(
    s.list(s.object({ name: s.string({ doc: 'Such as search_path.' }), value: s.string() }), {
      doc: `${doc} Absent: left alone. Given: all of them, others are reset.`,
      keys: ['name'],
      lateInitialize: false,
      same: (desired, observed) =>
        sameParameters(desired as unknown as Parameter[], observed as unknown as Parameter[]),
    }),
  )

function sameParameters(desired: readonly Parameter[], observed: readonly Parameter[]): boolean {
  if (desired.length !== observed.length) return false
  return desired.every(({ name, value }) => {
    const held = observed.find((parameter) => parameter.name.toLowerCase() === name.toLowerCase())
    return held !== undefined && sameSetting(name, value, held.value)
  })
}

/** Parses the entries of the catalog: `name=value`. */
export function parametersIn(config: readonly string[] | null): Parameter[] {
  return (config ?? []).map((text) => {
    const at = text.indexOf('=')
    return { name: text.slice(0, at), value: text.slice(at + 1) }
  })
}

/** Returns the statements that set exactly these parameters. `whose` is `ROLE "x"` or `DATABASE "x"`. */
export function settingStatements(whose: string, parameters: readonly Parameter[] | undefined): string[] {
  if (!parameters) return []
  return [`ALTER ${whose} RESET ALL`, ...parameters.map(({ name, value }) => `ALTER ${whose} ${setting(name, value)}`)]
}
