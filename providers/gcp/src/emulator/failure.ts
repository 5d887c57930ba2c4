import type { Item } from './values.js'

/** The error of a request, in the form of the service that answers it. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly status: number,
    message: string,
    readonly reason: string,
  ) {
    super(message)
  }
}

const canonical: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
}

/** Older services list errors with reasons, newer ones state a canonical code, and some do both. */
const forms: Readonly<Record<string, { readonly errors: boolean; readonly status: boolean }>> = {
  compute: { errors: true, status: false },
  sqladmin: { errors: true, status: false },
  storage: { errors: true, status: false },
  container: { errors: true, status: true },
  iam: { errors: true, status: true },
}

export function errorBody(service: string, { status: code, message, reason }: Failure): Item {
  const { errors, status } = forms[service] ?? { errors: false, status: true }
  const known = /^[A-Z_]+$/.test(reason) ? reason : (canonical[code] ?? 'UNKNOWN')
  return {
    error: {
      code,
      ...(errors ? { errors: [{ domain: 'global', message, reason: reasonText(reason, code) }] } : {}),
      message,
      ...(status ? { status: known } : {}),
    },
  }
}

const reasons: Readonly<Record<number, string>> = { 404: 'notFound', 409: 'alreadyExists' }

const reasonText = (reason: string, code: number): string =>
  /^[A-Z_]+$/.test(reason) ? (reasons[code] ?? (code === 400 ? 'badRequest' : reason)) : reason
