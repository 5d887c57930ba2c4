import { utf8Length } from '../text.js'
import { isCIDR, isIPv4, isIPv6, isMAC } from './address.js'
import { isEmail } from './email.js'
import { isDate, isDateTime, isDuration } from './time.js'
import { isRequestURI } from './uri.js'

/** Reports whether a text has the format. */
export type FormatCheck = (text: string) => boolean

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u
const rgb = String.raw`[\t\n\f\r ]*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*`

/**
 * The formats that kube-apiserver validates, by name without dashes. All other formats are documentation. A 1.34
 * server validates only the formats of the previous release: k8s-short-name and k8s-long-name follow one release
 * later.
 */
const checks: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', pattern(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestURI],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', isCIDR],
  ['mac', isMAC],
  ['uuid', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isISBN10(text) || isISBN13(text)],
  ['isbn10', isISBN10],
  ['isbn13', isISBN13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', pattern(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', pattern(new RegExp(`^rgb\\(${rgb},${rgb},${rgb}\\)$`))],
  ['byte', pattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
])

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const shortName = new RegExp(`^${label}$`)
const longName = new RegExp(`^${label}(?:\\.${label})*$`)

/** Formats that are validated in the defaults of a schema, but not yet in objects. */
const upcoming: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['k8sshortname', (text) => text.length <= 63 && shortName.test(text)],
  ['k8slongname', (text) => text.length <= 253 && longName.test(text)],
])

/** Like {@link formatCheck}, including the formats of the next release. */
export function upcomingFormatCheck(format: string): FormatCheck | undefined {
  return formatCheck(format) ?? upcoming.get(format.replaceAll('-', ''))
}

/** Returns the check of a format, or undefined if the format is not validated. Dashes in the name are ignored. */
export function formatCheck(format: string): FormatCheck | undefined {
  return format === '' ? undefined : checks.get(format.replaceAll('-', ''))
}

function pattern(expression: RegExp): FormatCheck {
  return (text) => expression.test(text)
}

function isHostname(text: string): boolean {
  return utf8Length(text) <= 255 && hostname.test(text) && text.split('.').every((label) => utf8Length(label) <= 63)
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  const issuers =
    /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/
  if (!issuers.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighted = i % 2 === 1 ? digit * 2 : digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

function isISBN10(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isISBN13(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return Number(digits[12]) === (10 - (sum % 10)) % 10
}
