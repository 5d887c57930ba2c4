import { quote } from '@crosstie/kube'

/** A 64-bit number has no more digits. Longer texts are not parsed. */
const DIGITS_MAX = 20

/** Returns Go's error for a text that is not a 64-bit integer. Undefined when it is one. */
export function integerFault(text: string, how: 'ParseInt' | 'ParseUint'): string | undefined {
  const signed = how === 'ParseInt'
  const complaint = (why: string) => `strconv.${how}: parsing ${quote(text)}: ${why}`
  if (!(signed ? /^[+-]?\d+$/ : /^\d+$/).test(text)) return complaint('invalid syntax')
  const digits = text.replace(/^[+-]/, '').replace(/^0+/, '')
  if (digits.length > DIGITS_MAX) return complaint('value out of range')
  const value = BigInt(text.startsWith('-') ? `-${digits || 0}` : digits)
  const fits = (signed ? BigInt.asIntN : BigInt.asUintN)(64, value) === value
  return fits ? undefined : complaint('value out of range')
}
