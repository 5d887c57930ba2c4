import { stringify } from '@crosstie/kube'
import type { Difference } from '../../definition/external.js'
import type { Redactor } from '../../status/redact.js'

const FIELDS_SHOWN = 10
const VALUE_SHOWN = 80

/** Formats differences for conditions and events. Secrets are masked, and long lists and values are truncated. */
export function describe(secrets: Redactor, differences: readonly Difference[]): string {
  const shown = differences.slice(0, FIELDS_SHOWN).map(({ path, desired, observed }) => {
    // Mask before truncating, because a part of a secret would not be recognized.
    const shortened = (value: unknown) => short(secrets.redact(value === undefined ? 'absent' : stringify(value)))
    return `${path}: wanted ${shortened(desired)}, is ${shortened(observed)}`
  })
  const more = differences.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

function short(text: string): string {
  return text.length > VALUE_SHOWN ? `${text.slice(0, VALUE_SHOWN)}…` : text
}

/** Returns the field paths in a message that `describe` formatted. */
export function fieldsIn(message: string): readonly string[] {
  return [...message.matchAll(/(?:^|; )((?:(?!; ).)+?): wanted /g)].map(([, path]) => path!)
}
