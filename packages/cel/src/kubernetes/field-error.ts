import { printValue, quote } from './print.js'

/** The type of a field error, as k8s.io/apimachinery defines it. */
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

/** An error about one field, worded as the field errors of k8s.io/apimachinery. */
export interface FieldError {
  readonly type: FieldErrorType
  /** The path, such as `spec.versions[0].name`. Map keys that are not identifiers are written as `labels[a/b]`. */
  readonly field: string
  readonly value?: unknown
  readonly detail: string
  /** The reason that a CEL rule states for its failure. */
  readonly reason?: string
}

/** Creates field errors. Each function words the message as k8s.io/apimachinery does. */
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
    // kube-apiserver omits the value, which may be a megabyte of text.
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

/** Returns the message without the field, such as `Invalid value: "x": must be …`. */
export function fieldErrorBody(error: FieldError): string {
  const word = fieldErrorWords[error.type]
  const bare = error.type === 'Required' || error.type === 'Forbidden' || error.type === 'TooLong'
  const omitsValue = bare || error.type === 'Internal'
  const head = omitsValue ? word : `${word}: ${printValue(error.value)}`
  return error.detail === '' ? head : `${head}: ${error.detail}`
}

/** Returns the message with the field, such as `spec.a: Required value`. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`
}
