import { printValue, quote } from './print.js'

export type FieldErrorType =
  | 'NotFound'
  | 'Required'
  | 'Duplicate'
  | 'Invalid'
  | 'NotSupported'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'TypeInvalid'
  | 'Internal'

/** One complaint about one field, in the words of k8s.io/apimachinery's field errors. */
export interface FieldError {
  readonly type: FieldErrorType
  /** `spec.versions[0].name`; map keys that are no identifiers are written `labels[a/b]`. */
  readonly field: string
  readonly value?: unknown
  readonly detail: string
  /** A CEL rule may choose the reason its failure is reported with. */
  readonly reason?: string
}

export const fieldErrors = {
  required: (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({ type: 'Invalid', field, value, detail }),
  forbidden: (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail }),
  duplicate: (field: string, value: unknown): FieldError => ({ type: 'Duplicate', field, value, detail: '' }),
  notFound: (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, value, detail: '' }),
  notSupported: (field: string, value: unknown, supported: readonly string[]): FieldError => ({
    type: 'NotSupported',
    field,
    value,
    detail: supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : '',
  }),
  tooLong: (field: string, _value: unknown, max: number): FieldError => ({
    type: 'TooLong',
    field,
    // The real server leaves the value out of what may be a megabyte of text.
    value: '<value omitted>',
    detail: `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
  }),
  tooMany: (field: string, actual: number, max: number): FieldError => ({
    type: 'TooMany',
    field,
    value: actual,
    detail: `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError => ({
    type: 'TypeInvalid',
    field,
    value,
    detail,
  }),
  internal: (field: string, detail: string): FieldError => ({ type: 'Internal', field, detail }),
}

const fieldErrorWords: Record<FieldErrorType, string> = {
  NotFound: 'Not found',
  Required: 'Required value',
  Duplicate: 'Duplicate value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
  Internal: 'Internal error',
}

/** `Invalid value: "x": must be …`: the complaint without the field. */
export function fieldErrorBody(error: FieldError): string {
  const word = fieldErrorWords[error.type]
  const bare = error.type === 'Required' || error.type === 'Forbidden' || error.type === 'TooLong'
  const omitsValue = bare || error.type === 'Internal'
  const head = omitsValue ? word : `${word}: ${printValue(error.value)}`
  return error.detail === '' ? head : `${head}: ${error.detail}`
}

export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`
}
