import { type FieldError, fieldErrorBody } from '@crosstie/cel/kubernetes'

export {
  type FieldError,
  type FieldErrorType,
  fieldErrorBody,
  fieldErrors,
  fieldErrorText,
} from '@crosstie/cel/kubernetes'

/** Names the attempted step. Its `cause` is the reason of the failure. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError'
}

/** Runs one step. If it throws, throws an AttemptError that names the step, with the error as its cause. */
export async function attempt<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    throw new AttemptError(`cannot ${what}: ${messageOf(cause)}`, { cause })
  }
}

/** The reason of a Status, as k8s.io/apimachinery defines it. */
export type Reason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Expired'
  | 'Invalid'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'ServerTimeout'
  | 'StorageReadError'
  | ''

/** One cause of a Status. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The details of a Status. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** The metav1.Status that answers a failed request. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: Readonly<Record<string, unknown>>
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

/** The failure of a Kubernetes request. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly code: number
  readonly reason: Reason
  readonly details: StatusDetails | undefined
  /** The list metadata of the response, such as a new continue token. Most failures do not have it. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: number,
    reason: Reason,
    message: string,
    options?: ErrorOptions & { details?: StatusDetails; metadata?: Readonly<Record<string, unknown>> },
  ) {
    super(message, options)
    this.code = code
    this.reason = reason
    this.details = options?.details
    this.metadata = options?.metadata
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata ?? {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    }
  }
}

/**
 * Finds an error of a class in the chain of causes. Classes are compared by name too, since a separately installed
 * provider has its own copy of them.
 */
export function findInChain<E>(error: unknown, kind: abstract new (...args: never) => E): E | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof kind || e.name === kind.name) return e as E
  }
  return undefined
}

/** Reports whether an error, or one of its causes, is a StatusError with the reason. */
export function hasReason(error: unknown, reason: Reason): boolean {
  return findInChain(error, StatusError)?.reason === reason
}

/** Reports whether a request failed with reason Conflict. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict')
/** Reports whether a request failed with reason NotFound. */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound')
/** Reports whether a request failed with reason Forbidden. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden')
/** Reports whether a request failed with reason AlreadyExists. */
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists')
/** Reports whether a request failed because its resource version is too old. */
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired') || hasReason(error, 'Gone')

/** Returns a handler for `.catch` that resolves to undefined for expected errors and rethrows every other. */
export function ignoring(...expected: readonly ((error: unknown) => boolean)[]): (error: unknown) => undefined {
  return (error) => {
    if (!expected.some((is) => is(error))) throw error
    return undefined
  }
}

/** Returns the message of an error, or the text of any other thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface Named {
  readonly group: string
  readonly resource: string
}

function qualified({ group, resource }: Named): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** Returns a StatusError with code 400. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

/** Returns a StatusError with code 404. */
export function notFound(type: Named, name: string): StatusError {
  const details = { name, ...(type.group ? { group: type.group } : {}), kind: type.resource }
  return new StatusError(404, 'NotFound', `${qualified(type)} "${name}" not found`, { details })
}

/** Returns a StatusError with code 409 and reason AlreadyExists. */
export function alreadyExists(type: Named, name: string): StatusError {
  const details = { name, ...(type.group ? { group: type.group } : {}), kind: type.resource }
  return new StatusError(409, 'AlreadyExists', `${qualified(type)} "${name}" already exists`, { details })
}

/** Returns a StatusError with code 409 and reason Conflict. */
export function conflict(type: Named, name: string, why: string): StatusError {
  const details = { name, ...(type.group ? { group: type.group } : {}), kind: type.resource }
  const message = `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`
  return new StatusError(409, 'Conflict', message, { details })
}

/** Returns a StatusError with code 403. */
export function forbidden(type: Named, name: string, why: string): StatusError {
  const details = { ...(name ? { name } : {}), ...(type.group ? { group: type.group } : {}), kind: type.resource }
  const message = name
    ? `${qualified(type)} "${name}" is forbidden: ${why}`
    : type.resource
      ? `${qualified(type)} is forbidden: ${why}`
      : `forbidden: ${why}`
  return new StatusError(403, 'Forbidden', message, { details })
}

const LISTED_ERRORS_MAX = 1_000
const LISTED_LETTERS_MAX = 1 << 20

/**
 * Returns a StatusError with code 422 that lists the field errors, worded as kube-apiserver words them. One request
 * can cause 100,000 errors, so the response lists the first thousand, or the first megabyte, and counts the rest.
 */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const causes: StatusCause[] = []
  const texts = new Set<string>()
  let letters = 0
  for (const error of errors) {
    if (causes.length >= LISTED_ERRORS_MAX || letters > LISTED_LETTERS_MAX) break
    const message = fieldErrorBody(error)
    letters += message.length
    causes.push({ reason: error.reason ?? `FieldValue${error.type}`, message, field: error.field })
    texts.add(`${error.field}: ${message}`)
  }
  if (causes.length < errors.length) texts.add(`and ${errors.length - causes.length} more errors`)
  const list = texts.size === 1 ? [...texts][0] : `[${[...texts].join(', ')}]`
  const qualifiedKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  const details = {
    ...(name ? { name } : {}),
    ...(kind.group ? { group: kind.group } : {}),
    ...(kind.kind ? { kind: kind.kind } : {}),
    causes,
  }
  return new StatusError(422, 'Invalid', `${qualifiedKind} "${name}" is invalid: ${list}`, { details })
}
