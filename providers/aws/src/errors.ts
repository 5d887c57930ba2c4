import { ThrottledError, UncertainError } from '@crosstie/resources/provider'
import { type AwsCall, actionOf, isRead } from './actions.js'

/**
 * The category of an error, so that code does not parse messages:
 *
 * - `notFound`, `exists`: the resource does not exist, or exists already.
 * - `denied`, `credentials`: AWS denied the action, or rejected the credentials.
 * - `quota`: a quota of the account is exhausted.
 * - `inUse`, `protected`: the resource cannot be deleted yet.
 * - `unsupported`: the region or the emulator lacks the feature.
 * - `unreachable`: AWS did not respond.
 * - `invalid`: any other rejection.
 */
export type Trouble =
  | 'notFound'
  | 'exists'
  | 'denied'
  | 'credentials'
  | 'quota'
  | 'inUse'
  | 'protected'
  | 'unsupported'
  | 'unreachable'
  | 'invalid'

/** AWS rejected a call or was unreachable. The message states the attempted action and the next step. */
export class AwsError extends Error {
  override readonly name = 'AwsError'

  constructor(
    message: string,
    readonly trouble: Trouble,
    /** The error code of AWS: `InvalidVpcID.NotFound`. */
    readonly code: string,
  ) {
    super(message)
  }
}

/** Returns the category of an error of AWS, or undefined for other errors. */
export function troubleOf(error: unknown): Trouble | undefined {
  return error instanceof AwsError ? error.trouble : undefined
}

/** Reports whether the error means that the resource does not exist. */
export const isNotFound = (error: unknown): boolean => troubleOf(error) === 'notFound'

/** Returns the result of a call, or undefined if the resource does not exist. */
export const unlessNotFound = <T>(call: Promise<T>) => unless(call, 'notFound')

/** Returns the result of a call, or undefined if it fails with one of these categories. */
export async function unless<T>(call: Promise<T>, ...troubles: readonly Trouble[]): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    const trouble = troubleOf(error)
    if (trouble && troubles.includes(trouble)) return undefined
    throw error
  }
}

