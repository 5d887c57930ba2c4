import { type FieldError, fieldErrors, isObject, labelValueErrors, qualifiedNameErrors } from '@crosstie/kube'

/** The rules that names inside of objects follow. Each says what is wrong with a text; empty when nothing is. */
type Rule = (text: string) => string[]

const tooLong = (max: number): string => `must be no more than ${max} characters`

function rule(pattern: RegExp, max: number, words: string): Rule {
  return (text) => [...(Buffer.byteLength(text) > max ? [tooLong(max)] : []), ...(pattern.test(text) ? [] : [words])]
}

export const dnsSubdomainErrors = rule(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  253,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
)

export const dns1035LabelErrors = rule(
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  63,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
)

const configKeyWords = rule(
  /^[-._a-zA-Z0-9]+$/,
  253,
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
)

/** Keys of secrets and config maps become file names. */
export function configKeyErrors(key: string): string[] {
  const errors = configKeyWords(key)
  if (key === '.' || key === '..') errors.push(`must not be '${key}'`)
  else if (key.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

export function pathSegmentErrors(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`)
}

/** `example.org/name`, or a name alone. */
export function qualifiedName(name: string, field: string): FieldError[] {
  return qualifiedNameErrors(name).map((message) => fieldErrors.invalid(field, name, message))
}

/** A metav1.LabelSelector; undefined is fine. */
export function labelSelectorErrors(selector: unknown, field: string, allowInvalidValues = false): FieldError[] {
  if (!isObject(selector)) return []
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries((selector['matchLabels'] ?? {}) as Record<string, string>)) {
    errors.push(...qualifiedName(key, `${field}.matchLabels`))
    for (const message of labelValueErrors(value)) {
      errors.push(fieldErrors.invalid(`${field}.matchLabels`, value, message))
    }
  }
  const expressions = (selector['matchExpressions'] ?? []) as readonly Requirement[]
  expressions.forEach((expression, i) => {
    errors.push(...requirementErrors(expression, `${field}.matchExpressions[${i}]`, { allowInvalidValues }))
  })
  return errors
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export function requirementErrors(
  { key, operator, values = [] }: Requirement,
  field: string,
  options: { readonly allowInvalidValues?: boolean; readonly allowUnknownOperator?: boolean } = {},
): FieldError[] {
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(fieldErrors.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
      errors.push(fieldErrors.forbidden(`${field}.values`, words))
    }
  } else if (!options.allowUnknownOperator) {
    errors.push(fieldErrors.invalid(`${field}.operator`, operator, 'not a valid selector operator'))
  }
  errors.push(...qualifiedName(key, `${field}.key`))
  if (!options.allowInvalidValues) {
    values.forEach((value, i) => {
      for (const message of labelValueErrors(value)) {
        errors.push(fieldErrors.invalid(`${field}.values[${i}]`, value, message))
      }
    })
  }
  return errors
}

/** Does the selector hold a value that no label can have? Objects from older servers may. */
export function hasInvalidLabelValue(selector: unknown): boolean {
  if (!isObject(selector)) return false
  const expressions = (selector['matchExpressions'] ?? []) as readonly Requirement[]
  return expressions.some(({ values = [] }) => values.some((value) => labelValueErrors(value).length > 0))
}
