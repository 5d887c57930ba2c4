import { quote } from '@crosstie/kube'

/** No number of 64 bits has more. Longer texts are not even read: that would take time. */
const DIGITS_MAX = 20

/** Go's complaint about a text that is to be a whole number of 64 bits; undefined when it is one. */
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
