import { utf8Length } from './text.js'

/**
 * Validates a name by a rule that Kubernetes kinds share. Returns the messages of kube-apiserver; an empty list
 * means that the name is valid.
 */
export type NameCheck = (value: string) => string[]

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

// A request can contain 100,000 invalid names, so the texts of the rules are built once.
const labelRule = regexError(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  label,
  'my-name',
  '123-abc',
)
const subdomainRule = regexError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomain,
  'example.com',
)
const labelValueRule = regexError(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${qualified})?`,
  'MyValue',
  'my_value',
  '12345',
)
const configKeyRule = regexError(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
)
const qualifiedRule = regexError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualified,
  'MyName',
  'my.name',
  '123-abc',
)
const namePartRule = `name part ${qualifiedRule}`
const qualifiedNameRule = `a qualified name ${qualifiedRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`

const labelExpression = whole(label)
const subdomainExpression = whole(subdomain)
const label1035Expression = whole(label1035)
const qualifiedExpression = whole(qualified)
const labelValueExpression = whole(`(${qualified})?`)

/** Validates a DNS label: at most 63 lower-case letters, digits and inner dashes. */
export function isDNS1123Label(value: string): string[] {
  const errors = tooLong(value, 63)
  if (labelExpression.test(value)) return errors
  if (subdomainExpression.test(value)) return [...errors, 'must not contain dots']
  return [...errors, labelRule]
}

/** Validates a DNS subdomain: labels joined by dots, at most 253 characters. */
export function isDNS1123Subdomain(value: string): string[] {
  const errors = tooLong(value, 253)
  if (subdomainExpression.test(value)) return errors
  return [...errors, subdomainRule]
}

/** Validates a DNS label that starts with a letter. */
export function isDNS1035Label(value: string): string[] {
  const errors = tooLong(value, 63)
  if (label1035Expression.test(value)) return errors
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
  return [...errors, regexError(rule, label1035, 'my-name', 'abc-123')]
}

/** Validates a wildcard domain such as `*.example.com`. */
export function isWildcardDNS1123Subdomain(value: string): string[] {
  const errors = tooLong(value, 253)
  if (whole(`\\*\\.${subdomain}`).test(value)) return errors
  const rule =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
  return [...errors, regexError(rule, `\\*\\.${subdomain}`, '*.example.com')]
}

/** Validates a key of labels and annotations: `name` or `example.com/name`. */
export function isQualifiedName(value: string): string[] {
  const parts = value.split('/')
  if (parts.length > 2) {
    return [qualifiedNameRule]
  }
  const errors: string[] = []
  if (parts.length === 2) errors.push(...prefixErrors(parts[0]!))
  const name = parts.at(-1)!
  if (name === '') errors.push('name part must be non-empty')
  for (const error of tooLong(name, 63)) errors.push(`name part ${error}`)
  if (!qualifiedExpression.test(name)) errors.push(namePartRule)
  return errors
}

function prefixErrors(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return isDNS1123Subdomain(prefix).map((error) => `prefix part ${error}`)
}

/** Validates the value of a label. */
export function isValidLabelValue(value: string): string[] {
  const errors = tooLong(value, 63)
  if (labelValueExpression.test(value)) return errors
  return [...errors, labelValueRule]
}

/** Validates a name that is used as one segment of a URL path. */
export function isValidPathSegmentName(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return isValidPathSegmentPrefix(value)
}

/** Validates the prefix of a name that is used as one segment of a URL path. */
export function isValidPathSegmentPrefix(value: string): string[] {
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`)
}

/** Validates a key of a ConfigMap or a Secret. */
export function isConfigMapKey(value: string): string[] {
  const errors = tooLong(value, 253)
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    errors.push(configKeyRule)
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`)
  else if (value.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

/** Validates the name of a port: at most 15 characters with at least one letter. */
export function isValidPortName(value: string): string[] {
  const errors = tooLong(value, 15)
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (/^-|-$/.test(value)) errors.push('must not begin or end with a hyphen')
  return errors
}

/** The rule for the names of a kind. */
export type NameRule = 'dnsSubdomain' | 'dnsLabel' | 'pathSegment'

/** Validates a name, or the prefix of a generated name. */
export function nameErrors(name: string, rule: NameRule, prefix = false): string[] {
  if (rule === 'pathSegment') return prefix ? isValidPathSegmentPrefix(name) : isValidPathSegmentName(name)
  const checked = prefix ? maskTrailingDash(name) : name
  return rule === 'dnsLabel' ? isDNS1123Label(checked) : isDNS1123Subdomain(checked)
}

/** Replaces a trailing dash of a prefix, since more characters follow it. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}

function tooLong(value: string, max: number): string[] {
  // Every character takes at least one byte, so that most texts need not be counted.
  const long = value.length > max || (value.length * 3 > max && utf8Length(value) > max)
  return long ? [`must be no more than ${max} characters`] : []
}

function whole(expression: string): RegExp {
  return new RegExp(`^${expression}$`)
}

/** Returns the message for a text that does not match a rule. */
export function regexError(rule: string, expression: string, ...examples: string[]): string {
  if (examples.length === 0) return `${rule} (regex used for validation is '${expression}')`
  const such = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (e.g. ${such}regex used for validation is '${expression}')`
}