interface SdkError extends Error {
  readonly Code?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

const throttling =
  /^(EC2)?(Throttl|RequestThrottl|TooManyRequests|RequestLimitExceeded|BandwidthLimitExceeded|SlowDown|PriorRequestNotComplete|ProvisionedThroughputExceeded)/

/** Error codes and their categories. The first match wins. */
const troubles: readonly (readonly [RegExp, Trouble])[] = [
  [/^(AuthFailure|InvalidClientTokenId|UnrecognizedClient|InvalidAccessKeyId|SignatureDoesNotMatch)/, 'credentials'],
  [/^(InvalidSignature|IncompleteSignature|MissingAuthenticationToken|InvalidToken|TokenRefresh)/, 'credentials'],
  [/^(ExpiredToken|RequestExpired|RequestTimeTooSkewed|CredentialsProviderError|TokenProviderError)/, 'credentials'],
  [/^(AccessDenied|UnauthorizedOperation|AuthorizationError|UnauthorizedAccess|Forbidden|403$)/, 'denied'],
  [/(NotFound(Fault|Exception|Error)?|NoSuch\w+|\.NotFound|^404)$/, 'notFound'],
  [/(AlreadyExists|AlreadyOwnedByYou|\.Duplicate$|EntityAlreadyExists)/, 'exists'],
  [/(LimitExceeded|QuotaExceeded|TooMany[A-Z]|InsufficientInstanceCapacity)/, 'quota'],
  [/^(DependencyViolation|DeleteConflict|BucketNotEmpty|ResourceInUse|.+\.InUse|ScalingActivityInProgress)/, 'inUse'],
  [/^OperationNotPermitted/, 'protected'],
  [/^(X?NotImplemented|MethodNotAllowed|UnsupportedArgument|UnsupportedOperation|OptInRequired)/, 'unsupported'],
]

// Services report this only in the message, without a dedicated error code.
const protection = /deletion ?protection|protected against deletion|termination protection/i

const unreachableCodes = new Set(['ENOTFOUND', 'ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
const lostNames = new Set(['TimeoutError', 'RequestTimeout', 'RequestTimeoutException'])
const lostCodes = new Set(['ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ECONNABORTED'])

/**
 * Converts the error of one attempt into one that users and the reconciler can act on. It contains nothing of the
 * request.
 */
export function translate(raw: unknown, call: AwsCall): unknown {
  if (!(raw instanceof Error) || raw.name === 'AbortError' || raw.name === 'ConfigError') return raw
  const error = raw as SdkError
  const code = codeOf(error)
  const status = error.$metadata?.httpStatusCode
  const at = `${actionOf(call)} in ${call.region}`
  if (throttling.test(code) || status === 429) {
    const after = Number(error.$response?.headers?.['retry-after'])
    const message = `${at}: AWS asks to slow down (${code}); it is tried again later, at a lower pace`
    return new ThrottledError(message, after > 0 ? { retryAfterSeconds: after } : {})
  }
  const words = wordsOf(error)
  if (unreachableCodes.has(error.code ?? '')) {
    const next = 'Check the region, spec.endpoint of the ProviderConfig and the network'
    return new AwsError(`${at}: AWS cannot be reached: ${words}. ${next}`, 'unreachable', error.code!)
  }
  if (isLost(error)) {
    const message = `${at}: the answer was lost: ${words} (${code})`
    return isRead(call) ? new AwsError(message, 'unreachable', code) : new UncertainError(message)
  }
  const elsewhere = error.$response?.headers?.['x-amz-bucket-region']
  if (status === MOVED && elsewhere) {
    return new AwsError(`${at}: the bucket is in ${elsewhere}. Set spec.forProvider.region to it`, 'invalid', code)
  }
  const trouble = protection.test(words) ? 'protected' : troubleFor(code, status)
  return new AwsError(`${at}: ${explain(trouble, code, words, call)}`, trouble, code)
}

const NOT_IMPLEMENTED = 501
const MOVED = 301

/** Reports whether an error is transient and leaves open whether the call took effect. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { $metadata, code = '', name } = error as SdkError
  const status = $metadata?.httpStatusCode ?? 0
  return lostCodes.has(code) || lostNames.has(name) || (status >= 500 && status !== NOT_IMPLEMENTED)
}

function codeOf(error: SdkError): string {
  const named = error.name && error.name !== 'Error' && error.name !== 'Unknown' && error.name !== 'UnknownError'
  return (named ? error.name : undefined) ?? error.Code ?? error.code ?? String(error.$metadata?.httpStatusCode ?? '')
}

function troubleFor(code: string, status: number | undefined): Trouble {
  const known = troubles.find(([pattern]) => pattern.test(code))?.[1]
  return known ?? (status === 403 ? 'denied' : status === 404 ? 'notFound' : 'invalid')
}

const WORDS_MAX = 400

/** Returns the message of AWS without encoded parts and without the request, which some services repeat. */
function wordsOf({ message }: Error): string {
  const text = message
    .replace(/\s*Encoded authorization failure message:.*/s, '')
    .replace(/\s*The Canonical String for this request.*/s, '')
    .replace(/\s+/g, ' ')
    .trim()
  const short = text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}…` : text
  return short.replace(/\.$/, '')
}

function explain(trouble: Trouble, code: string, words: string, call: AwsCall): string {
  const action = actionOf(call)
  switch (trouble) {
    case 'denied':
      return `AWS denies it (${code}): ${words}. Allow ${action} to the credentials of the ProviderConfig; the page of the kind lists all that it needs`
    case 'credentials':
      return `AWS does not accept the credentials (${code}): ${credentialsAdvice(code, words)}`
    case 'quota':
      return `the account may have no more (${code}): ${words}. Delete what is not needed, or ask for a higher limit in Service Quotas`
    case 'inUse':
      return `it is still in use (${code}): ${words}. Delete what depends on it first; it is tried again until then`
    case 'protected':
      return `it is protected against deletion (${code}): ${words}. Turn deletion protection off first, or remove Delete from managementPolicies to keep it`
    default:
      return `${words} (${code})`
  }
}

function credentialsAdvice(code: string, words: string): string {
  if (/^(ExpiredToken|RequestExpired|TokenRefresh)/.test(code)) {
    return 'they have expired. Write new ones to where the ProviderConfig takes them from'
  }
  if (/^RequestTimeTooSkewed/.test(code)) return 'the clock of this machine is wrong. Set it right'
  if (/^CredentialsProviderError|^TokenProviderError/.test(code)) {
    return `none were found: ${words}. Give the ProviderConfig credentials, or set AWS_ACCESS_KEY_ID or AWS_PROFILE`
  }
  return 'the access key is unknown or its secret does not fit, or the region is not enabled for the account. Check what the ProviderConfig leads to'
}
