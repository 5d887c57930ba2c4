import { isObject } from '@crosstie/kube'
import { ThrottledError, UncertainError } from '@crosstie/resources/provider'

/**
 * The kind of failure, so that code does not compare words:
 *
 * - `notFound`, `exists`: a resource of this name does not exist, or exists already.
 * - `denied`, `credentials`: not permitted, or the credentials are not valid.
 * - `quota`: a limit of the project. `busy`: another operation runs, or another resource uses it.
 * - `unreachable`: no response. `invalid`: everything else that Google refuses.
 */
export type Trouble = 'notFound' | 'exists' | 'denied' | 'credentials' | 'quota' | 'busy' | 'unreachable' | 'invalid'

/** Google refused a request, or could not be reached. The message says what was attempted and the next step. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError'

  constructor(
    message: string,
    readonly trouble: Trouble,
    /** The reason as Google names it: `notFound`, `RESOURCE_EXHAUSTED`. */
    readonly code: string,
  ) {
    super(message)
  }
}

export function troubleOf(error: unknown): Trouble | undefined {
  return error instanceof GoogleError ? error.trouble : undefined
}

export const isNotFound = (error: unknown): boolean => troubleOf(error) === 'notFound'

/** The result of a call, or undefined when there is no such resource. */
export async function unlessNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

export interface FailedResponse {
  /** The permission that the call needs, which is also its name in messages: `compute.networks.get`. */
  readonly permission: string
  /** The resource or the collection that was called. */
  readonly target: string
  readonly isRead: boolean
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
}

interface Refusal {
  readonly reason: string
  readonly message: string
}

const MESSAGE_MAX = 400
const throttling = /^(rateLimitExceeded|userRateLimitExceeded|RATE_LIMIT_EXCEEDED|quotaRateExceeded)$/
const busy =
  /operationInProgress|resourceNotReady|resourceInUse|incompatible operation|being used by|in use by|another operation|is not ready|currently (creating|deleting|updating)|not empty/i
const quota = /quota|limitExceeded/i

/** The error of a response with a failure status. Holds nothing of the request body. */
export function failureOf(response: FailedResponse): Error {
  const { permission, target, status, isRead } = response
  const { reason, message } = refusalOf(response.body, status)
  const at = `${permission} on ${target}`
  if (status === 429 || throttling.test(reason)) {
    const seconds = Number(response.retryAfter)
    return new ThrottledError(
      `${at}: Google asks to slow down (${reason}): ${message}. The request is retried later, at a lower rate`,
      seconds > 0 ? { retryAfterSeconds: seconds } : {},
    )
  }
  if (status >= 500) {
    const text = `${at}: Google answered ${status} (${reason}): ${message}. The request is retried`
    return isRead ? new GoogleError(text, 'unreachable', reason) : new UncertainError(text)
  }
  const trouble = troubleFor(status, reason, message)
  return new GoogleError(`${at}: ${explain(trouble, reason, message, permission)}`, trouble, reason)
}

/** The error of an operation that ended without success. */
export function operationFailure(permission: string, target: string, reason: string, message: string): GoogleError {
  const trouble = troubleFor(400, reason, message)
  return new GoogleError(
    `${permission} on ${target}: the operation failed: ${explain(trouble, reason, shortened(message), permission)}`,
    trouble,
    reason,
  )
}

function troubleFor(status: number, reason: string, message: string): Trouble {
  if (status === 404 || reason === 'NOT_FOUND') return 'notFound'
  if (status === 401) return 'credentials'
  if (status === 409 && /exist/i.test(`${reason} ${message}`)) return 'exists'
  if (quota.test(reason) || /^Quota /.test(message)) return 'quota'
  if (status === 409 || busy.test(reason) || busy.test(message)) return 'busy'
  return status === 403 ? 'denied' : 'invalid'
}

function explain(trouble: Trouble, reason: string, message: string, permission: string): string {
  const said = `(${reason}): ${message.replace(/\.$/, '')}`
  switch (trouble) {
    case 'denied':
      return `Google denies it ${said}. Grant ${permission} to the credentials of the ProviderConfig, and enable the API in the project; the page of the kind lists all permissions`
    case 'credentials':
      return `Google does not accept the credentials ${said}. Write valid credentials to the source that the ProviderConfig names`
    case 'quota':
      return `a quota of the project is used up ${said}. Delete resources that are not needed, or request a higher quota`
    case 'busy':
      return `the resource is in use ${said}. The request is retried until the other operation or resource is gone`
    default:
      return `Google refuses it ${said}`
  }
}

/** Both forms of error bodies: `{error: {errors: [{reason}], message}}` and `{error: {status, message}}`. */
function refusalOf(body: string, status: number): Refusal {
  const error = errorIn(body)
  const [first] = Array.isArray(error['errors']) ? error['errors'] : []
  const reason = isObject(first) ? first['reason'] : undefined
  const known = [reason, error['status']].find((each): each is string => typeof each === 'string')
  const message = typeof error['message'] === 'string' ? error['message'] : body.replace(/<[^>]*>/g, ' ')
  return { reason: known ?? String(status), message: shortened(message) }
}

function errorIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body)
    const error = isObject(parsed) ? parsed['error'] : undefined
    return isObject(error) ? error : {}
  } catch {
    return {}
  }
}

function shortened(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim()
  return text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)}…` : text
}
