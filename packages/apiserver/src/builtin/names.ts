import { append, type FieldError, fieldErrors, isObject, isQualifiedName, isValidLabelValue } from '@crosstie/kube'

export {
  isConfigMapKey as configKeyErrors,
  isDNS1035Label as dns1035LabelErrors,
  isDNS1123Subdomain as dnsSubdomainErrors,
  isValidPathSegmentName as pathSegmentErrors,
} from '@crosstie/kube'

/** Validates a qualified name: `example.org/name` or `name`. */
export function qualifiedName(name: string, field: string): FieldError[] {
  return isQualifiedName(name).map((message) => fieldErrors.invalid(field, name, message))
}

/** Validates a metav1.LabelSelector. Undefined is valid. */
export function labelSelectorErrors(selector: unknown, field: string, allowInvalidValues = false): FieldError[] {
  if (!isObject(selector)) return []
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries((selector['matchLabels'] ?? {}) as Record<string, string>)) {
    append(errors, qualifiedName(key, `${field}.matchLabels`))
    for (const message of isValidLabelValue(value)) {
      errors.push(fieldErrors.invalid(`${field}.matchLabels`, value, message))
    }
  }
  const expressions = (selector['matchExpressions'] ?? []) as readonly Requirement[]
  expressions.forEach((expression, i) => {
    append(errors, requirementErrors(expression, `${field}.matchExpressions[${i}]`, { allowInvalidValues }))
  })
  return errors
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Validates the requirements of a selector. */
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
  append(errors, qualifiedName(key, `${field}.key`))
  if (!options.allowInvalidValues) {
    values.forEach((value, i) => {
      for (const message of isValidLabelValue(value)) {
        errors.push(fieldErrors.invalid(`${field}.values[${i}]`, value, message))
      }
    })
  }
  return errors
}

/** Whether the selector has a value that is not a valid label value. Objects of older servers may. */
export function hasInvalidLabelValue(selector: unknown): boolean {
  if (!isObject(selector)) return false
  const expressions = (selector['matchExpressions'] ?? []) as readonly Requirement[]
  return expressions.some(({ values = [] }) => values.some((value) => isValidLabelValue(value).length > 0))
}
