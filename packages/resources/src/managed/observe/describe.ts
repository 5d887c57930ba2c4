import { stringify } from '@crosstie/kube'
import type { Difference } from '../../definition/external.js'
import type { Redactor } from '../../status/redact.js'

const FIELDS_SHOWN = 10
const VALUE_SHOWN = 80

/** Differences in the words of conditions and events, secrets masked, not too many and not too long. */
export function describe(secrets: Redactor, differences: readonly Difference[]): string {
  const shown = differences.slice(0, FIELDS_SHOWN).map(({ path, desired, observed }) => {
    // Masked before it is cut: half a secret would not be recognised.
    const shortened = (value: unknown) => short(secrets.redact(value === undefined ? 'absent' : stringify(value)))
    return `${path}: wanted ${shortened(desired)}, is ${shortened(observed)}`
  })
  const more = differences.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

function short(text: string): string {
  return text.length > VALUE_SHOWN ? `${text.slice(0, VALUE_SHOWN)}…` : text
}

/** The fields that such words name. */
export function fieldsIn(message: string): readonly string[] {
  return [...message.matchAll(/(?:^|; )((?:(?!; ).)+?): wanted /g)].map(([, path]) => path!)
}
